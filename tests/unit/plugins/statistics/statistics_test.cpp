// Proves: what is stored, pulled and sent back is counted by topic and group, told by 315 in RocketMQ's form and forgotten with its topic.
// How: the plugin with the real tables of topics and groups and a store in memory; answers are shown to its interceptor by hand.
// Left to others: windows (windows_test), that the kernel shows it every answer (interop's statsAll).
#include "../Recorded.h"

#include "StatisticsPlugin.h"
#include "TopicsPlugin.h"

#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

namespace patchbay::plugins::statistics {
namespace {

using protocol::RequestCode;
using protocol::ResponseCode;
using std::chrono::seconds;

/// A request that is about to be answered; nothing else of it is used.
class Answered final : public plugin::RequestCore {
public:
    Answered(RequestCode code, const testkit::Fields& fields) {
        auto request = protocol::RemotingCommand::request(code);
        request.fields = fields;
        frame_ = *request.encode(protocol::SerializeType::Json);
        PATCHBAY_ASSERT(protocol::CommandView::decode(std::span(frame_).subspan(4), command).isOk());
    }
    void answer(plugin::Response&) noexcept override {}
    void abandon() noexcept override {}
    void redispatch() noexcept override {}
    void defer() noexcept override {}
    void detach() noexcept override {}

private:
    std::string frame_;
};

class StatisticsTest : public ::testing::Test {
protected:
    void SetUp() override {
        context_.brokerIdentity().storeRoot = dir_.path();
        context_.brokerIdentity().clusterName = "C";
        context_.provide<service::MessageStore>(store_);
        runner_.add<topics::TopicsPlugin>();
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
    void show(RequestCode code, const testkit::Fields& fields, plugin::Response& response) {
        Answered request(code, fields);
        for (const auto& added : context_.addedInterceptors()) {
            ASSERT_EQ(added.phase, plugin::Phase::Responding);
            added.interceptor->intercept({added.phase, request, &response});
        }
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
    testkit::MemoryStore store_{context_.clock()};
    testkit::PluginRunner runner_{context_};
};

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

TEST_F(StatisticsTest, WhatIsPulledIsCountedByTopicAndGroup) {
    append("T", 3);
    service::ReadResult read;
    store_.read("T", 0, 0, {}, nullptr, read);
    plugin::Response response(ResponseCode::Success);
    response.body = read.pieces;
    show(RequestCode::PullMessage, {{"consumerGroup", "G"}, {"topic", "T"}}, response);
    plugin::Response nothing(ResponseCode::PullNotFound);
    show(RequestCode::PullMessage, {{"consumerGroup", "G"}, {"topic", "T"}}, nothing);
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("GROUP_GET_NUMS", "T@G"), 3);
    EXPECT_EQ(minuteSum("GROUP_GET_SIZE", "T@G"), read.bytes);
    EXPECT_EQ(minuteSum("BROKER_GET_NUMS", "C"), 3);
}

TEST_F(StatisticsTest, WhatIsSentBackIsCounted) {
    plugin::Response response(ResponseCode::Success);
    show(RequestCode::ConsumerSendMsgBack, {{"group", "G"}, {"originTopic", "T"}}, response);
    plugin::Response refused(ResponseCode::SystemError);
    show(RequestCode::ConsumerSendMsgBack, {{"group", "G"}, {"originTopic", "T"}}, refused);
    show(RequestCode::ConsumerSendMsgBack, {}, response);
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("SNDBCK_PUT_NUMS", "T@G"), 1);
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
    plugin::Response response(ResponseCode::Success);
    show(RequestCode::ConsumerSendMsgBack, {{"group", "G"}, {"originTopic", "T"}}, response);
    context_.advance(seconds(10));
    ASSERT_TRUE(recorded::provided<service::SubscriptionGroups>(context_).remove("G"));
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("SNDBCK_PUT_NUMS", "T@G"), -1);
    EXPECT_EQ(minuteSum("TOPIC_PUT_NUMS", "T"), 1);
    ASSERT_TRUE(recorded::provided<service::TopicConfigs>(context_).remove("T"));
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("TOPIC_PUT_NUMS", "T"), -1);
}

TEST_F(StatisticsTest, NamesThatNoBrokerCreatesAreNotKept) {
    plugin::Response response(ResponseCode::Success);
    show(RequestCode::ConsumerSendMsgBack, {{"group", std::string(600, 'g')}, {"originTopic", "T"}}, response);
    context_.advance(seconds(10));
    EXPECT_EQ(minuteSum("SNDBCK_PUT_NUMS", "T@" + std::string(600, 'g')), -1);
}

}  // namespace
}  // namespace patchbay::plugins::statistics
