// Proves: a reply reaches the client that asked, the replier is told how that went, and the reply is stored if wanted.
// How: the plugin with the real topics and clients plugins over the store in memory; clients are connections without sockets.
// Left to others: the wait for an answer on a real connection (net and integration tests), clients (interop).
#include "ClientsPlugin.h"
#include "ReplyPlugin.h"
#include "TopicsPlugin.h"

#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/FaultyFiles.h"
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"
#include "unit/plugins/Recorded.h"

#include <gtest/gtest.h>

namespace patchbay::plugins::reply {
namespace {

using protocol::RequestCode;
using protocol::ResponseCode;
using testkit::CallResult;

class ReplyTest : public ::testing::Test {
protected:
    void begin(testkit::Settings settings = {}, const std::string& cluster = "DefaultCluster") {
        context_.brokerIdentity().storeRoot = dir_.path();
        context_.brokerIdentity().clusterName = cluster;
        context_.provide<service::MessageStore>(store_);
        runner_.add<topics::TopicsPlugin>();
        runner_.add<clients::ClientsPlugin>();
        runner_.add<ReplyPlugin>(std::move(settings));
        const Status started = runner_.start();
        ASSERT_TRUE(started) << started.message();
        topic_ = protocol::replyTopic(cluster);
    }
    Ref<testkit::FakePeer> client(const std::string& id) {
        auto peer = context_.peer("127.0.0.1:50077");
        testkit::CallOptions options;
        options.peer = peer;
        auto beat = context_.call(RequestCode::HeartBeat, testkit::Fields{},
                                  R"({"clientID":")" + id + R"(","consumerDataSet":[],"producerDataSet":[{"groupName":"Asker"}]})", options);
        EXPECT_EQ(beat.code(), ResponseCode::Success);
        return peer;
    }
    CallResult reply(std::string_view properties, std::string_view body = "answer", std::int32_t queue = 0) {
        protocol::SendMessageRequest header;
        header.producerGroup = "Replier";
        header.topic = topic_;
        header.defaultTopic = "TBW102";
        header.defaultTopicQueueNums = 4;
        header.queueId = queue;
        header.sysFlag = 0x301;
        header.flag = 5;
        header.bornTimestamp = 1'700'000'000'123;
        header.properties = properties;
        return context_.call(RequestCode::SendReplyMessageV2, header, body);
    }
    static protocol::RemotingCommand code(ResponseCode code) { return protocol::RemotingCommand::response(code, 1); }
    std::vector<testkit::StoredMessage> stored() { return testkit::readAll(store_, topic_, 0); }

