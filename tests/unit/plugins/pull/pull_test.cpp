// Proves: what a consumer is answered, when a pull is held and what wakes it, and who is refused with which words.
// How: PullBench.h.
// Left to others: filters (filtered_pull_test), the holder itself (suspended_test), the store (contract suite), clients (interop).
#include "Budget.h"
#include "PullBench.h"

namespace patchbay::plugins::pull {
namespace {

TEST_F(PullTest, GivesMessagesAndWhereToGoOn) {
    begin();
    append("a");
    append("b");
    auto result = pull(0);
    EXPECT_EQ(result.code(), ResponseCode::Success);
    EXPECT_EQ(result.remark(), "FOUND");
    EXPECT_EQ(bodies(result), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(result.field("nextBeginOffset"), "2");
    EXPECT_EQ(result.field("minOffset"), "0");
    EXPECT_EQ(result.field("maxOffset"), "2");
    EXPECT_EQ(result.field("suggestWhichBrokerId"), "0");
    EXPECT_EQ(result.field("topicSysFlag"), "0");
    EXPECT_EQ(result.field("groupSysFlag"), "0");
}

TEST_F(PullTest, LimitsOfAnAnswerChangeWhileItRuns) {
    begin();
    for (int i = 0; i < 5; ++i) append("message");
    EXPECT_EQ(bodies(pull(0)).size(), 5U);
    ASSERT_TRUE(runner_.reconfigure(*plugin_, {{"maxTransferCountOnMessageInMemory", "3"}}));
    EXPECT_EQ(bodies(pull(0)).size(), 3U);
    ASSERT_TRUE(runner_.reconfigure(*plugin_, {{"maxTransferBytesOnMessageInMemory", "1"}}));
    EXPECT_EQ(bodies(pull(0)).size(), 1U) << "the first one counts always";
}

TEST_F(PullTest, LongNamesAndTextsAreRefusedAndNotRemembered) {
    groups_.groups[std::string(20, 'g')] = {};
    groups_.groups[std::string(21, 'g')] = {};
    begin({{"groupLengthMax", "20"}, {"clientIdLengthMax", "30"}, {"subscriptionLengthMax", "256"}});
    const auto answer = [&](const protocol::PullMessageRequest& header, RequestCode code = RequestCode::PullMessage) {
        auto result = context_.call(code, header);
        return std::to_string(static_cast<int>(result.code())) + ' ' + result.remark();
    };
    auto header = request(0);
    const std::string group(21, 'g');
    header.consumerGroup = group;
    EXPECT_EQ(answer(header), "29 the name of a group has 21 bytes, limit groupLengthMax 20");
    EXPECT_EQ(answer(header, RequestCode::LitePullMessage), "29 the name of a group has 21 bytes, limit groupLengthMax 20");
    header = request(0);
    const std::string client(31, 'c');
    header.proxyForwardClientId = client;
    EXPECT_EQ(answer(header), "29 the client id has 31 bytes, limit clientIdLengthMax 30");
    const std::string text(256, 'x');
    header = request(0, kSubscribed, text);
    EXPECT_EQ(answer(header), "23 a subscription has 257 bytes, limit subscriptionLengthMax 256");
    header = request(0, kSubscribed, std::string_view(text).substr(5));
    header.expressionType = "SQL92";
    EXPECT_EQ(answer(header), "23 a subscription has 257 bytes, limit subscriptionLengthMax 256");
    EXPECT_TRUE(clients_.compensated.empty());

    header = request(0, kSubscribed, std::string_view(text).substr(1));
    header.consumerGroup = std::string_view(group).substr(1);
    header.proxyForwardClientId = std::string_view(client).substr(1);
    EXPECT_EQ(answer(header), "19 NO_MESSAGE_IN_QUEUE");
    EXPECT_EQ(clients_.compensated.size(), 1U);
}

TEST_F(PullTest, AsksForNoneGetsOneAsFromRocketMq) {
    begin();
    append("a");
    append("b");
    auto header = request(0);
    header.maxMsgNums = 0;
    EXPECT_EQ(bodies(pull(header)), std::vector<std::string>{"a"});
    header.maxMsgNums = 1'000'000;
    EXPECT_EQ(bodies(pull(header)).size(), 2U);
}

TEST_F(PullTest, AnswersEveryOffsetAsTheTableSays) {
    begin();
    append("a");
    append("b");
    struct Case { std::int64_t offset; ResponseCode code; std::string remark; std::string next; };
    for (const auto& c : {Case{2, ResponseCode::PullNotFound, "OFFSET_OVERFLOW_ONE", "2"},
                          Case{3, ResponseCode::PullOffsetMoved, "OFFSET_OVERFLOW_BADLY", "2"},
                          Case{9999, ResponseCode::PullOffsetMoved, "OFFSET_OVERFLOW_BADLY", "2"},
                          Case{-5, ResponseCode::PullOffsetMoved, "OFFSET_TOO_SMALL", "0"}}) {
        auto result = pull(c.offset);
        EXPECT_EQ(result.code(), c.code) << c.offset;
        EXPECT_EQ(result.remark(), c.remark) << c.offset;
        EXPECT_EQ(result.field("nextBeginOffset"), c.next) << c.offset;
    }
    auto empty = request(0);
    empty.queueId = 1;
    EXPECT_EQ(pull(empty).code(), ResponseCode::PullNotFound);
    empty.queueOffset = 3;
    auto moved = pull(empty);
    EXPECT_EQ(moved.code(), ResponseCode::PullOffsetMoved);
    EXPECT_EQ(moved.field("nextBeginOffset"), "0");
}

TEST_F(PullTest, FiltersByTagsAndSkipsWhatDoesNotMatch) {
    begin();
    append("1", "a");
    append("2", "b");
    append("3", "c");
    EXPECT_EQ(bodies(pull(0, kSubscribed, "a || c")), (std::vector<std::string>{"1", "3"}));
    auto none = pull(0, kSubscribed, "x");
    EXPECT_EQ(none.code(), ResponseCode::PullRetryImmediately);
    EXPECT_EQ(none.remark(), "NO_MATCHED_MESSAGE");
    EXPECT_EQ(none.field("nextBeginOffset"), "3");
}

TEST_F(PullTest, TagsOfEqualHashAreLeftToTheClientAndTheOffsetAdvances) {
    begin();
    ASSERT_EQ(protocol::javaHashCode("Aa"), protocol::javaHashCode("BB"));
    append("b", "BB");
    auto result = pull(0, kSubscribed, "Aa");
    EXPECT_EQ(result.code(), ResponseCode::Success);
    EXPECT_EQ(result.field("nextBeginOffset"), "1");
}

TEST_F(PullTest, HoldsUntilAMessageArrives) {
    begin();
    auto result = pull(0, kHold);
    ASSERT_TRUE(result.held());
    append("now");
    ASSERT_TRUE(result.answered());
    EXPECT_EQ(bodies(result), std::vector<std::string>{"now"});
    EXPECT_EQ(result.rounds(), 2);
}

TEST_F(PullTest, OnlyAWantedMessageWakesAHeldPull) {
    begin();
    auto result = pull(0, kHold, "b");
    append("other queue", "b", 1);
    append("other tag", "a");
    EXPECT_TRUE(result.held());
    append("mine", "b");
    ASSERT_TRUE(result.answered());
    EXPECT_EQ(bodies(result), std::vector<std::string>{"mine"});
}

TEST_F(PullTest, WakesAllThatWaitOnAQueue) {
    begin();
    auto one = pull(0, kHold);
    auto two = pull(0, kHold);
    append("m");
    EXPECT_TRUE(one.answered() && two.answered());
}

TEST_F(PullTest, AnswersNotFoundWhenTheTimeIsOver) {
    begin();
    auto result = pull(0, kHold);
    context_.advance(14'900ms);
    EXPECT_TRUE(result.held());
    context_.advance(600ms);
    ASSERT_TRUE(result.answered());
    EXPECT_EQ(result.code(), ResponseCode::PullNotFound);
    context_.advance(1s);
    EXPECT_EQ(context_.timers().count(), 0U) << "nothing ticks while nothing is held";
}

TEST_F(PullTest, ShortPollingHoldsForItsOwnTime) {
    begin({{"longPollingEnable", "false"}, {"shortPollingTimeMills", "1000"}});
    auto result = pull(0, kHold);
    context_.advance(900ms);
    EXPECT_TRUE(result.held());
    context_.advance(400ms);
    EXPECT_TRUE(result.answered());
}

TEST_F(PullTest, IsNotHeldWithoutAskingForIt) {
    begin();
    EXPECT_EQ(pull(0, kSubscribed).code(), ResponseCode::PullNotFound);
}

TEST_F(PullTest, IsAnsweredAtOnceWhenTheHoldIsFull) {
    begin({{"heldPullsMax", "1"}});
    auto first = pull(0, kHold);
    auto second = pull(0, kHold);
    EXPECT_TRUE(first.held());
    EXPECT_EQ(second.code(), ResponseCode::PullNotFound);
    append("x");
    EXPECT_TRUE(first.answered());
}

TEST_F(PullTest, HeldPullsTakeNoMoreMemoryThanTheyMay) {
    begin({{"heldPullsBytesMax", "30000"}});
    const std::string tag(20'000, 'x');
    auto first = pull(0, kHold, tag);
    EXPECT_TRUE(first.held());
    EXPECT_EQ(pull(0, kHold, tag).code(), ResponseCode::PullNotFound);
    EXPECT_TRUE(pull(0, kHold).held()) << "a small one";
    append("x", tag);
    EXPECT_TRUE(first.answered());
    EXPECT_TRUE(pull(1, kHold, tag).held()) << "what was answered counts no more";
}

TEST(Budget, IsTakenToTheLastByteAndGivenBack) {
    Budget budget(10);
    auto all = budget.take(10);
    EXPECT_TRUE(all);
    EXPECT_TRUE(budget.take(0));
    EXPECT_FALSE(budget.take(1));
    Share moved = std::move(*all);
    all.reset();
    EXPECT_FALSE(budget.take(1)) << "it moved with its pull";
    moved = Share();
    EXPECT_TRUE(budget.take(10));
    EXPECT_FALSE(budget.take(11));
    EXPECT_TRUE(budget.take(10)) << "nothing was taken by what was refused";
}

TEST_F(PullTest, OneConnectionDoesNotTakeAllThatMayBeHeld) {
    begin({{"heldPullsOfConnectionMax", "2"}});
    auto first = pull(0, kHold);
    auto second = pull(0, kHold);
    EXPECT_TRUE(first.held() && second.held());
    const auto refused = pull(0, kHold);
    EXPECT_EQ(refused.code(), ResponseCode::PullNotFound);
    EXPECT_NE(refused.remark().find("heldPullsOfConnectionMax=2"), std::string::npos) << refused.remark();
    testkit::CallOptions options;
    options.peer = context_.peer();
    EXPECT_TRUE(context_.call(RequestCode::PullMessage, request(0, kHold), {}, options).held()) << "of another connection";
    append("x");
    EXPECT_TRUE(pull(1, kHold).held()) << "what was answered counts no more";
}

TEST_F(PullTest, AHeldPullOfAClosedConnectionIsDropped) {
    begin();
    auto peer = context_.peer();
    testkit::CallOptions options;
    options.peer = peer;
    options.mayBeAbandoned = true;
    auto header = request(0, kHold);
    header.suspendTimeoutMillis = 600'000;
    auto result = context_.call(RequestCode::PullMessage, header, "", options);
    EXPECT_TRUE(result.held());
    context_.disconnect(peer);
    context_.advance(30s);
    EXPECT_FALSE(result.held());
    EXPECT_EQ(context_.timers().count(), 0U);
}

TEST_F(PullTest, StoppingHandsHeldPullsBack) {
    begin();
    auto result = pull(0, kHold);
    runner_.stop();
    EXPECT_TRUE(result.answered());
}

TEST_F(PullTest, ReadsFromDiskOnTheExecutor) {
    begin();
    append("cold");
    store_.setResident(false);
    auto result = pull(0);
    context_.pump();
    ASSERT_TRUE(result.answered());
    EXPECT_EQ(bodies(result), std::vector<std::string>{"cold"});
    EXPECT_EQ(result.rounds(), 2);
    ASSERT_NE(context_.binding(RequestCode::PullMessage), nullptr);
    EXPECT_EQ(context_.binding(RequestCode::PullMessage)->executor.name, "pull");
}

TEST_F(PullTest, WhatCannotBeReadIsAskedForAgain) {
    begin();
    append("there");
    append("behind");
    store_.setUnreadable(true);
    const auto result = pull(0);
    ASSERT_TRUE(result.answered());
    // Clients take any code but those of a pull for a failure, and repeat the same request after a pause.
    EXPECT_EQ(result.code(), ResponseCode::SystemError);
    EXPECT_EQ(result.field("nextBeginOffset"), "0");
    store_.setUnreadable(false);
    EXPECT_EQ(bodies(pull(0)).size(), 2U);
}

TEST_F(PullTest, CommitsOnceWhenAsked) {
    begin();
    auto header = request(0, kHold | protocol::kPullFlagCommitOffset);
    header.commitOffset = 7;
    auto result = pull(header);
    EXPECT_EQ(offsets_.query("g", "T", 0), 7);
    offsets_.committed.clear();
    append("wake");
    EXPECT_TRUE(result.answered());
    EXPECT_EQ(offsets_.query("g", "T", 0), -1) << "a woken pull does not commit again";
    EXPECT_EQ(offsets_.notes[FakeOffsets::key("g", "T", 0)].back().nextOffset, 1);
}

TEST_F(PullTest, RemembersHowEachPullEnded) {
    using service::PullOutcome;
    begin();
    append("a", "TagA");
    append("b", "TagB");
    append("c", "TagA");
    const auto last = [this] { return offsets_.notes[FakeOffsets::key("g", "T", 0)].back(); };
    ASSERT_TRUE(pull(0, kSubscribed, "TagA").answered());
    EXPECT_EQ(last().outcome, PullOutcome::Delivered);
    EXPECT_EQ(last().delivered, 2);
    EXPECT_EQ(last().filtered, 1);
    EXPECT_NE(last().peer, 0U);
    ASSERT_TRUE(pull(0, kSubscribed, "TagX").answered());
    EXPECT_EQ(last().outcome, PullOutcome::Filtered);
    EXPECT_EQ(last().filtered, 3);
    ASSERT_TRUE(pull(99).answered());
    EXPECT_EQ(last().outcome, PullOutcome::Moved);
    ASSERT_TRUE(pull(3).answered());
    EXPECT_EQ(last().outcome, PullOutcome::AtEnd);
    const auto held = pull(3, kHold);
    EXPECT_EQ(last().outcome, PullOutcome::Held);
    EXPECT_TRUE(held.held());
}

TEST_F(PullTest, AnAppendOfManyMessagesWakesEachPullOnceAndOnlyThoseThatWantOne) {
    begin();
    auto all = pull(0, kHold);
    auto tagB = pull(0, kHold, "TagB");
    auto tagX = pull(0, kHold, "TagX");
    auto other = request(0, kHold);
    other.queueId = 1;
    auto otherQueue = pull(other);
    auto third = request(0, kHold, "TagB");
    third.queueId = 2;
    auto thirdQueue = pull(third);

    // More than are sorted at once, over two queues in turn; the only TagB is the last.
    testkit::TestBatch batch;
    constexpr int kMessages = 150;
    for (int i = 0; i < kMessages; ++i) {
        testkit::TestMessage message;
        message.topic = "T";
        message.queueId = i % 2;
        message.body = "x";
        message.tags = i == kMessages - 2 ? "TagB" : "TagA";
        batch.add(message);
    }
    batch.appendTo(store_);
    ASSERT_TRUE(batch.wait());
    context_.pump();
    EXPECT_EQ(bodies(all).size(), 32U);
    ASSERT_TRUE(tagB.answered());
    EXPECT_EQ(bodies(tagB).size(), 1U);
    EXPECT_EQ(bodies(otherQueue).size(), 32U);
    EXPECT_TRUE(tagX.held());
    EXPECT_TRUE(thirdQueue.held());
    EXPECT_EQ(all.rounds(), 2);
}

TEST_F(PullTest, ACommitWithAPullDoesNotUndoAReset) {
    begin();
    append("a");
    offsets_.committed[FakeOffsets::key("g", "T", 0)] = 0;
    offsets_.assignReset("g", "T", 0, 0);
    auto header = request(1, kSubscribed | protocol::kPullFlagCommitOffset);
    header.commitOffset = 1;
    auto moved = pull(header);
    EXPECT_EQ(moved.code(), ResponseCode::PullOffsetMoved);
    EXPECT_EQ(moved.field("nextBeginOffset"), "0");
    EXPECT_EQ(offsets_.query("g", "T", 0), 0);
}

TEST_F(PullTest, ABroadcastingClientIsRememberedAndMayBeToldWhereToGoOn) {
    begin();
    append("a");
    clients_.state.online = true;
    clients_.state.model = service::MessageModel::Broadcasting;
    clients_.data = *protocol::SubscriptionData::build("T", "*");
    ASSERT_TRUE(pull(0, 0).answered());
    ASSERT_EQ(offsets_.broadcasts.size(), 1U);
    EXPECT_EQ(offsets_.broadcasts[0], (std::pair<std::string, std::int64_t>{"the member", 0}));

    auto header = request(-1);
    header.requestSource = 1;
    header.proxyForwardClientId = "behind a proxy";
    offsets_.broadcastAt = 1;
    auto moved = pull(header);
    EXPECT_EQ(moved.code(), ResponseCode::PullOffsetMoved);
    EXPECT_EQ(moved.remark(), "OFFSET_RESET");
    EXPECT_EQ(moved.field("nextBeginOffset"), "1");
    EXPECT_EQ(offsets_.broadcasts.back(), (std::pair<std::string, std::int64_t>{"behind a proxy", 1}));

    offsets_.broadcasts.clear();
    clients_.state.consumeType = service::ConsumeType::Actively;
    ASSERT_TRUE(pull(0, 0).answered());
    EXPECT_TRUE(offsets_.broadcasts.empty()) << "whoever pulls by itself keeps its offsets itself";
}

TEST_F(PullTest, ASlowGroupIsSentToTheBrokerOfItsSettings) {
    begin({{"slaveReadEnable", "true"}});
    groups_.groups["g"].whichBrokerWhenConsumeSlowly = 3;
    groups_.groups["g"].brokerId = 2;
    append("a");
    EXPECT_EQ(pull(0).field("suggestWhichBrokerId"), "2") << "it is not far behind";
}

TEST_F(PullTest, ExpressionsOfPullsAreToldToTheRegistry) {
    begin();
    append("a", "TagA");
    ASSERT_TRUE(pull(0, kSubscribed, "TagA").answered());
    EXPECT_EQ(clients_.compensated, std::vector<std::string>{"g T TagA"});
}

TEST_F(PullTest, TellsAResetOnce) {
    begin();
    append("a");
    append("b");
    offsets_.assignReset("g", "T", 0, 1);
    auto result = pull(0);
    EXPECT_EQ(result.code(), ResponseCode::PullOffsetMoved);
    EXPECT_EQ(result.remark(), "OFFSET_RESET");
    EXPECT_EQ(result.field("nextBeginOffset"), "1");
    EXPECT_EQ(pull(1).code(), ResponseCode::Success);
}

TEST_F(PullTest, ABrokerThatMayNotBeReadRefusesFromThenOn) {
    begin();
    EXPECT_NE(pull(0).code(), ResponseCode::NoPermission);
    ASSERT_TRUE(runner_.reconfigure(*plugin_, {{"brokerPermission", "2"}}));
    auto refused = pull(0);
    EXPECT_EQ(refused.code(), ResponseCode::NoPermission);
    EXPECT_EQ(refused.field("forbiddenType"), "1");
    ASSERT_TRUE(runner_.reconfigure(*plugin_, {{"brokerPermission", "4"}}));
    EXPECT_NE(pull(0).code(), ResponseCode::NoPermission);
}

TEST_F(PullTest, RefusesWithRocketMqsCodesAndWords) {
    begin();
    topics_.topics["W"] = {4, 4, 2, 0, false, false};
    groups_.groups["off"].consumeEnable = false;
    const auto faq = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."s;
    struct Case { std::string group; std::string topic; std::int32_t queue; ResponseCode code; std::string remark; std::string type; };
    for (const auto& c : {
             Case{"none", "T", 0, ResponseCode::SubscriptionGroupNotExist, "subscription group [none] does not exist, " + faq, ""},
             Case{"off", "T", 0, ResponseCode::NoPermission, "subscription group no permission, off", "2"},
             Case{"g", "X", 0, ResponseCode::TopicNotExist, "topic[X] not exist, apply first please! " + faq, ""},
             Case{"g", "W", 0, ResponseCode::NoPermission, "the topic[W] pulling message is forbidden", "3"},
             Case{"g", "T", 4, ResponseCode::InvalidParameter, "queueId[4] is illegal, topic:[T] topicConfig.readQueueNums:[4] consumer:[/", ""},
             Case{"g", "T", -1, ResponseCode::InvalidParameter, "queueId[-1] is illegal, topic:[T] topicConfig.readQueueNums:[4] consumer:[/", ""}}) {
        auto header = request(0);
        header.consumerGroup = c.group;
        header.topic = c.topic;
        header.queueId = c.queue;
        auto result = pull(header);
        EXPECT_EQ(result.code(), c.code) << c.remark;
        EXPECT_TRUE(result.remark().starts_with(c.remark)) << result.remark();
        EXPECT_EQ(result.field("forbiddenType"), c.type);
    }
}

TEST_F(PullTest, WithoutASubscriptionTheRegisteredOneCounts) {
    begin();
    append("1", "a");
    append("2", "b");
    auto header = request(0, 0, "");
    header.subVersion = 5;
    EXPECT_EQ(pull(header).code(), ResponseCode::SubscriptionNotExist) << "nobody is online";
    clients_.state.online = true;
    EXPECT_EQ(pull(header).code(), ResponseCode::SubscriptionNotExist) << "the group does not subscribe the topic";
    clients_.data = *protocol::SubscriptionData::build("T", "b");
    clients_.data->subVersion = 4;
    EXPECT_EQ(pull(header).code(), ResponseCode::SubscriptionNotLatest);
    clients_.data->subVersion = 5;
    EXPECT_EQ(bodies(pull(header)), std::vector<std::string>{"2"});
    clients_.state.model = service::MessageModel::Broadcasting;
    groups_.groups["g"].consumeBroadcastEnable = false;
    EXPECT_EQ(pull(header).field("forbiddenType"), "4");
    groups_.groups["g"].consumeBroadcastEnable = true;
    groups_.forbidden = true;
    EXPECT_EQ(pull(header).field("forbiddenType"), "5");
}

TEST_F(PullTest, RefusesFiltersThatItDoesNotHave) {
    begin();
    auto header = request(0, kSubscribed, "a > 1");
    header.expressionType = "SQL92";
    auto result = pull(header);
    EXPECT_EQ(result.code(), ResponseCode::SystemError);
    EXPECT_EQ(result.remark(), "The broker does not support consumer to filter message by SQL92");
    EXPECT_EQ(pull(0, kSubscribed, "||").code(), ResponseCode::SubscriptionParseFailed);
}

TEST_F(PullTest, LitePullCanBeSwitchedOff) {
    begin({{"litePullMessageEnable", "false"}});
    auto result = context_.call(RequestCode::LitePullMessage, request(0));
    EXPECT_EQ(result.code(), ResponseCode::NoPermission);
    EXPECT_EQ(result.field("forbiddenType"), "1");
    EXPECT_EQ(pull(0).code(), ResponseCode::PullNotFound);
}

}  // namespace
}  // namespace patchbay::plugins::pull
