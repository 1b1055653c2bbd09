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

#include "patchbay/protocol/message/Names.h"
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
        runner_.add<StatisticsPlugin>({{"enableDetailStat", "true"}});
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
        note.bytes = messages * 100;
        note.readUs = 5'000;
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

TEST_F(StatisticsTest, WhatIsStoredIsCountedByQueueAndSize) {
    append("T", 3);
    testkit::TestBatch batch;
    batch.add({.topic = "T", .queueId = 2, .body = std::string(5'000, 'b')});
    batch.add({.topic = "T", .queueId = 2});
    batch.add({.topic = "T", .queueId = 0});
    batch.appendTo(store_);
    ASSERT_TRUE(batch.wait());
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("QUEUE_PUT_NUMS", "T@0"), 4);
    EXPECT_EQ(minuteSum("QUEUE_PUT_NUMS", "T@2"), 2);
    EXPECT_EQ(minuteSum("QUEUE_PUT_NUMS", "T@1"), -1) << "no traffic";
    EXPECT_GT(minuteSum("QUEUE_PUT_SIZE", "T@2"), 5'000);
    EXPECT_EQ(minuteSum("TOPIC_PUT_SIZE", "T"), minuteSum("QUEUE_PUT_SIZE", "T@0") + minuteSum("QUEUE_PUT_SIZE", "T@2"));
    const auto topics = recorded::provided<service::TrafficStats>(context_).topics();
    ASSERT_EQ(topics.size(), 1U);
    EXPECT_EQ(topics[0].messages, 6);
    EXPECT_EQ(topics[0].sizes[0], 5);
    EXPECT_EQ(topics[0].sizes[2], 1) << "more than 4096 bytes";
}

TEST_F(StatisticsTest, TheTimeUntilReadersSeeAMessageIsCounted) {
    store_.setManual(true);
    testkit::TestBatch batch;
    batch.add({.topic = "T"});
    batch.add({.topic = "T"});
    batch.appendTo(store_);
    context_.manualClock().advance(std::chrono::milliseconds(40));
    store_.complete();
    ASSERT_TRUE(batch.wait());
    context_.advance(seconds(10));
    const auto found = recorded::provided<service::TrafficStats>(context_).find("TOPIC_PUT_LATENCY", "0@T");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->minute.sum, 80);
    EXPECT_EQ(found->minute.avgpt, 40);
}

TEST_F(StatisticsTest, SystemTopicsAreLeftOutWhereTheNameSaysSo) {
    append("T", 2);
    append(std::string(protocol::kTopicSchedule), 5);
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("BROKER_PUT_NUMS", "C"), 7);
    EXPECT_EQ(minuteSum("BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC", "C"), 2);
    pulled(0, 3);
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC", "C"), 3);
}

TEST_F(StatisticsTest, BytesAndTimesOfPullsAreCountedByGroupAndQueue) {
    pulled(0, 3);
    pulled(1, 4);
    pulled(1, 4);
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("GROUP_GET_SIZE", "T@G"), 1'100);
    EXPECT_EQ(minuteSum("QUEUE_GET_NUMS", "T@1@G"), 8);
    EXPECT_EQ(minuteSum("QUEUE_GET_SIZE", "T@1@G"), 800);
    EXPECT_EQ(minuteSum("GROUP_GET_LATENCY", "1@T@G"), 10);
    EXPECT_EQ(minuteSum("GROUP_GET_LATENCY", "T@G"), -1) << "with details the key has a queue, as in RocketMQ";
    const auto found = recorded::provided<service::TrafficStats>(context_).find("GROUP_GET_LATENCY", "1@T@G");
    EXPECT_EQ(found->minute.avgpt, 5) << "of a pull";
}

TEST_F(StatisticsTest, WhatOthersTellIsCountedUntilItsGroupGoes) {
    auto& traffic = recorded::provided<service::TrafficStats>(context_);
    traffic.count("SNDBCK_PUT_NUMS", "T@G", 1);
    traffic.count("SNDBCK_PUT_NUMS", "T@G", 1);
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("SNDBCK_PUT_NUMS", "T@G"), 2);
    ASSERT_EQ(traffic.counted().size(), 1U);
    EXPECT_EQ(traffic.counted()[0].sum, 2);
    ASSERT_TRUE(recorded::provided<service::SubscriptionGroups>(context_).remove("G"));
    context_.advance(seconds(10));
    EXPECT_TRUE(traffic.counted().empty());
}

TEST_F(StatisticsTest, WhatIsToldOfTopicsThatAreNotThereIsForgotten) {
    auto& traffic = recorded::provided<service::TrafficStats>(context_);
    for (const char* key : {"Invented@G", "T@x@G", "none"}) traffic.count("SNDBCK_PUT_NUMS", key, 1);
    EXPECT_EQ(traffic.counted().size(), 3U);
    context_.advance(seconds(10));
    EXPECT_TRUE(traffic.counted().empty());
}

TEST_F(StatisticsTest, WithoutDetailsQueuesAreNotCounted) {
    Traffic traffic(context_.clock(), "C", false);
    service::AppendedRecord record{};
    record.topic = "T";
    record.queueId = 3;
    record.recordBytes = 100;
    const std::array records{record};
    traffic.appended(records);
    EXPECT_FALSE(traffic.find("QUEUE_PUT_NUMS", "T@3"));
    EXPECT_TRUE(traffic.find("TOPIC_PUT_NUMS", "T"));
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
    for (const auto& [name, key] : {std::pair{"NOPE", "T"}, {"TOPIC_PUT_LATENCY", "1@T"}, {"TOPIC_PUT_NUMS", "U"},
                                    {"QUEUE_PUT_NUMS", "T"}, {"QUEUE_PUT_NUMS", "T@x"}, {"QUEUE_PUT_SIZE", "T@7"}, {"QUEUE_GET_NUMS", "T@0@G"},
                                    {"GROUP_GET_LATENCY", "T@G"}, {"GROUP_ACK_NUMS", "T@G"}, {"SNDBCK_PUT_NUMS", "T@G"},
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
