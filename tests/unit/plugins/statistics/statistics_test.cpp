// Proves: what is stored and pulled is counted by topic and group, told by 315 in RocketMQ's form and forgotten with its topic.
// How: the plugin with the real tables of topics, groups and offsets and a store in memory; pulls are noted by hand.
// Left to others: windows (windows_test), that pulls are noted (the pull plugin's tests).
#include "../PickyStore.h"
#include "../Recorded.h"

#include "ClientsPlugin.h"
#include "OffsetsPlugin.h"
#include "StatisticsPlugin.h"
#include "TopicsPlugin.h"
#include "Traffic.h"

#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <array>
#include <future>

namespace patchbay::plugins::statistics {
namespace {

using protocol::RequestCode;
using protocol::ResponseCode;
using std::chrono::seconds;

class StatisticsTest : public ::testing::Test {
protected:
    void SetUp() override {
        context_.brokerIdentity().storeRoot = dir_.path();
        context_.brokerIdentity().clusterName = "C";
        context_.provide<service::MessageStore>(picky_);
        runner_.add<topics::TopicsPlugin>();
        runner_.add<clients::ClientsPlugin>();
        runner_.add<consumer_offsets::OffsetsPlugin>();
        runner_.add<StatisticsPlugin>();
        const auto started = runner_.start();
        ASSERT_TRUE(started) << started.message();
        protocol::TopicConfig config;
        config.topicName = "T";
        config.readQueueNums = config.writeQueueNums = 4;
        ASSERT_TRUE(recorded::provided<service::TopicConfigs>(context_).put(config));
        protocol::SubscriptionGroupConfig group;
        group.groupName = "G";
        ASSERT_TRUE(recorded::provided<service::SubscriptionGroups>(context_).put(group));
    }
    void append(const std::string& topic, int count) {
        for (int i = 0; i < count; ++i) {
            testkit::TestMessage message;
            message.topic = topic;
            ASSERT_TRUE(service::isStored(testkit::appendOne(store_, message).status));
        }
    }
    service::ConsumerOffsets& offsets() { return recorded::provided<service::ConsumerOffsets>(context_); }
    void pulled(std::int32_t queue, std::int64_t messages) {
        service::PullNote note;
        note.nextOffset = messages;
        note.delivered = messages;
        note.outcome = service::PullOutcome::Delivered;
        offsets().notePull("G", "T", queue, note);
        offsets().commit("c", "G", "T", queue, messages);
    }
    testkit::CallResult ask(std::string_view name, std::string_view key) {
        return context_.call(RequestCode::ViewBrokerStatsData,
                             testkit::Fields{{"statsName", std::string(name)}, {"statsKey", std::string(key)}});
    }
    std::int64_t minuteSum(std::string_view name, std::string_view key) {
        const auto found = recorded::provided<service::TrafficStats>(context_).find(name, key);
        return found ? found->minute.sum : -1;
    }

