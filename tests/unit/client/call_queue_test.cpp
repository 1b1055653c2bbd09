// Proved: each call is made once; short calls share a thread, long ones get one each up to the limit; what came of them is told in time.
// How: the queue alone, with calls that are said to have taken some time.
// Left to others: the threads (integration_client_consumer).
#include "consumer/CallQueue.h"
#include "message/MessageData.h"

#include <gtest/gtest.h>

#include <vector>

namespace patchbay::client {
namespace {

using namespace std::chrono_literals;

constexpr MonotonicTime kBegin{1h};

std::vector<ReceivedMessage> messages(std::int64_t first, int count) {
    std::vector<ReceivedMessage> made;
    for (int i = 0; i < count; ++i) {
        auto data = std::make_shared<ReceivedMessage::Data>();
        data->record.queueOffset = first + i;
        made.emplace_back(std::move(data));
    }
    return made;
}

CallQueue::Outcome outcomeOf(const CallQueue::Call& call) { return {.call = call, .result = ConsumeResult::Success}; }

/// One helper makes all calls that wait; offsets in the order of the calls.
std::vector<std::int64_t> work(CallQueue& calls, std::chrono::nanoseconds each) {
    std::vector<std::int64_t> offsets;
    auto call = calls.next(kBegin);
    while (call) {
        for (const auto& message : call->messages()) offsets.push_back(message.queueOffset());
        static_cast<void>(calls.ended(outcomeOf(*call), call->since + each, false, call));
    }
    return offsets;
}

TEST(ACallQueue, HandsOutEachMessageOnceInPortionsOfTheBatch) {
    CallQueue calls(2, 1);
    EXPECT_EQ(calls.add({}, messages(1, 3)), 1U);
    EXPECT_EQ(calls.add({}, messages(10, 2)), 0U) << "there may be one helper";
    EXPECT_EQ(work(calls, 1us), (std::vector<std::int64_t>{1, 2, 3, 10, 11}));
    EXPECT_FALSE(calls.isIdle());
    std::vector<std::size_t> sizes;
    for (const auto& outcome : calls.takeOutcomes()) sizes.push_back(outcome.call.count);
    EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 1, 2}));
    EXPECT_TRUE(calls.isIdle());
}

TEST(ACallQueue, AsksForAsManyThreadsAsCallsAreLong) {
    CallQueue calls(1, 20);
    EXPECT_EQ(calls.add({}, messages(0, 5)), 5U) << "nobody knows yet how long they take";
    for (int helper = 0; helper < 5; ++helper) EXPECT_EQ(work(calls, 0us).size(), helper == 0 ? 5U : 0U);
    for (int i = 0; i < 20; ++i) {
        for (auto helpers = calls.add({}, messages(0, 5)); helpers > 0; --helpers) static_cast<void>(work(calls, 0us));
    }
    static_cast<void>(calls.takeOutcomes());
    EXPECT_TRUE(calls.isIdle());
    EXPECT_EQ(calls.add({}, messages(0, 5)), 1U) << "they are short";
    EXPECT_EQ(calls.add({}, messages(9, 5)), 0U);
    EXPECT_EQ(calls.oneMore(), 1U) << "but one of them may have blocked";
    EXPECT_EQ(work(calls, 1ms).size(), 10U);
    EXPECT_EQ(calls.oneMore(), 0U) << "nothing waits";
    EXPECT_EQ(calls.add({}, messages(0, 50)), 19U) << "up to the limit, with the one that is there";
}

TEST(ACallQueue, TellsAtOnceOfLongCallsAndTheLastOne) {
    CallQueue calls(1, 1);
    static_cast<void>(calls.add({}, messages(0, 100)));
    auto call = calls.next(kBegin);
    EXPECT_FALSE(calls.ended(outcomeOf(*call), call->since + 1us, false, call).tell);
    EXPECT_TRUE(calls.ended(outcomeOf(*call), call->since + 1ms, false, call).tell);
    EXPECT_FALSE(calls.ended(outcomeOf(*call), call->since + 1ms, false, call).tell) << "it was told and has not been looked at yet";
    EXPECT_EQ(calls.takeOutcomes().size(), 3U);
    int quiet = 0;
    while (!calls.ended(outcomeOf(*call), call->since + 1us, false, call).tell) ++quiet;
    EXPECT_EQ(quiet, 63) << "many short ones";
    EXPECT_EQ(calls.takeOutcomes().size(), 64U);
    bool told = false;
    while (call) told = calls.ended(outcomeOf(*call), call->since + 1us, false, call).tell;
    EXPECT_TRUE(told);
}

TEST(ACallQueue, LetsAHelperMakeRoomAndGoOnLater) {
    CallQueue calls(1, 1);
    EXPECT_EQ(calls.add({}, messages(0, 2)), 1U);
    auto call = calls.next(kBegin);
    EXPECT_EQ(calls.ended(outcomeOf(*call), call->since + 1us, true, call).helpers, 1U);
    EXPECT_FALSE(call);
    call = calls.next(kBegin);
    ASSERT_TRUE(call);
    EXPECT_EQ(calls.ended(outcomeOf(*call), call->since + 1us, true, call).helpers, 0U) << "nothing is left";
}

TEST(ACallQueue, NamesCallsThatTakeLongAndNoneThatWaits) {
    CallQueue calls(1, 2);
    static_cast<void>(calls.add({}, messages(0, 3)));
    auto first = calls.next(kBegin);
    auto second = calls.next(kBegin + 10s);
    EXPECT_TRUE(calls.overdue(kBegin - 1s).empty());
    ASSERT_EQ(calls.overdue(kBegin).size(), 1U);
    EXPECT_EQ(calls.overdue(kBegin).front().messages().front().queueOffset(), 0);
    EXPECT_EQ(calls.overdue(kBegin + 1h).size(), 2U) << "the third waits, which is no work";
    static_cast<void>(calls.ended(outcomeOf(*first), kBegin + 20s, false, first));
    EXPECT_EQ(calls.overdue(kBegin + 10s).size(), 1U);
    EXPECT_EQ(calls.overdue(kBegin + 20s).size(), 2U) << "now it is being made";
    static_cast<void>(calls.ended(outcomeOf(*first), kBegin + 30s, false, first));
    static_cast<void>(calls.ended(outcomeOf(*second), kBegin + 30s, false, second));
    EXPECT_TRUE(calls.overdue(kBegin + 1h).empty());
}

}  // namespace
}  // namespace patchbay::client