    testkit::TempDir dir_;
    testkit::FaultyFiles files_{systemFiles()};
    testkit::FakeContext context_{files_};
    testkit::MemoryStore store_{context_.clock()};
    testkit::PluginRunner runner_{context_};
    std::string topic_;
};

constexpr std::string_view kProperties = "MSG_TYPE\1reply\2CORRELATION_ID\1c-1\2REPLY_TO_CLIENT\1asker@1\2TTL\0013000\2";

TEST_F(ReplyTest, TheClientThatAskedGetsTheReply) {
    begin();
    auto peer = client("asker@1");
    auto result = reply(kProperties);
    EXPECT_FALSE(result.answered()) << "the client's answer decides";
    const auto invocations = peer->invocations();
    ASSERT_EQ(invocations.size(), 1U);
    const auto& push = invocations[0].command;
    EXPECT_EQ(invocations[0].timeout, std::chrono::seconds(10));
    EXPECT_EQ(push.code, static_cast<std::int32_t>(RequestCode::PushReplyMessageToClient));
    EXPECT_EQ(push.body, "answer");
    EXPECT_EQ(push.find("producerGroup"), "Replier");
    EXPECT_EQ(push.find("topic"), topic_);
    EXPECT_EQ(push.find("defaultTopic"), "TBW102");
    EXPECT_EQ(push.find("defaultTopicQueueNums"), "4");
    EXPECT_EQ(push.find("queueId"), "0");
    EXPECT_EQ(push.find("sysFlag"), "769");
    EXPECT_EQ(push.find("flag"), "5");
    EXPECT_EQ(push.find("bornTimestamp"), "1700000000123");
    EXPECT_EQ(push.find("reconsumeTimes"), "0");
    EXPECT_EQ(push.find("unitMode"), "false");
    EXPECT_EQ(push.find("bornHost"), "127.0.0.1:50001");
    EXPECT_EQ(push.find("storeHost"), context_.identity().storeHost.toString());
    const std::string now = std::to_string(context_.clock().wallMs());
    EXPECT_EQ(push.find("storeTimestamp"), now);
    const auto properties = push.find("properties").value_or("");
    EXPECT_EQ(protocol::findProperty(properties, "CORRELATION_ID"), "c-1");
    EXPECT_EQ(protocol::findProperty(properties, "PUSH_REPLY_TIME"), now);
    EXPECT_EQ(protocol::findProperty(properties, "TRACE_ON"), "true");

    peer->answer(0, code(ResponseCode::Success));
    ASSERT_TRUE(result.answered());
    EXPECT_EQ(result.code(), ResponseCode::Success);
    EXPECT_EQ(result.remark(), "");
}

TEST_F(ReplyTest, ATopicThatTheDiskHasNoRoomForIsNotSaidToBeUnknown) {
    begin();
    files_.failWrites({StatusCode::Full, "cannot write the-journal: No space left on device"});
    topic_ = "Fresh";
    auto result = reply(kProperties);
    EXPECT_EQ(result.code(), ResponseCode::ServiceNotAvailable);
    EXPECT_EQ(result.remark(), "topic[Fresh] cannot be created: cannot write the-journal: No space left on device");
}

TEST_F(ReplyTest, TheReplyIsStoredWithoutTheTimeOfThePush) {
    begin();
    auto peer = client("asker@1");
    auto result = reply(kProperties);
    peer->answer(0, code(ResponseCode::Success));
    const auto messages = stored();
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(messages[0].body, "answer");
    EXPECT_EQ(protocol::findProperty(messages[0].properties, "PUSH_REPLY_TIME"), "");
    EXPECT_EQ(protocol::findProperty(messages[0].properties, "MSG_REGION"), context_.identity().regionId);
    EXPECT_EQ(protocol::MessageId::parse(result.field("msgId"))->physicalOffset, messages[0].physicalOffset);
    EXPECT_EQ(result.field("queueOffset"), "0");
}

TEST_F(ReplyTest, WithoutStoringTheAnswerNamesNoPlace) {
    begin({{"storeReplyMessageEnable", "false"}});
    auto peer = client("asker@1");
    auto result = reply(kProperties);
    peer->answer(0, code(ResponseCode::Success));
    ASSERT_TRUE(result.answered());
    EXPECT_EQ(result.field("msgId"), "0");
    EXPECT_EQ(result.field("queueId"), "0");
    EXPECT_EQ(result.field("queueOffset"), "0");
    EXPECT_TRUE(stored().empty());
    auto lost = reply("REPLY_TO_CLIENT\1nobody\2");
    EXPECT_EQ(lost.code(), ResponseCode::SystemError);
    EXPECT_EQ(lost.field("msgId"), "");
}

TEST_F(ReplyTest, AClientThatRefusesOrVanishesFailsTheReplyButItIsStored) {
    begin();
    auto peer = client("asker@1");
    auto refused = reply(kProperties);
    peer->answer(0, code(ResponseCode::SystemError));
    EXPECT_EQ(refused.code(), ResponseCode::SystemError);
    EXPECT_EQ(refused.remark(), "push reply message to asker@1fail.");
    auto vanished = reply(kProperties);
    context_.disconnect(peer);
    ASSERT_TRUE(vanished.answered());
    EXPECT_EQ(vanished.code(), ResponseCode::SystemError);
    EXPECT_EQ(stored().size(), 2U);
    EXPECT_EQ(vanished.field("queueOffset"), "1");
}

TEST_F(ReplyTest, AFailingStoreDoesNotTakeTheReplyBack) {
    begin();
    auto peer = client("asker@1");
    auto result = reply(kProperties);
    store_.refuse(1, service::AppendStatus::Failed, Status(StatusCode::Unavailable, "disk"));
    peer->answer(0, code(ResponseCode::Success));
    EXPECT_EQ(result.code(), ResponseCode::Success);
    EXPECT_EQ(result.field("msgId"), "0");
}

TEST_F(ReplyTest, TooManyWaitingRepliesAreRefused) {
    begin({{"replyThreadPoolQueueCapacity", "2"}});
    auto peer = client("asker@1");
    auto first = reply(kProperties);
    auto second = reply(kProperties);
    context_.manualClock().advance(std::chrono::milliseconds(70));
    const auto third = reply(kProperties);
    EXPECT_EQ(third.code(), ResponseCode::SystemBusy);
    EXPECT_EQ(third.remark(), "[OVERLOAD]system busy, start flow control for a while, 2 replies wait for their clients, the oldest for 70ms, "
                              "limit replyThreadPoolQueueCapacity 2");
    peer->answer(0, code(ResponseCode::Success));
    peer->answer(1, code(ResponseCode::Success));
    EXPECT_TRUE(second.answered());
    EXPECT_FALSE(reply(kProperties).answered());
    peer->answer(2, code(ResponseCode::Success));
}

TEST_F(ReplyTest, BadRepliesAreAnsweredAsRecorded) {
    begin({}, "GoldCluster");
    int compared = 0;
    for (const auto& pair : recorded::pairs("raw-reply")) {
        SCOPED_TRACE(pair.where);
        auto result = context_.send(pair.request);
        ASSERT_TRUE(result.answered());
        EXPECT_EQ(static_cast<std::int32_t>(result.code()), pair.response->code);
        const std::string theirs = pair.response->remark.value_or("");
        // The remark ends with the port of the client.
        EXPECT_EQ(result.remark().substr(0, result.remark().rfind(':')), theirs.substr(0, theirs.rfind(':')));
        const protocol::RemotingCommand ours = result.response();
        for (const auto& [key, value] : pair.response->fields) {
            const auto own = ours.find(key);
            ASSERT_TRUE(own) << key;
            if (key == "msgId") EXPECT_EQ(own->size(), value.size());
            else if (key == "queueOffset") EXPECT_EQ(std::stoll(std::string(*own)) + 4, std::stoll(value));
            else EXPECT_EQ(*own, value) << key;
        }
        EXPECT_EQ(ours.fields.size(), pair.response->fields.size());
        ++compared;
    }
    EXPECT_EQ(compared, 5);
    EXPECT_EQ(stored().size(), 3U);
}

}  // namespace
}  // namespace patchbay::plugins::reply
