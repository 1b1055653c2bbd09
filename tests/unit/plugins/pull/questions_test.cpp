// Proves: what is answered about the ends of queues and of single messages, and that such questions hold nothing up.
// How: PullBench.h. Left to others: pulls (pull_test), key indexes (contract suite).
#include "PullBench.h"

namespace patchbay::plugins::pull {
namespace {

TEST_F(PullTest, AnswersQuestionsAboutQueues) {
    begin();
    append("a");
    const std::int64_t first = context_.clock().wallMs();
    context_.advance(1s);
    append("b");
    const auto ask = [this](RequestCode code) { return context_.call(code, protocol::QueueRequest{"T", 0, {}}); };
    EXPECT_EQ(ask(RequestCode::GetMaxOffset).field("offset"), "2");
    EXPECT_EQ(ask(RequestCode::GetMinOffset).field("offset"), "0");
    EXPECT_EQ(ask(RequestCode::GetEarliestMsgStoretime).field("timestamp"), std::to_string(first));
    const auto search = [this](std::int64_t time) {
        return context_.call(RequestCode::SearchOffsetByTimestamp, protocol::SearchOffsetRequest{"T", 0, time, "lower"}).field("offset");
    };
    EXPECT_EQ(search(first), "0");
    EXPECT_EQ(search(first + 1), "1");
    EXPECT_EQ(search(first + 2000), "2") << "after the last message the end, so that nothing is read twice";
    EXPECT_EQ(context_.call(RequestCode::GetMaxOffset, protocol::QueueRequest{"Nowhere", 3, {}}).field("offset"), "0");
}

TEST_F(PullTest, QuestionsForTheEndsOfAQueueThatWasNotLookedAtGoToTheExecutor) {
    begin();
    append("a");
    store_.setLoaded(false);
    for (const auto& [code, offset] : {std::pair(RequestCode::GetMaxOffset, "1"), std::pair(RequestCode::GetMinOffset, "0")}) {
        auto result = context_.call(code, protocol::QueueRequest{"T", 0, {}});
        context_.pump();
        ASSERT_TRUE(result.answered());
        EXPECT_EQ(result.field("offset"), offset);
        EXPECT_EQ(result.rounds(), 2);
    }
    auto nowhere = context_.call(RequestCode::GetMaxOffset, protocol::QueueRequest{"Nowhere", 3, {}});
    EXPECT_EQ(nowhere.rounds(), 1) << "what does not exist need not be looked for";
    store_.setLoaded(true);
    const auto missed = store_.stats().readsMissed;
    EXPECT_EQ(context_.call(RequestCode::GetMaxOffset, protocol::QueueRequest{"T", 0, {}}).rounds(), 1);
    EXPECT_EQ(store_.stats().readsMissed, missed) << "nobody pulled";
}

TEST_F(PullTest, AResetWaitsForTheExecutorWhereItsQueueWasNotLookedAt) {
    begin();
    append("a");
    append("b");
    store_.setLoaded(false);
    offsets_.assignReset("g", "T", 0, 1);
    auto result = pull(0);
    context_.pump();
    EXPECT_EQ(result.rounds(), 2);
    EXPECT_EQ(result.code(), ResponseCode::PullOffsetMoved);
    EXPECT_EQ(result.field("nextBeginOffset"), "1");
    EXPECT_EQ(result.field("maxOffset"), "2");
}

TEST_F(PullTest, ShowsAMessageByItsOffset) {
    begin();
    append("seen");
    auto found = context_.call(RequestCode::ViewMessageById, protocol::ViewMessageRequest{"T", 0});
    EXPECT_EQ(found.code(), ResponseCode::Success);
    EXPECT_EQ(bodies(found), std::vector<std::string>{"seen"});
    auto missing = context_.call(RequestCode::ViewMessageById, protocol::ViewMessageRequest{"T", 12'345});
    EXPECT_EQ(missing.code(), ResponseCode::SystemError);
    EXPECT_EQ(missing.remark(), "can not find message by the offset, 12345");
}

TEST_F(PullTest, QueriesByKeyOrSaysThatThereIsNothing) {
    begin();
    testkit::TestMessage message;
    message.topic = "T";
    message.keys = "order-1";
    ASSERT_EQ(testkit::appendOne(store_, message).status, service::AppendStatus::PutOk);
    const auto query = [this](std::string_view key) {
        protocol::QueryMessageRequest header;
        header.topic = "T";
        header.key = key;
        header.maxNum = 8;
        header.endTimestamp = INT64_MAX;
        return context_.call(RequestCode::QueryMessage, header);
    };
    EXPECT_EQ(bodies(query("order-1")).size(), 1U);
    EXPECT_EQ(context_.binding(RequestCode::QueryMessage)->executor.name, "query") << "cold pulls do not wait behind it";
    EXPECT_EQ(query("order-2").code(), ResponseCode::QueryNotFound);
}

TEST_F(PullTest, ColdPullsDoNotWaitBehindQueries) {
    begin();
    const auto* query = context_.binding(RequestCode::QueryMessage);
    ASSERT_NE(query, nullptr);
    EXPECT_FALSE(query->loopSafe);
    EXPECT_EQ(query->executor.name, "query");
    EXPECT_EQ(context_.binding(RequestCode::PullMessage)->executor.name, "pull");
}

TEST_F(PullTest, AQueryGetsNoMoreThanRocketMqWouldGive) {
    begin();
    testkit::TestMessage message;
    message.topic = "T";
    message.keys = "order-1";
    for (int i = 0; i < 65; ++i) ASSERT_EQ(testkit::appendOne(store_, message).status, service::AppendStatus::PutOk);
    protocol::QueryMessageRequest header;
    header.topic = "T";
    header.key = "order-1";
    header.maxNum = 1'000'000;
    header.endTimestamp = INT64_MAX;
    EXPECT_EQ(bodies(context_.call(RequestCode::QueryMessage, header)).size(), 64U);
}

}  // namespace
}  // namespace patchbay::plugins::pull
