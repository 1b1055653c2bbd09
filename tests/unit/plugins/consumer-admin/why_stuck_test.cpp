// Proves: each way in which a group stands still is named, in a sentence and with the queue's facts.
// How: the plugin above real tables; pulls, commits and locks are played by their services. Left to others: patchctl.
#include "Bench.h"

#include "patchbay/protocol/PrivateCode.h"

namespace patchbay::plugins::consumer_admin {
namespace {

using service::PullOutcome;

class WhyStuckTest : public ConsumerAdminTest {
protected:
    void begin() {
        ConsumerAdminTest::begin();
        makeTopic("T", 2);
    }
    std::string report(const std::string& group = "G") {
        auto call = context_.call(static_cast<RequestCode>(protocol::PrivateCode::WhyStuck), Fields{{"group", group}});
        EXPECT_EQ(call.code(), ResponseCode::Success) << call.remark();
        return call.body();
    }
    std::string sentence(const std::string& group = "G") {
        const std::string body = report(group);
        const auto document = json::Document::parse(body);
        EXPECT_TRUE(document) << body;
        return std::string(document->root()["sentence"].string().value_or(""));
    }
    bool says(const std::string& text) {
        const std::string now = sentence();
        return now.find(text) != std::string::npos ? true : (ADD_FAILURE() << now, false);
    }
    void pulled(const Ref<testkit::FakePeer>& peer, std::int64_t next, PullOutcome outcome, std::int64_t delivered = 0, std::int64_t filtered = 0) {
        offsets().notePull("G", "T", 0, {next, peer->id(), delivered, filtered, outcome});
    }
    /// Time goes by, and members keep up their heartbeats.
    void wait(const Ref<testkit::FakePeer>& peer, std::chrono::seconds time) {
        for (; time > 0s; time -= 10s) {
            context_.advance(10s);
            testkit::CallOptions options;
            options.peer = peer;
            beat(options, "c@1", "G", "T");
        }
    }
};

TEST_F(WhyStuckTest, AGroupThatIsNotThereOrNotOnLineOrSwitchedOff) {
    begin();
    EXPECT_EQ(sentence("Nobody"), "There is no such group on this broker.");
    makeGroup("G");
    EXPECT_EQ(sentence(), "No member is on line, and nobody has consumed with this group here: it has no offsets.");
    offsets().commit("c", "G", "T", 0, 0);
    EXPECT_EQ(sentence(), "No member is on line, and nothing waits.");
    append("T", 0, 3);
    offsets().commit("c", "G", "T", 0, 1);
    EXPECT_EQ(sentence(), "No member is on line; 2 messages wait.");
    auto config = *groups().get("G");
    config.consumeEnable = false;
    ASSERT_TRUE(groups().put(config));
    EXPECT_TRUE(says("switched off"));
}

TEST_F(WhyStuckTest, AGroupThatIsWellIsSaidToBe) {
    begin();
    const auto peer = connect("c@1", "G", "T");
    EXPECT_EQ(sentence(), "Nothing is wrong: nothing waits.");
    append("T", 0, 5);
    pulled(peer, 3, PullOutcome::Delivered, 3);
    offsets().commit("c", "G", "T", 0, 1);
    EXPECT_EQ(sentence(), "Nothing is wrong: the group is 4 messages behind and gets on.");
    append("%DLQ%G", 0, 2);
    EXPECT_EQ(sentence(), "Nothing is wrong: the group is 4 messages behind and gets on; 2 dead letters lie in %DLQ%G.");
}

TEST_F(WhyStuckTest, WhatWaitsIsToldAlsoOfAGroupThatIsSwitchedOffOrWasNeverThere) {
    begin();
    makeGroup("G");
    append("%DLQ%G", 0, 1);
    EXPECT_EQ(sentence(), "No member is on line, and nobody has consumed with this group here: it has no offsets; 1 dead letter lies in %DLQ%G.");
    append("T", 0, 3);
    offsets().commit("c", "G", "T", 0, 2);
    auto config = *groups().get("G");
    config.consumeEnable = false;
    ASSERT_TRUE(groups().put(config));
    EXPECT_EQ(sentence(), "Consumption is switched off for the group (consumeEnable); 1 message waits; no member is on line either; 1 dead letter lies in %DLQ%G.");
    connect("c@1", "G", "T");
    EXPECT_EQ(sentence(), "Consumption is switched off for the group (consumeEnable); 1 message waits; 1 dead letter lies in %DLQ%G.");
}

TEST_F(WhyStuckTest, MembersWithoutAQueueAndTopicsThatAreSubscribedNoMore) {
    begin();
    makeTopic("Old", 1);
    append("Old", 0, 5);
    offsets().commit("c", "G", "Old", 0, 1);
    for (const char* id : {"c@1", "c@2", "c@3"}) connect(id, "G", "T", std::string("127.0.0.1:5000") + id[2]);
    EXPECT_EQ(sentence(), "Nothing is wrong: nothing waits; Old is not subscribed any more, and 4 messages wait there; its 3 members are more than the "
                          "2 queues that a topic has here at most: unless other brokers have more of them, 1 of the members can have none.");
}

TEST_F(WhyStuckTest, WhoKeepsItsOffsetsItselfIsNotSaidToCommitNothing) {
    begin();
    testkit::CallOptions options;
    options.peer = context_.peer("127.0.0.1:50001");
    auto data = test::consumerHeartbeat("c@1", "G", "T", "*");
    data.consumerDataSet.front().messageModel = protocol::MessageModel::Broadcasting;
    const auto beatNow = [&] { EXPECT_EQ(context_.call(RequestCode::HeartBeat, Fields{}, data.toJson(), options).code(), ResponseCode::Success); };
    beatNow();
    append("T", 0, 40);
    pulled(options.peer, 40, PullOutcome::Held, 40);
    for (int i = 0; i < 6; ++i) {
        context_.advance(10s);
        beatNow();
        pulled(options.peer, 40, PullOutcome::Held);
    }
    EXPECT_EQ(sentence(), "Nothing is wrong as far as the broker sees: the group consumes by broadcasting, and its 1 member keeps its own offsets.");
    EXPECT_NE(report().find("\"lag\":0"), std::string::npos) << "behind what was pulled last";
}

TEST_F(WhyStuckTest, AQueueWhosePullerIsGone) {
    begin();
    const auto gone = context_.peer("127.0.0.1:50009");
    connect("c@1", "G", "T");
    append("T", 0, 5);
    pulled(gone, 2, PullOutcome::Delivered, 2);
    context_.advance(7s);
    EXPECT_EQ(sentence(), "Queue 0 of T is 5 messages behind: nobody pulls it, and who did, 7 seconds ago, is not on line.");
}

TEST_F(WhyStuckTest, AQueueThatNobodyPulls) {
    begin();
    const auto peer = connect("c@1", "G", "T");
    append("T", 1, 5);
    EXPECT_EQ(sentence(), "Queue 1 of T is 5 messages behind: nobody pulls it.");
    const auto gone = context_.peer("127.0.0.1:50009");
    const auto lock = [this](const std::string& client) {
        protocol::LockBatchRequest request;
        request.consumerGroup = "G";
        request.clientId = client;
        request.mqSet.push_back({"T", "gold-a", 1});
        static_cast<void>(context_.call(RequestCode::LockBatchMq, Fields{}, request.toJson()));
    };
    lock("gone@1");
    EXPECT_TRUE(says("nobody pulls it, while gone@1, who is gone, holds its lock"));
    wait(peer, 70s);
    EXPECT_EQ(sentence(), "Queue 1 of T is 5 messages behind: nobody pulls it.") << "the lock has ended";
}

TEST_F(WhyStuckTest, AMemberThatTookMessagesAndDoesNotFinish) {
    begin();
    const auto peer = connect("c@1", "G", "T");
    append("T", 0, 40);
    offsets().commit("c", "G", "T", 0, 0);
    pulled(peer, 32, PullOutcome::Delivered, 32);
    wait(peer, 30s);
    EXPECT_TRUE(says("gets on")) << "half a minute is nothing";
    wait(peer, 30s);
    EXPECT_EQ(sentence(), "Queue 0 of T is 40 messages behind: c@1 stopped pulling 60 seconds ago with 32 messages in hand: its handlers do "
                          "not finish, or its cache is full.");
    pulled(peer, 40, PullOutcome::Held);
    EXPECT_TRUE(says("c@1 has 40 messages in hand and commits nothing"));
    offsets().commit("c", "G", "T", 0, 30);
    EXPECT_TRUE(says("gets on"));
}

TEST_F(WhyStuckTest, AnOffsetBeyondTheEnd) {
    begin();
    append("T", 0, 5);
    append("T", 1, 3);
    makeGroup("G");
    offsets().commit("c", "G", "T", 0, 99);
    EXPECT_NE(report().find("\"problem\":\"its offset 99 lies beyond the end, 5\""), std::string::npos) << report();
    EXPECT_EQ(sentence(), "No member is on line; 3 messages wait.") << "it hides nothing of the other queue";
    connect("c@1", "G", "T");
    offsets().commit("c", "G", "T", 1, 3);
    EXPECT_EQ(sentence(), "Queue 0 of T: its offset 99 lies beyond the end, 5.");
}

TEST_F(WhyStuckTest, AFilterThatWantsNothing) {
    begin();
    const auto peer = connect("c@1", "G", "T", "127.0.0.1:50001", protocol::kVersion, "TagX");
    append("T", 0, 12);
    pulled(peer, 12, PullOutcome::Filtered, 0, 12);
    EXPECT_EQ(sentence(), "Queue 0 of T is 12 messages behind: none of the 12 messages looked at is wanted by the group's expression.");
}

TEST_F(WhyStuckTest, MembersThatDisagreeAndIdsThatAreShared) {
    begin();
    connect("c@1", "G", "T");
    connect("c@2", "G", "T", "127.0.0.1:50002", protocol::kVersion, "TagA");
    EXPECT_TRUE(says("Its members want different messages of T, and the newest wish counts for all: "));
    EXPECT_TRUE(says("c@2 at 127.0.0.1:50002 wants TagA"));
    connect("c@1", "G", "T", "127.0.0.1:50003");
    EXPECT_TRUE(says("Connections share a client id, so some queues are consumed by nobody or twice: "));
    const auto document = json::Document::parse(report());
    EXPECT_TRUE(document);
}

TEST_F(WhyStuckTest, ATopicThatIsForbiddenGoneOrNotReadable) {
    begin();
    connect("c@1", "G", "T");
    append("T", 0, 1);
    ASSERT_TRUE(groups().setReadForbidden("G", "T", true));
    EXPECT_EQ(sentence(), "T: the group is forbidden to read the topic.");
    ASSERT_TRUE(groups().setReadForbidden("G", "T", false));
    auto config = *topics().get("T");
    config.perm = 2;
    ASSERT_TRUE(topics().put(config));
    EXPECT_EQ(sentence(), "T: the topic's permission forbids reading.");
    ASSERT_TRUE(topics().remove("T"));
    EXPECT_EQ(sentence(), "T: the topic does not exist here.");
}

TEST_F(WhyStuckTest, TheFactsOfAQueueAreInTheBody) {
    begin();
    const auto peer = connect("c@1", "G", "T");
    append("T", 0, 8);
    pulled(peer, 6, PullOutcome::Delivered, 5, 1);
    offsets().commit("c", "G", "T", 0, 2);
    offsets().assignReset("G", "T", 0, 4);
    context_.advance(1s);
    const std::string body = report();
    const auto document = json::Document::parse(body, {.strict = true});
    ASSERT_TRUE(document) << body;
    const auto topic = (*document->root()["topics"].begin()).value;
    EXPECT_EQ(topic["topic"].string(), "T");
    const auto queue = (*topic["queues"].begin()).value;
    EXPECT_EQ(queue["owner"].string(), "c@1");
    EXPECT_EQ(queue["ownerAddress"].string(), "127.0.0.1:50001");
    EXPECT_EQ(queue["committed"].integer(), 4);
    EXPECT_EQ(queue["resetTo"].integer(), 4);
    EXPECT_EQ(queue["lag"].integer(), 4);
    EXPECT_EQ(queue["inHand"].integer(), 2);
    EXPECT_EQ(queue["pullAgeMs"].integer(), 1000);
    EXPECT_EQ(queue["lastPull"].string(), "delivered");
    EXPECT_EQ(queue["delivered"].integer(), 5);
    EXPECT_EQ(queue["filtered"].integer(), 1);
    EXPECT_EQ(queue["problem"].string(), "a reset to 4 waits for the next pull");
    EXPECT_EQ(context_.call(static_cast<RequestCode>(protocol::PrivateCode::WhyStuck)).code(), ResponseCode::SystemError) << "without a group";
}

}  // namespace
}  // namespace patchbay::plugins::consumer_admin
