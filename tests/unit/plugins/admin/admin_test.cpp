// Proves: what administration does beyond the words: deletions reach all tables, limits hold, connections are listed, questions
// go through to clients. How: the plugin with the real tables on a fake kernel.
// Left to others: recorded answers (golden_test), runtime information (runtime_test).
#include "AdminBench.h"

#include "patchbay/protocol/headers/Admin.h"

#include <set>
#include <vector>

namespace patchbay::plugins::admin {
namespace {

using namespace std::string_literals;

class AdminPluginTest : public AdminTest {
protected:
    CallResult create(std::string_view topic, std::int32_t queues, std::string_view attributes = {}) {
        protocol::CreateTopicRequest request;
        request.topic = topic;
        request.defaultTopic = "TBW102";
        request.readQueueNums = request.writeQueueNums = queues;
        request.perm = 6;
        request.topicFilterType = "SINGLE_TAG";
        request.attributes = attributes;
        return context_.call(RequestCode::UpdateAndCreateTopic, request);
    }
};

TEST_F(AdminPluginTest, ATopicIsDeletedWithItsOffsetsAndMessages) {
    begin();
    makeTopic("T");
    append("T", 0, 3);
    offsets().commit("c", "G", "T", 0, 2);
    EXPECT_EQ(context_.call(RequestCode::DeleteTopicInBroker, Fields{{"topic", "T"}}).code(), ResponseCode::Success);
    EXPECT_FALSE(topics().get("T"));
    EXPECT_EQ(offsets().query("G", "T", 0), -1);
    EXPECT_EQ(store_.range("T", 0).max, 0);
    EXPECT_EQ(context_.call(RequestCode::GetTopicStatsInfo, Fields{{"topic", "T"}}).code(), ResponseCode::TopicNotExist);
}

TEST_F(AdminPluginTest, QueuesAreCountedBeforeTheyAreWalked) {
    begin();
    for (const std::int32_t queues : {65'537, 2'147'483'647, -1}) {
        EXPECT_EQ(create("Wide", queues).code(), ResponseCode::InvalidParameter) << queues;
        const std::string body = R"({"topicConfigList":[{"topicName":"Wide","readQueueNums":)" + std::to_string(queues) + "}]}";
        EXPECT_EQ(context_.call(RequestCode::UpdateAndCreateTopicList, Fields{}, body).code(), ResponseCode::InvalidParameter);
    }
    EXPECT_FALSE(topics().get("Wide"));
    EXPECT_EQ(create("Wide", 65'536).code(), ResponseCode::Success);
    EXPECT_EQ(create("None", 0).code(), ResponseCode::Success);
}

TEST_F(AdminPluginTest, AttributesOfAWrongFormAreNamed) {
    begin();
    EXPECT_EQ(create("T", 1, "message.type=FIFO").remark(), "add/alter attribute format is wrong: message.type");
    EXPECT_EQ(create("T", 1, "message.type").remark(), "delete attribute format is wrong: message.type");
    EXPECT_EQ(create("T", 1, "+message.type=FIFO,+message.type=DELAY").remark(), "key duplication: +message.type");
    EXPECT_EQ(create("T", 1, ",,=").code(), ResponseCode::SystemError);
    EXPECT_EQ(create("T", 1, "+message.type=SOMETIMES").remark(),
              "value is not in set: [UNSPECIFIED, MIXED, TRANSACTION, FIFO, DELAY, NORMAL]");
    EXPECT_FALSE(topics().get("T"));
}

TEST_F(AdminPluginTest, MixedTopicsAndSystemTopicsAreAMatterOfConfiguration) {
    begin({{"enableMixedMessageType", "true"}, {"validateSystemTopicWhenUpdateTopic", "false"}});
    EXPECT_EQ(create("T", 1, "+message.type=MIXED").code(), ResponseCode::Success);
    EXPECT_EQ(create("SELF_TEST_TOPIC", 2).code(), ResponseCode::Success);
    EXPECT_EQ(topics().get("SELF_TEST_TOPIC")->readQueueNums, 2);
}

TEST_F(AdminPluginTest, GroupNamesThatNobodyCouldUseAreRefused) {
    begin();
    for (const char* body : {R"({"groupName":""})", R"({"groupName":"bad group!"})", "{}"}) {
        EXPECT_EQ(context_.call(RequestCode::UpdateAndCreateSubscriptiongroup, Fields{}, body).code(), ResponseCode::InvalidParameter);
    }
    EXPECT_EQ(context_.call(RequestCode::UpdateAndCreateSubscriptiongroup, Fields{}, "not json").code(), ResponseCode::SystemError);
    EXPECT_EQ(context_.call(RequestCode::UpdateAndCreateSubscriptiongroupList, Fields{},
                            R"({"groupConfigList":[{"groupName":"A"},{"groupName":"a b"}]})").code(), ResponseCode::InvalidParameter);
}

TEST_F(AdminPluginTest, MembersOfAChangedGroupAreTold) {
    begin();
    makeTopic("T");
    const auto peer = connect("c@1", "G", "T");
    const auto before = peer->pushed().size();
    ASSERT_EQ(context_.call(RequestCode::UpdateAndCreateSubscriptiongroup, Fields{}, R"({"groupName":"G","retryMaxTimes":3})").code(),
              ResponseCode::Success);
    context_.pump();
    EXPECT_EQ(groups().get("G")->retryMaxTimes, 3);
    EXPECT_GT(peer->pushed().size(), before);
}

TEST_F(AdminPluginTest, AGroupIsDeletedWithItsOffsetsWhenThatIsAskedFor) {
    begin();
    for (const bool clean : {false, true}) {
        ASSERT_EQ(context_.call(RequestCode::UpdateAndCreateSubscriptiongroup, Fields{}, R"({"groupName":"G"})").code(), ResponseCode::Success);
        for (const char* topic : {"T", "%RETRY%G", "%DLQ%G"}) offsets().commit("c", "G", topic, 0, 5);
        offsets().assignReset("G", "T", 1, 3);
        EXPECT_EQ(context_.call(RequestCode::DeleteSubscriptiongroup, Fields{{"groupName", "G"}, {"cleanOffset", clean ? "true" : "false"}}).code(),
                  ResponseCode::Success);
        EXPECT_FALSE(groups().get("G"));
        // What a group of that name finds that is made later.
        ASSERT_EQ(context_.call(RequestCode::UpdateAndCreateSubscriptiongroup, Fields{}, R"({"groupName":"G"})").code(), ResponseCode::Success);
        for (const char* topic : {"T", "%RETRY%G", "%DLQ%G"}) EXPECT_EQ(offsets().query("G", topic, 0), clean ? -1 : 5) << topic;
        EXPECT_EQ(offsets().takeReset("G", "T", 1).has_value(), !clean);
    }
}

TEST_F(AdminPluginTest, ConnectionsAreListed) {
    begin();
    makeTopic("T");
    connect("c@1", "G", "T", "127.0.0.1:50001");
    connect("c@2", "G", "T", "127.0.0.1:50002");
    const auto consumers = protocol::ConsumerConnection::fromJson(
        context_.call(RequestCode::GetConsumerConnectionList, Fields{{"consumerGroup", "G"}}).body());
    ASSERT_TRUE(consumers);
    ASSERT_EQ(consumers->connectionSet.size(), 2U);
    std::set<std::string> addresses;
    for (const auto& connection : consumers->connectionSet) {
        addresses.insert(connection.clientAddr + " " + connection.clientId + " " + connection.language);
    }
    EXPECT_EQ(addresses, (std::set<std::string>{"127.0.0.1:50001 c@1 JAVA", "127.0.0.1:50002 c@2 JAVA"}));
    EXPECT_EQ(consumers->consumeType, protocol::ConsumeType::Passively);
    EXPECT_EQ(consumers->messageModel, protocol::MessageModel::Clustering);
    EXPECT_EQ(consumers->consumeFromWhere, protocol::ConsumeFromWhere::FirstOffset);
    EXPECT_EQ(consumers->subscriptionTable.at("T").subString, "TagA || TagB");

    const auto producers = protocol::ProducerConnection::fromJson(
        context_.call(RequestCode::GetProducerConnectionList, Fields{{"producerGroup", "P"}}).body());
    ASSERT_TRUE(producers);
    EXPECT_EQ(producers->connectionSet.size(), 2U);
    const auto whole = context_.call(RequestCode::GetAllProducerInfo).body();
    EXPECT_NE(whole.find(R"("P":[{"clientId":")"), std::string::npos) << whole;
    EXPECT_NE(whole.find(R"("remoteIP":"/127.0.0.1:50001")"), std::string::npos) << whole;

    const auto who = protocol::GroupList::fromJson(context_.call(RequestCode::QueryTopicConsumeByWho, Fields{{"topic", "T"}}).body());
    EXPECT_EQ(who->groupList, std::vector{"G"s});
    const auto subscribed = context_.call(RequestCode::QuerySubscriptionByConsumer, Fields{{"group", "G"}, {"topic", "T"}}).body();
    EXPECT_TRUE(subscribed.starts_with(R"({"group":"G","subscriptionData":{"classFilterMode":false,)")) << subscribed;
    EXPECT_EQ(context_.call(RequestCode::QuerySubscriptionByConsumer, Fields{{"group", "Nobody"}, {"topic", "T"}}).body(),
              R"({"group":"Nobody","topic":"T"})");
}

TEST_F(AdminPluginTest, AnOnlineGroupIsOnlyBehindOnWhatItSubscribes) {
    begin();
    makeTopic("T", 1);
    makeTopic("Old", 1);
    append("T", 0, 5);
    append("Old", 0, 7);
    offsets().commit("c", "G", "T", 0, 2);
    offsets().commit("c", "G", "Old", 0, 2);
    const auto topicsOf = [&](const Fields& fields) {
        std::set<std::string> names;
        const auto stats = protocol::ConsumeStats::fromJson(context_.call(RequestCode::GetConsumeStats, fields).body());
        for (const auto& [queue, entry] : stats->offsetTable) names.insert(queue.topic);
        return names;
    };
    EXPECT_EQ(topicsOf({{"consumerGroup", "G"}}), (std::set<std::string>{"Old", "T"})) << "off line";
    connect("c@1", "G", "T");
    EXPECT_EQ(topicsOf({{"consumerGroup", "G"}}), (std::set<std::string>{"T"}));
    EXPECT_EQ(topicsOf({{"consumerGroup", "G"}, {"topic", "Old"}}), (std::set<std::string>{}));
    EXPECT_EQ(topicsOf({{"consumerGroup", "G"}, {"topicList", ";Old;;T;Nothing;"}}), (std::set<std::string>{"Old", "T"}));

    const auto broker = context_.call(RequestCode::GetBrokerConsumeStats, Fields{{"isOrder", "false"}}).body();
    EXPECT_NE(broker.find(R"({"G":[{"consumeTps":0.0,"offsetTable":{{"brokerName":"gold-a","queueId":0,"topic":"T"}:{"brokerOffset":5,)"
                          R"("consumerOffset":2,)"), std::string::npos) << broker;
    EXPECT_TRUE(broker.ends_with(R"("totalDiff":3,"totalInflightDiff":0})")) << broker;
    EXPECT_TRUE(context_.call(RequestCode::GetBrokerConsumeStats, Fields{{"isOrder", "true"}}).body().ends_with(R"("totalDiff":0,"totalInflightDiff":0})"));
    const auto all = protocol::ConsumerOffsets::fromJson(context_.call(RequestCode::GetAllConsumerOffset).body());
    ASSERT_TRUE(all);
    EXPECT_EQ(all->offsetTable.at("T@G").at(0), 2);
}

TEST_F(AdminPluginTest, TimeSpansSayHowLongTheNextMessageWaits) {
    begin();
    makeTopic("T", 2);
    const std::int64_t first = context_.clock().wallMs();
    append("T", 0, 1);
    context_.manualClock().advance(std::chrono::seconds(10));
    append("T", 0, 1);
    offsets().commit("c", "G", "T", 0, 1);
    context_.manualClock().advance(std::chrono::seconds(5));
    const auto body = context_.call(RequestCode::QueryConsumeTimeSpan, Fields{{"topic", "T"}, {"group", "G"}}).body();
    const auto document = json::Document::parse(body);
    ASSERT_TRUE(document) << body;
    std::vector<json::Value> queues;
    for (const auto item : document->root()["consumeTimeSpanSet"]) queues.push_back(item.value);
    ASSERT_EQ(queues.size(), 2U);
    const auto queue = queues[0];
    EXPECT_EQ(queue["consumeTimeStamp"].integer(), first);
    EXPECT_EQ(queue["maxTimeStamp"].integer(), first + 10'000);
    EXPECT_EQ(queue["delayTime"].integer(), 5'000);
    const auto unused = queues[1];
    EXPECT_EQ(unused["delayTime"].integer(), 0);
    EXPECT_EQ(unused["maxTimeStamp"].integer(), -1);
    const auto text = unused["maxTimeStampStr"].text().value_or("");
    EXPECT_TRUE(text.ends_with(":59:999")) << text;
}

TEST_F(AdminPluginTest, RatesAreThoseThatWereMeasured) {
    begin();
    makeTopic("T", 1);
    makeTopic("U", 1);
    offsets().commit("c", "G", "T", 0, 0);
    offsets().commit("c", "G", "U", 0, 0);
    traffic_.rates = {{"TOPIC_PUT_NUMS T", 2.5}, {"GROUP_GET_NUMS T@G", 1.5}, {"GROUP_GET_NUMS U@G", 0.25}};
    const auto stats = [this](const char* topic) {
        return protocol::TopicStatsTable::fromJson(context_.call(RequestCode::GetTopicStatsInfo, Fields{{"topic", topic}}).body())->topicPutTps;
    };
    EXPECT_EQ(stats("T"), 2.5);
    EXPECT_EQ(stats("U"), 0.0);
    const auto consumed = protocol::ConsumeStats::fromJson(
        context_.call(RequestCode::GetConsumeStats, Fields{{"consumerGroup", "G"}}).body());
    ASSERT_TRUE(consumed);
    EXPECT_EQ(consumed->consumeTps, 1.75) << "of all topics of the group";
}

TEST_F(AdminPluginTest, DangerousCodesAreForPeersOfTheSameMachine) {
    begin();
    context_.runtimeConfig().set("brokerPermission", "6");
    testkit::CallOptions afar;
    afar.peer = context_.peer("192.0.2.7:50001");
    for (const auto code : {RequestCode::UpdateBrokerConfig, RequestCode::CleanExpiredConsumequeue, RequestCode::CleanUnusedTopic,
                            RequestCode::DeleteExpiredCommitlog}) {
        const auto refused = context_.call(code, Fields{}, "brokerPermission=4\n", afar);
        EXPECT_EQ(refused.code(), ResponseCode::NoPermission);
        EXPECT_NE(refused.remark().find("adminLocalOnlyCodes"), std::string::npos) << refused.remark();
        EXPECT_EQ(context_.call(code, Fields{}, "brokerPermission=6\n").code(), ResponseCode::Success);
    }
    EXPECT_EQ(context_.call(RequestCode::GetBrokerConfig, Fields{}, {}, afar).code(), ResponseCode::Success);
    testkit::CallOptions mapped;
    mapped.peer = context_.peer("[::1]:50001");
    EXPECT_EQ(context_.call(RequestCode::CleanUnusedTopic, Fields{}, {}, mapped).code(), ResponseCode::Success);
}

TEST_F(AdminPluginTest, OneKeyOpensDangerousCodesAndClosesOthers) {
    begin({{"adminLocalOnlyCodes", "215  351"}});
    makeTopic("T");
    testkit::CallOptions afar;
    afar.peer = context_.peer("192.0.2.7:50001");
    EXPECT_EQ(context_.call(RequestCode::CleanUnusedTopic, Fields{}, {}, afar).code(), ResponseCode::Success);
    EXPECT_EQ(context_.call(RequestCode::DeleteTopicInBroker, Fields{{"topic", "T"}}, {}, afar).code(), ResponseCode::NoPermission);
    EXPECT_TRUE(topics().get("T"));
}

TEST_F(AdminPluginTest, ACodeThatIsNoneIsRefusedAtTheStart) {
    testkit::FakeContext context;
    testkit::PluginRunner runner(context);
    runner.add(std::unique_ptr<plugin::Plugin>(patchbay_plugin_create()), {{"adminLocalOnlyCodes", "25 all"}});
    EXPECT_EQ(runner.start().message(), "adminLocalOnlyCodes: 'all' is no request code");
}

TEST_F(AdminPluginTest, QueuesWhoseTopicIsGoneAreCleanedAway) {
    begin();
    makeTopic("T");
    append("T", 0, 2);
    append("Lost", 0, 3);
    append("SCHEDULE_TOPIC_XXXX", 2, 1);
    EXPECT_EQ(context_.call(RequestCode::CleanUnusedTopic).code(), ResponseCode::Success);
    EXPECT_EQ(store_.range("T", 0).max, 2);
    EXPECT_FALSE(store_.range("Lost", 0).exists);
    EXPECT_EQ(store_.range("SCHEDULE_TOPIC_XXXX", 2).max, 1);
    EXPECT_EQ(context_.call(RequestCode::CleanExpiredConsumequeue).code(), ResponseCode::Success);
    EXPECT_EQ(store_.range("T", 0).max, 2);
}

TEST_F(AdminPluginTest, WhatOnlyACommitLogCanDoIsRefusedByOtherStores) {
    begin();
    makeTopic("T");
    append("T", 0, 2);
    picky_.commitLog = false;
    const auto refused = context_.call(RequestCode::CleanExpiredConsumequeue);
    EXPECT_EQ(refused.code(), ResponseCode::RequestCodeNotSupported);
    EXPECT_EQ(refused.remark(), "CLEAN_EXPIRED_CONSUMEQUEUE is not supported by this store (memory): it has no consume-queue files; "
                                "the entries of a queue go with their messages");
    // These have an answer in every store.
    for (const auto code : {RequestCode::CleanUnusedTopic, RequestCode::DeleteExpiredCommitlog}) {
        EXPECT_EQ(context_.call(code).code(), ResponseCode::Success) << static_cast<int>(code);
    }
    const auto queue = context_.call(RequestCode::QueryConsumeQueue, Fields{{"topic", "T"}, {"queueId", "0"}, {"index", "0"}, {"count", "2"}});
    EXPECT_EQ(queue.code(), ResponseCode::Success);
    EXPECT_NE(queue.body().find("\"physicOffset\""), std::string::npos);
}

TEST_F(AdminPluginTest, ExpiredMessagesGoAtOnce) {
    begin();
    makeTopic("T", 2);
    append("T", 0, 3);
    append("T", 1, 2);
    context_.manualClock().advance(std::chrono::hours(3));
    append("T", 0, 2);
    EXPECT_EQ(context_.call(RequestCode::DeleteExpiredCommitlog).code(), ResponseCode::Success);
    EXPECT_EQ(store_.range("T", 0).min, 0) << "nothing says how long messages are kept";
    context_.runtimeConfig().set("fileReservedTime", "4");
    EXPECT_EQ(context_.call(RequestCode::DeleteExpiredCommitlog).code(), ResponseCode::Success);
    EXPECT_EQ(store_.range("T", 0).min, 0) << "nothing is old enough";
    context_.runtimeConfig().set("fileReservedTime", "2");
    EXPECT_EQ(context_.call(RequestCode::DeleteExpiredCommitlog).code(), ResponseCode::Success);
    EXPECT_EQ(store_.range("T", 0).min, 3);
    EXPECT_EQ(store_.range("T", 0).max, 5);
    EXPECT_EQ(store_.range("T", 1).min, 2);
}

TEST_F(AdminPluginTest, NothingExpiresWhileAQueueDoesNotTellHowOldItIs) {
    begin();
    makeTopic("Young", 1);
    makeTopic("T", 1);
    context_.runtimeConfig().set("fileReservedTime", "2");
    append("T", 0, 3);
    context_.manualClock().advance(std::chrono::hours(3));
    append("Young", 0, 2);
    append("T", 0, 1);
    const auto expectNothingRemoved = [this] {
        const auto answer = context_.call(RequestCode::DeleteExpiredCommitlog);
        EXPECT_EQ(answer.code(), ResponseCode::SystemError);
        EXPECT_NE(answer.remark().find("0@Young"), std::string::npos) << answer.remark();
        EXPECT_EQ(store_.range("Young", 0).min, 0);
        EXPECT_EQ(store_.range("T", 0).min, 0);
    };
    picky_.failingTopic = "Young";
    expectNothingRemoved();
    picky_.failingTopic.clear();
    picky_.timelessTopic = "Young";
    expectNothingRemoved();
    picky_.timelessTopic.clear();
    EXPECT_EQ(context_.call(RequestCode::DeleteExpiredCommitlog).code(), ResponseCode::Success);
    EXPECT_EQ(store_.range("Young", 0).min, 0);
    EXPECT_EQ(store_.range("T", 0).min, 3);
}

TEST_F(AdminPluginTest, AQueueIsListedAsFarAsItIsAllowed) {
    begin({{"adminQueueEntriesMax", "3"}});
    makeTopic("T");
    append("T", 0, 5);
    const auto entries = [this](std::string_view index, std::string_view count) {
        const auto body = context_.call(RequestCode::QueryConsumeQueue,
                                        Fields{{"topic", "T"}, {"queueId", "0"}, {"index", std::string(index)}, {"count", std::string(count)}})
                              .body();
        std::size_t found = 0;
        for (auto at = body.find("physicOffset"); at != std::string::npos; at = body.find("physicOffset", at + 1)) ++found;
        return found;
    };
    EXPECT_EQ(entries("0", "2"), 2U);
    EXPECT_EQ(entries("0", "100"), 3U);
    EXPECT_EQ(entries("4", "100"), 1U);
    EXPECT_EQ(entries("5", "100"), 0U) << "there is no such index";
    EXPECT_EQ(entries("0", "-1"), 0U);
    EXPECT_EQ(context_.call(RequestCode::QueryConsumeQueue,
                            Fields{{"topic", "T"}, {"queueId", "x"}, {"index", "0"}, {"count", "1"}}).code(), ResponseCode::SystemError);
}

TEST_F(AdminPluginTest, ARequestWithoutItsFieldsIsRefused) {
    begin();
    for (const auto code : {RequestCode::UpdateAndCreateTopic, RequestCode::DeleteTopicInBroker, RequestCode::GetTopicConfig,
                            RequestCode::GetTopicStatsInfo, RequestCode::GetSubscriptiongroupConfig, RequestCode::DeleteSubscriptiongroup,
                            RequestCode::GetConsumerConnectionList, RequestCode::GetProducerConnectionList, RequestCode::GetConsumeStats,
                            RequestCode::QueryTopicConsumeByWho, RequestCode::QueryTopicsByConsumer, RequestCode::QueryConsumeTimeSpan,
                            RequestCode::QuerySubscriptionByConsumer}) {
        const auto result = context_.call(code);
        ASSERT_TRUE(result.answered());
        EXPECT_EQ(result.code(), ResponseCode::SystemError) << static_cast<int>(code);
        EXPECT_NE(result.remark().find("is missing"), std::string::npos) << static_cast<int>(code) << result.remark();
    }
}

}  // namespace
}  // namespace patchbay::plugins::admin