    testkit::TempDir dir_;
    testkit::FakeContext context_;
    PickyStore picky_{context_.clock()};
    testkit::MemoryStore& store_ = picky_.below;
    testkit::PluginRunner runner_{context_};
};

TEST_F(StatisticsTest, AnAppendDoesNotWaitForASample) {
    append("T", 1);
    std::future<void> sent;
    auto answered = std::future_status::deferred;
    picky_.beforeStats = [&] {
        if (sent.valid()) return;
        sent = std::async(std::launch::async, [&] { append("New", 1); });
        answered = sent.wait_for(seconds(10));
    };
    context_.advance(seconds(10));
    ASSERT_TRUE(sent.valid());
    EXPECT_EQ(answered, std::future_status::ready);
    picky_.beforeStats = nullptr;
    sent.get();
}

TEST_F(StatisticsTest, WhatIsStoredIsCountedByTopic) {
    append("T", 12);
    EXPECT_EQ(minuteSum("TOPIC_PUT_NUMS", "T"), 0) << "not sampled yet";
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("TOPIC_PUT_NUMS", "T"), 12);
    EXPECT_GT(minuteSum("TOPIC_PUT_SIZE", "T"), 12 * 90);
    EXPECT_EQ(minuteSum("BROKER_PUT_NUMS", "C"), 12);
    EXPECT_EQ(ask("TOPIC_PUT_NUMS", "T").body(),
              R"({"statsDay":{"avgpt":0.0,"sum":0,"tps":0.0},"statsHour":{"avgpt":0.0,"sum":0,"tps":0.0},)"
              R"("statsMinute":{"avgpt":1.0,"sum":12,"tps":1.2}})");
    context_.advance(seconds(120));
    EXPECT_EQ(minuteSum("TOPIC_PUT_NUMS", "T"), 0);
}

TEST_F(StatisticsTest, AMessageInSeveralQueuesIsCountedOnceForItsTopic) {
    auto& listener = static_cast<service::AppendListener&>(
        dynamic_cast<Traffic&>(recorded::provided<service::TrafficStats>(context_)));
    service::AppendedRecord record{};
    record.topic = "T";
    record.recordBytes = 100;
    service::AppendedRecord again = record;
    again.topic = "%LMQ%a";
    service::AppendedRecord next = record;
    next.physicalOffset = 100;
    const std::array records{record, again, next};
    listener.appended(records);
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("TOPIC_PUT_NUMS", "T"), 2);
    EXPECT_EQ(minuteSum("TOPIC_PUT_SIZE", "T"), 200);
    EXPECT_EQ(minuteSum("BROKER_PUT_NUMS", "C"), 2);
    EXPECT_EQ(minuteSum("TOPIC_PUT_NUMS", "%LMQ%a"), -1);
}

TEST_F(StatisticsTest, WhatIsPulledIsCountedByTopicAndGroup) {
    append("T", 3);
    service::ReadResult read;
    store_.read("T", 0, 0, {}, nullptr, read);
    pulled(0, 3);
    pulled(1, 4);
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("GROUP_GET_NUMS", "T@G"), 7);
    EXPECT_EQ(minuteSum("BROKER_GET_NUMS", "C"), 3);
    pulled(0, 2);
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("GROUP_GET_NUMS", "T@G"), 9);
    context_.advance(seconds(90));
    EXPECT_EQ(minuteSum("GROUP_GET_NUMS", "T@G"), 0);
}

TEST_F(StatisticsTest, WhatIsNotMeasuredIsNotThere) {
    append("T", 1);
    context_.advance(seconds(10));
    for (const auto& [name, key] : {std::pair{"NOPE", "T"}, {"TOPIC_PUT_LATENCY", "0@T"}, {"TOPIC_PUT_NUMS", "U"},
                                    {"GROUP_GET_NUMS", "T@G"}, {"BROKER_PUT_NUMS", "Other"}, {"", ""}}) {
        const auto answer = ask(name, key);
        EXPECT_EQ(answer.code(), ResponseCode::SystemError);
        EXPECT_EQ(answer.remark(), "The stats <" + std::string(name) + "> <" + key + "> not exist");
    }
}

TEST_F(StatisticsTest, CountsOfDeletedTopicsAndGroupsAreForgotten) {
    append("T", 1);
    pulled(0, 1);
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("GROUP_GET_NUMS", "T@G"), 1);
    ASSERT_TRUE(recorded::provided<service::SubscriptionGroups>(context_).remove("G"));
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("GROUP_GET_NUMS", "T@G"), -1);
    EXPECT_EQ(minuteSum("TOPIC_PUT_NUMS", "T"), 1);
    ASSERT_TRUE(recorded::provided<service::TopicConfigs>(context_).remove("T"));
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("TOPIC_PUT_NUMS", "T"), -1);
}

}  // namespace
}  // namespace patchbay::plugins::statistics
