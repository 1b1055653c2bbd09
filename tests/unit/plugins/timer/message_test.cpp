// Proved: when a stored message is due, whatever the precision of the broker that stored it, and when it has to be looked at.
// How: properties as RocketMQ and this broker write them.
// Left to others: how they get there (rewrite_test), what happens then (delivery_test).
#include "TimerMessage.h"

#include <gtest/gtest.h>

namespace patchbay::plugins::timer {
namespace {

using namespace std::string_literals;

constexpr std::int64_t kStored = 1'795'973'731'940;

TEST(TimerMessage, IsDueWhenItsProducerSaid) {
    // Both rounded to a second by RocketMQ.
    EXPECT_EQ(TimerMessage::of("TIMER_DELAY_SEC\0012\2TIMER_OUT_MS\0011795973733000\2"s).dueMs(kStored), kStored + 2000);
    EXPECT_EQ(TimerMessage::of("TIMER_DELIVER_MS\0011795982732054\2TIMER_OUT_MS\0011795982732000\2"s).dueMs(kStored), 1'795'982'732'054);
    EXPECT_EQ(TimerMessage::of("TIMER_DELAY_MS\0015400000\2TIMER_OUT_MS\0011795979131000\2"s).dueMs(kStored), kStored + 5'400'000);
}

TEST(TimerMessage, IsDueWithinItsSlotWhateverElseIsSaid) {
    EXPECT_EQ(TimerMessage::of("TIMER_OUT_MS\1" "5000\2"s).dueMs(10), 6000) << "nothing else: at the end of the longest slot";
    EXPECT_EQ(TimerMessage::of("TIMER_OUT_MS\1" "5000\2TIMER_DELIVER_MS\1" "9000\2"s).dueMs(10), 6000);
    EXPECT_EQ(TimerMessage::of("TIMER_OUT_MS\1" "5000\2TIMER_DELIVER_MS\1" "1\2"s).dueMs(10), 5001);
    EXPECT_EQ(TimerMessage::of("TIMER_OUT_MS\1" "5000\2TIMER_DELAY_SEC\1" "9223372036854775807\2"s).dueMs(10), 6000);
    EXPECT_EQ(TimerMessage::of("TIMER_OUT_MS\1" "5000\2TIMER_DELAY_MS\1" "5100\2"s).dueMs(4000), 6000) << "stored late";
}

TEST(TimerMessage, ACopyThatWasStoredAnewIsNotDueByItsStoreTime) {
    EXPECT_EQ(TimerMessage::of("TIMER_OUT_MS\1" "5000\2TIMER_DELAY_MS\1" "100\2TIMER_ROLL_TIMES\1" "1\2"s).dueMs(4000), 6000);
}

TEST(TimerMessage, TheCountOfItsCopiesEndsWhereItsNumberDoes) {
    EXPECT_EQ(TimerMessage::of("TIMER_OUT_MS\1" "5000\2TIMER_ROLL_TIMES\1" "7\2"s).rolledOnce(), 8);
    EXPECT_EQ(TimerMessage::of("TIMER_OUT_MS\1" "5000\2TIMER_ROLL_TIMES\1" "2147483647\2"s).rolledOnce(), INT32_MAX);
}

TEST(TimerMessage, TheFirstOfThreeWishesCounts) {
    const auto properties = "TIMER_DELIVER_MS\1" "1900\2TIMER_DELAY_MS\1" "700\2TIMER_DELAY_SEC\1" "1\2TIMER_OUT_MS\1" "1000\2"s;
    EXPECT_EQ(TimerMessage::of(properties).dueMs(500), 1500);
}

TEST(TimerMessage, WhatWaitsLongIsLookedAtInBetween) {
    EXPECT_EQ(wakeMs(5000, 1000, 9000), 5000);
    EXPECT_EQ(wakeMs(10'000, 1000, 9000), 1000 + 4500) << "a little more than the time: two halves";
    EXPECT_EQ(wakeMs(13'000, 1000, 9000), 1000 + 9000);
}

}  // namespace
}  // namespace patchbay::plugins::timer
