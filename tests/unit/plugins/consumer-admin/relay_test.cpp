// Proves: what operators ask of members reaches them and comes back, once, whatever happens to the member.
// How: the plugin with fake clients that answer by hand; refusals as Java's broker was recorded. Left to others: real clients (interop).
#include "Bench.h"

namespace patchbay::plugins::consumer_admin {
namespace {

TEST_F(ConsumerAdminTest, QuestionsToConsumersGoThroughAndComeBack) {
    begin();
    makeTopic("T");
    const auto peer = connect("c@1", "G", "T");
    const Fields fields{{"consumerGroup", "G"}, {"clientId", "c@1"}, {"jstackEnable", "false"}};
    auto asked = context_.call(RequestCode::GetConsumerRunningInfo, fields);
    EXPECT_TRUE(asked.held());
    ASSERT_EQ(peer->invocations().size(), 1U);
    EXPECT_EQ(peer->invocations()[0].command.code, 307);
    EXPECT_EQ(peer->invocations()[0].command.fields, fields);
    protocol::RemotingCommand answer;
    answer.code = 0;
    answer.remark = "as the client says";
    answer.body = "{\"properties\":{}}";
    peer->answer(0, answer);
    ASSERT_TRUE(asked.await());
    EXPECT_EQ(asked.code(), ResponseCode::Success);
    EXPECT_EQ(asked.remark(), "as the client says");
    EXPECT_EQ(asked.body(), "{\"properties\":{}}");

    auto late = context_.call(RequestCode::GetConsumerRunningInfo, fields);
    peer->answer(1, Status(StatusCode::DeadlineExceeded, "no answer within 10000 ms"));
    ASSERT_TRUE(late.await());
    EXPECT_EQ(late.code(), ResponseCode::ConsumeMsgTimeout);
    auto gone = context_.call(RequestCode::GetConsumerRunningInfo, fields);
    context_.disconnect(peer);
    ASSERT_TRUE(gone.await());
    EXPECT_EQ(gone.code(), ResponseCode::SystemError);
}

TEST_F(ConsumerAdminTest, OldConsumersAreNotAsked) {
    begin();
    makeTopic("T");
    const auto peer = connect("c@1", "G", "T", "127.0.0.1:50001", 61);
    auto asked = context_.call(RequestCode::GetConsumerRunningInfo, Fields{{"consumerGroup", "G"}, {"clientId", "c@1"}});
    EXPECT_EQ(asked.code(), ResponseCode::SystemError);
    EXPECT_NE(asked.remark().find("V3_1_8_SNAPSHOT"), std::string::npos);
    EXPECT_TRUE(peer->invocations().empty());
}

TEST_F(ConsumerAdminTest, RefusedQuestionsAreWordedAsRecorded) {
    begin();
    int replayed = 0;
    for (const char* scenario : {"push-back-running-info", "raw-relay-offline"}) {
        for (const auto& pair : recorded::pairs(scenario)) {
            if ((pair.request.code != 307 && pair.request.code != 309) || pair.role != "client->broker" || pair.response->code != 1) continue;
            recorded::expectSameAnswer(context_, pair);
            ++replayed;
        }
    }
    EXPECT_EQ(replayed, 3);
}

TEST_F(ConsumerAdminTest, AMessageThatIsToBeConsumedDirectlyGoesWithTheRequest) {
    begin();
    makeTopic("T");
    testkit::TestBatch batch;
    auto& item = batch.add({.topic = "T", .body = "work"});
    item.storeHost = context_.identity().storeHost;
    batch.appendTo(store_);
    ASSERT_TRUE(batch.wait());
    const std::string id = protocol::MessageId{context_.identity().storeHost, batch.items.front().physicalOffset}.toString();
    const auto peer = connect("c@1", "G", "T");
    auto asked = context_.call(RequestCode::ConsumeMessageDirectly,
                               Fields{{"consumerGroup", "G"}, {"clientId", "c@1"}, {"msgId", id}, {"topic", "T"}});
    ASSERT_EQ(peer->invocations().size(), 1U);
    const auto forward = peer->invocations()[0].command;
    EXPECT_EQ(forward.code, 309);
    EXPECT_EQ(forward.find("brokerName"), "gold-a");
    EXPECT_EQ(forward.find("topicSysFlag"), "0");
    EXPECT_EQ(forward.find("groupSysFlag"), "0");
    EXPECT_EQ(forward.find("msgId"), id);
    EXPECT_EQ(testkit::parseRecords(forward.body).at(0).body, "work");
    protocol::RemotingCommand answer;
    answer.body = R"({"consumeResult":"CR_SUCCESS"})";
    peer->answer(0, answer);
    ASSERT_TRUE(asked.await());
    EXPECT_EQ(asked.body(), answer.body);

    const std::string none = protocol::MessageId{context_.identity().storeHost, 123'456}.toString();
    for (const auto& missing : {none, std::string("junk"), std::string()}) {
        auto refused = context_.call(RequestCode::ConsumeMessageDirectly, Fields{{"consumerGroup", "G"}, {"clientId", "c@1"}, {"msgId", missing}});
        EXPECT_EQ(refused.code(), ResponseCode::SystemError) << missing;
    }
    EXPECT_EQ(peer->invocations().size(), 1U);
}

TEST_F(ConsumerAdminTest, OffsetsThatMembersHaveInMemoryAreGathered) {
    begin();
    makeTopic("T");
    const auto one = connect("c@1", "G", "T");
    const auto two = connect("c@2", "G", "T", "127.0.0.1:50002");
    const auto mute = connect("c@3", "G", "T", "127.0.0.1:50003");
    auto asked = context_.call(RequestCode::InvokeBrokerToGetConsumerStatus, Fields{{"topic", "T"}, {"group", "G"}, {"clientAddr", ""}});
    EXPECT_TRUE(asked.held());
    ASSERT_EQ(two->invocations().size(), 1U);
    EXPECT_EQ(two->invocations()[0].command.code, 221);
    EXPECT_EQ(two->invocations()[0].command.fields, (Fields{{"group", "G"}, {"topic", "T"}}));
    protocol::RemotingCommand answer;
    answer.body = R"({"consumerTable":{},"messageQueueTable":{{"brokerName":"gold-a","queueId":3,"topic":"T"}:2}})";
    one->answer(0, answer);
    answer.body = "junk";
    two->answer(0, answer);
    EXPECT_TRUE(asked.held()) << "one has not answered";
    context_.disconnect(mute);
    ASSERT_TRUE(asked.await());
    EXPECT_EQ(asked.code(), ResponseCode::Success);
    EXPECT_EQ(asked.body(), R"({"consumerTable":{"c@1":{{"brokerName":"gold-a","queueId":3,"topic":"T"}:2}},"messageQueueTable":{}})");

    auto nobody = context_.call(RequestCode::InvokeBrokerToGetConsumerStatus, Fields{{"topic", "T"}, {"group", "G"}, {"clientAddr", "nobody"}});
    EXPECT_EQ(nobody.body(), R"({"consumerTable":{},"messageQueueTable":{}})") << "as recorded";
    auto offline = context_.call(RequestCode::InvokeBrokerToGetConsumerStatus, Fields{{"topic", "T"}, {"group", "Offline"}});
    EXPECT_EQ(offline.code(), ResponseCode::SystemError);
    EXPECT_EQ(offline.remark(), "No Any Consumer online in the consumer group: [Offline]");
    connect("old", "Old", "T", "127.0.0.1:50004", 27);
    auto old = context_.call(RequestCode::InvokeBrokerToGetConsumerStatus, Fields{{"topic", "T"}, {"group", "Old"}});
    EXPECT_EQ(old.remark(), "the client does not support this feature. version=27");
}

}  // namespace
}  // namespace patchbay::plugins::consumer_admin
