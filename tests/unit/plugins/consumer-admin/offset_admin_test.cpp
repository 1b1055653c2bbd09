// Proves: offsets are reset, cloned and compared, and topics forbidden, by RocketMQ's rules, on line and off line.
// How: the plugin above real tables and a store in memory; answers compared with what Java's broker was recorded to say.
// Left to others: what a pull makes of a reset (pull), Java's tools (interop).
#include "Bench.h"

namespace patchbay::plugins::consumer_admin {
namespace {

using Queues = std::map<std::int32_t, std::int64_t>;

Fields wish(const std::string& timestamp, const std::string& topic = "T", const std::string& group = "G", const std::string& force = "true") {
    return {{"group", group}, {"topic", topic}, {"timestamp", timestamp}, {"isForce", force}};
}

Fields one(const std::string& queue, const std::string& offset) {
    Fields fields = wish("0");
    fields.emplace_back("queueId", queue);
    fields.emplace_back("offset", offset);
    return fields;
}

/// Queue ids and offsets of an answer's table.
Queues table(const std::string& body) {
    Queues queues;
    const auto document = json::Document::parse(body);
    if (!document) return queues;
    for (const auto& [key, offset] : document->root()["offsetTable"]) {
        const auto queue = protocol::MessageQueue::fromJson(key);
        queues.emplace(queue->queueId, offset.integer().value_or(-99));
    }
    return queues;
}

class OffsetAdminTest : public ConsumerAdminTest {
protected:
    void begin(testkit::Settings settings = {}) {
        ConsumerAdminTest::begin(std::move(settings));
        makeTopic("T", 2);
        makeGroup("G");
    }
    testkit::CallResult reset(const Fields& fields) { return context_.call(RequestCode::InvokeBrokerToResetOffset, fields); }
};

TEST_F(OffsetAdminTest, AGroupOffLineIsResetByTimeToTheEndAndToAnOffset) {
    begin();
    append("T", 0, 3);
    context_.advance(10s);
    const std::int64_t between = context_.clock().wallMs() - 5000;
    append("T", 0, 2);
    append("T", 1, 1);
    for (const std::int32_t queue : {0, 1}) offsets().commit("c", "G", "T", queue, 1);

    auto byTime = reset(wish(std::to_string(between)));
    EXPECT_EQ(byTime.code(), ResponseCode::Success) << byTime.remark();
    EXPECT_EQ(table(byTime.body()), (Queues{{0, 3}, {1, 0}}));
    EXPECT_EQ(offsets().query("G", "T", 0), 3) << "written at once, for groups that are off line";
    EXPECT_EQ(offsets().takeReset("G", "T", 0), 3) << "and told to the next pull";
    EXPECT_EQ(table(reset(wish("-1")).body()), (Queues{{0, 5}, {1, 1}})) << "the end";
    EXPECT_EQ(table(reset(wish(std::to_string(context_.clock().wallMs() + 1))).body()), (Queues{{0, 5}, {1, 1}})) << "after the last message";
    EXPECT_EQ(table(reset(wish("9223372036854775807")).body()), (Queues{{0, 5}, {1, 1}}));
    EXPECT_EQ(table(reset(wish("0")).body()), (Queues{{0, 0}, {1, 0}}));
    EXPECT_EQ(table(reset(one("0", "4")).body()), (Queues{{0, 4}}));
    EXPECT_EQ(table(reset(one("1", "-1")).body()), (Queues{{1, 0}})) << "no offset: by time";
    EXPECT_EQ(table(reset(one("0", "6")).body()), (Queues{{0, 5}})) << "RocketMQ takes it; a message that comes must not be skipped";
    EXPECT_GT(context_.metrics().value("consumer_offset_moved_back_total"), 0U);
    EXPECT_TRUE(context_.log().contains("offsets of a group are reset"));
}

TEST_F(OffsetAdminTest, WhatCannotBeResetIsRefusedInRocketMqsWords) {
    begin();
    append("T", 0, 2);
    auto beyond = reset(one("0", "99999"));
    EXPECT_EQ(beyond.code(), ResponseCode::SystemError);
    EXPECT_EQ(beyond.remark(), "Target offset 99999 not in consume queue range [0-2]");
    const auto endless = reset({{"group", "G"}, {"topic", "T"}, {"queueId", "2147483647"}, {"offset", "-1"}, {"timestamp", "0"}, {"isForce", "true"}});
    EXPECT_EQ(endless.remark(), "queueId[2147483647] is illegal, topic:[T] topicConfig.readQueueNums:[2]");
    auto group = reset(wish("0", "T", "NoSuchG"));
    EXPECT_EQ(group.code(), ResponseCode::SubscriptionGroupNotExist);
    EXPECT_EQ(group.remark(), "Group NoSuchG does not exist");
    auto topic = reset(wish("0", "NoSuchT"));
    EXPECT_EQ(topic.code(), ResponseCode::TopicNotExist);
    EXPECT_EQ(topic.remark(), "Topic NoSuchT does not exist");
    ASSERT_TRUE(topics().createIfMissing("Empty", 0, 6, 0));
    EXPECT_EQ(reset(wish("0", "Empty")).remark(), "No queues to reset.");
    context_.brokerIdentity().brokerId = 1;
    EXPECT_EQ(reset(wish("0")).remark(), "Can not reset offset in slave broker");
}

TEST_F(OffsetAdminTest, AQueueThatDoesNotExistIsRefusedAndLeavesNothing) {
    begin();
    append("T", 0, 2);
    append("T", 4, 1);   // of a time when the topic had more queues
    for (const char* queue : {"2", "3", "65535"}) {
        for (const char* offset : {"-1", "0", "1"}) {
            const auto refused = reset(one(queue, offset));
            EXPECT_EQ(refused.code(), ResponseCode::SystemError);
            EXPECT_EQ(refused.remark(), "queueId[" + std::string(queue) + "] is illegal, topic:[T] topicConfig.readQueueNums:[2]");
        }
    }
    EXPECT_TRUE(offsets().queues("G", "T").empty());
    EXPECT_EQ(table(reset(one("4", "1")).body()), (Queues{{4, 1}})) << "what holds messages exists";
}

TEST_F(OffsetAdminTest, StrangersCannotFillTheLog) {
    begin();
    append("T", 0, 1);
    for (int i = 0; i < 3; ++i) {
        (void)reset(wish("0"));
        (void)reset(wish("0", "Nowhere"));
        (void)context_.call(RequestCode::CloneGroupOffset, Fields{{"srcGroup", "G"}, {"destGroup", "H"}, {"topic", "Nowhere"}, {"offline", "true"}});
        (void)context_.call(RequestCode::UpdateAndGetGroupForbidden, Fields{{"group", "G"}, {"topic", "T"}, {"readable", i % 2 == 0 ? "false" : "true"}});
    }
    for (const char* line : {"offsets of a group are reset", "a reset of offsets is refused", "offsets of a topic are not cloned",
                             "a group's right to read a topic is set"}) {
        EXPECT_EQ(context_.log().count(line), 3U) << line;
    }
    for (const char* line : {"offsets of a group are reset", "a reset of offsets is refused",
                             "offsets of a topic are not cloned: it does not exist or the group does not subscribe it",
                             "a group's right to read a topic is set"}) {
        EXPECT_EQ(context_.log().countLimited(line), 3U) << line;
    }
}

TEST_F(OffsetAdminTest, WithoutServerSideResetMembersArePushedTheirOffsets) {
    begin({{"useServerSideResetOffset", "false"}});
    append("T", 0, 4);
    append("T", 1, 4);
    EXPECT_EQ(reset(wish("0")).remark(), "THe consumer group <G> not exist") << "as RocketMQ says it";
    offsets().commit("c", "G", "T", 0, 2);
    offsets().commit("c", "G", "T", 1, 2);
    auto offline = reset(wish("0"));
    EXPECT_EQ(offline.code(), ResponseCode::ConsumerNotOnline);
    EXPECT_EQ(offline.remark(), "Consumer not online, so can not reset offset, Group: G Topic: T Timestamp: 0");

    const auto first = connect("c@1", "G", "T");
    const auto second = connect("c@2", "G", "T", "127.0.0.1:50002");
    auto kept = reset(wish("-1", "T", "G", "false"));
    EXPECT_EQ(table(kept.body()), (Queues{{0, 2}, {1, 2}})) << "only back, unless forced";
    auto forced = reset(wish("-1"));
    EXPECT_EQ(forced.remark(), "not set any response code");
    EXPECT_EQ(table(forced.body()), (Queues{{0, 4}, {1, 4}}));
    for (const auto& peer : {first, second}) {
        const auto pushed = peer->pushed().back();
        EXPECT_EQ(pushed.code, 220);
        EXPECT_TRUE(pushed.isOneway());
        EXPECT_EQ(table(pushed.body), (Queues{{0, 4}, {1, 4}}));
        EXPECT_EQ(pushed.find("group"), "G");
        EXPECT_EQ(pushed.find("queueId"), "-1");
    }
    EXPECT_EQ(offsets().query("G", "T", 0), 2) << "the members commit it themselves";

    testkit::CallOptions cpp;
    cpp.language = protocol::Language::Cpp;
    static_cast<void>(context_.call(RequestCode::InvokeBrokerToResetOffset, wish("0"), {}, cpp));
    EXPECT_EQ(first->pushed().back().body, R"({"offsetTable":[{"brokerName":"gold-a","offset":0,"queueId":0,"topic":"T"},)"
                                           R"({"brokerName":"gold-a","offset":0,"queueId":1,"topic":"T"}]})");
    EXPECT_EQ(reset(wish("0", "NoSuchT")).remark(), "[reset-offset] reset offset failed, no topic in this broker. topic=NoSuchT");
    connect("old", "G", "T", "127.0.0.1:50003", 27);
    EXPECT_EQ(reset(wish("0")).code(), ResponseCode::SystemError);
}

TEST_F(OffsetAdminTest, OffsetsAreClonedForOneTopicOrAll) {
    begin();
    makeTopic("U", 1);
    offsets().commit("c", "G", "T", 0, 7);
    offsets().commit("c", "G", "U", 0, 9);
    offsets().commit("c", "G", "Gone", 0, 3);
    const auto clone = [this](const std::string& to, const std::string& topic, const std::string& offline) {
        return context_.call(RequestCode::CloneGroupOffset, Fields{{"srcGroup", "G"}, {"destGroup", to}, {"topic", topic}, {"offline", offline}}).code();
    };
    EXPECT_EQ(clone("One", "U", "true"), ResponseCode::Success);
    EXPECT_EQ(offsets().query("One", "U", 0), 9);
    EXPECT_EQ(offsets().query("One", "T", 0), -1);
    EXPECT_EQ(clone("All", "", "true"), ResponseCode::Success);
    EXPECT_EQ(offsets().topicsOf("All"), (std::vector<std::string>{"T", "U"})) << "a topic that is gone is passed over";
    connect("c@1", "G", "T");
    EXPECT_EQ(clone("Online", "", "false"), ResponseCode::Success);
    EXPECT_EQ(offsets().topicsOf("Online"), std::vector<std::string>{"T"}) << "what the online group does not subscribe is passed over";
}

TEST_F(OffsetAdminTest, TheLowestOffsetOfOtherGroupsIsOfferedAsCorrection) {
    begin();
    append("T", 0, 9);
    offsets().commit("c", "A", "T", 0, 4);
    offsets().commit("c", "B", "T", 0, 6);
    offsets().commit("c", "G", "T", 0, 8);
    const auto ask = [this](const std::string& compare, const std::string& filter) {
        return context_.call(RequestCode::QueryCorrectionOffset, Fields{{"topic", "T"}, {"compareGroup", compare}, {"filterGroups", filter}}).body();
    };
    EXPECT_EQ(ask("G", ""), R"({"correctionOffsets":{0:4}})");
    EXPECT_EQ(ask("G", "A"), R"({"correctionOffsets":{0:6}})");
    EXPECT_EQ(ask("A", "A"), R"({"correctionOffsets":{0:9223372036854775807}})") << "it is the slowest itself";
    EXPECT_EQ(offsets().query("A", "T", 0), 4) << "asking removes nothing, as it does in RocketMQ";
}

TEST_F(OffsetAdminTest, AGroupIsForbiddenATopicAndAllowedItAgainAlsoAfterARestart) {
    begin();
    const auto ask = [this](const std::string& readable, const std::string& group = "G") {
        Fields fields{{"group", group}, {"topic", "T"}};
        if (!readable.empty()) fields.emplace_back("readable", readable);
        return context_.call(RequestCode::UpdateAndGetGroupForbidden, fields);
    };
    const auto member = connect("c@1", "G", "T");
    EXPECT_EQ(ask("").body(), R"({"group":"G","readable":true,"topic":"T"})");
    EXPECT_EQ(ask("false").body(), R"({"group":"G","readable":false,"topic":"T"})");
    EXPECT_TRUE(groups().readForbidden("G", "T"));
    EXPECT_FALSE(groups().readForbidden("G", "U"));
    EXPECT_EQ(member->pushed().back().code, 40) << "members hear of it";
    EXPECT_EQ(ask("false", "NoSuchG").code(), ResponseCode::SubscriptionGroupNotExist);

    // A killed broker: a second table reads the same directory.
    testkit::FakeContext second;
    second.brokerIdentity().storeRoot = dir_.path();
    testkit::PluginRunner runner(second);
    runner.add<topics::TopicsPlugin>();
    ASSERT_TRUE(runner.start());
    EXPECT_TRUE(recorded::provided<service::SubscriptionGroups>(second).readForbidden("G", "T"));
    EXPECT_EQ(ask("true").body(), R"({"group":"G","readable":true,"topic":"T"})");
    EXPECT_FALSE(groups().readForbidden("G", "T"));
}

}  // namespace
}  // namespace patchbay::plugins::consumer_admin
