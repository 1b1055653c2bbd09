// Proved: which messages are put aside for a time, how they look there, and which wishes are refused with which words.
// How: the service alone, with a manual clock.
// Left to others: how they come back (delivery_test), what a producer is answered (send), that a level wins (delay).
#include "TimerRewrite.h"

#include "patchbay/protocol/message/Properties.h"
#include "patchbay/testkit/ManualClock.h"

#include <gtest/gtest.h>

namespace patchbay::plugins::timer {
namespace {

using namespace std::string_literals;
using protocol::findProperty;

class TimerRewriteTest : public ::testing::Test {
protected:
    service::AppendItem item(std::string_view properties) {
        service::AppendItem made;
        made.topic = "T";
        made.queueId = 3;
        made.tagsCode = 7;
        made.properties = properties;
        return made;
    }
    [[nodiscard]] std::int64_t now() const { return clock_.wallMs(); }
    /// TIMER_OUT_MS of a message that wishes so.
    std::string out(const std::string& properties) {
        auto moved = item(properties);
        const Status done = rewrite_.prepare(moved, text_);
        return done ? std::string(findProperty(text_, "TIMER_OUT_MS")) : done.toString();
    }
    testkit::ManualClock clock_;
    TimerConfig config_;
    TimerRewrite rewrite_{config_, clock_};
    std::string text_;
};

TEST_F(TimerRewriteTest, ATimeMovesTheMessageToTheTimerTopic) {
    const std::string own = "UNIQ_KEY\1U\2TIMER_DELAY_SEC\0015\2TAGS\1a"s;
    auto moved = item(own);
    moved.brokerProperties = "\2MSG_REGION\1r\2";
    ASSERT_TRUE(rewrite_.prepare(moved, text_));
    EXPECT_EQ(moved.topic, "rmq_sys_wheel_timer");
    EXPECT_EQ(moved.queueId, 0);
    EXPECT_EQ(moved.tagsCode, 7);
    const auto rounded = std::to_string((now() + 5000 - 1) / 1000 * 1000);
    EXPECT_EQ(moved.properties, "UNIQ_KEY\1U\2TIMER_DELAY_SEC\0015\2TAGS\1a\2MSG_REGION\1r\2TIMER_OUT_MS\1"s + rounded +
                                    "\2REAL_TOPIC\1T\2REAL_QID\0013\2");
    EXPECT_TRUE(moved.brokerProperties.empty());
}

TEST_F(TimerRewriteTest, WhatAProducerClaimsOfItsPlaceDoesNotCount) {
    const std::string own = "REAL_TOPIC\1Other\2TIMER_DELAY_SEC\0015\2REAL_QID\0019"s;
    auto moved = item(own);
    moved.brokerProperties = "\2MSG_REGION\1r\2";
    ASSERT_TRUE(rewrite_.prepare(moved, text_));
    EXPECT_EQ(findProperty(text_, "REAL_TOPIC"), "T");
    EXPECT_EQ(findProperty(text_, "REAL_QID"), "3");
    EXPECT_EQ(findProperty(text_, "MSG_REGION"), "r");
}

TEST_F(TimerRewriteTest, TimesAreRoundedDownAndNeverReached) {
    const std::int64_t second = now() / 1000 * 1000 + 10'000;
    const auto at = [](std::int64_t ms) { return "TIMER_DELIVER_MS\1" + std::to_string(ms) + "\2"; };
    EXPECT_EQ(out(at(second + 1)), std::to_string(second));
    EXPECT_EQ(out(at(second + 999)), std::to_string(second));
    EXPECT_EQ(out(at(second)), std::to_string(second - 1000)) << "by a whole step when it needs none";
    config_.precisionMs = 1;
    EXPECT_EQ(out(at(second)), std::to_string(second - 1));
}

TEST_F(TimerRewriteTest, WhatIsDueIsStoredAtOnce) {
    for (const std::string& own : {"TIMER_DELIVER_MS\1" + std::to_string(now()) + "\2", "TIMER_DELAY_SEC\0010\2"s, "TIMER_DELAY_MS\1-5\2"s,
                                   "TIMER_DELAY_SEC\1-9223372036854775808\2"s, "TIMER_DELIVER_MS\1-1\2"s}) {
        auto same = item(own);
        ASSERT_TRUE(rewrite_.prepare(same, text_)) << own;
        EXPECT_EQ(same.topic, "T");
        EXPECT_TRUE(text_.empty());
    }
}

TEST_F(TimerRewriteTest, ImpossibleWishesAreRefusedInRocketMqsWords) {
    const std::string words = "timer message illegal, the delay time should not be bigger than the max delay 259200000ms; or if set "
                              "del msg, the delay time should be bigger than the current time";
    for (const std::string& own : {"TIMER_DELAY_SEC\1259201\2"s, "TIMER_DELAY_MS\1259200001\2"s, "TIMER_DELAY_SEC\1x\2"s, "TIMER_DELAY_SEC\1" "5s\2"s,
                                   "TIMER_DELIVER_MS\1" "1e3\2"s, "TIMER_DELAY_SEC\1" "9223372036854775807\2"s, "TIMER_DELIVER_MS\1" "9223372036854775807\2"s,
                                   "TIMER_DELIVER_MS\1" "9223372036854775808\2"s, "TIMER_DELAY_MS\0010\2TIMER_DEL_UNIQKEY\1T+U\2"s}) {
        auto refused = item(own);
        const Status done = rewrite_.prepare(refused, text_);
        EXPECT_EQ(done.code(), StatusCode::InvalidArgument) << own;
        EXPECT_EQ(done.message(), words) << own;
    }
    EXPECT_NE(out("TIMER_DELAY_SEC\1259200\2"), "") << "the limit itself is allowed";
}

TEST_F(TimerRewriteTest, SwitchedOffItRefuses) {
    config_.enabled = false;
    auto refused = item("TIMER_DELAY_SEC\0015\2");
    EXPECT_EQ(rewrite_.prepare(refused, text_).code(), StatusCode::Unavailable);
}

TEST_F(TimerRewriteTest, TooManyThatWaitAreRefused) {
    rewrite_.state().inMemory = config_.pendingMax;
    auto refused = item("TIMER_DELAY_SEC\0015\2");
    EXPECT_EQ(rewrite_.prepare(refused, text_).code(), StatusCode::Busy);
    rewrite_.state().inMemory = config_.pendingMax - 1;
    EXPECT_TRUE(rewrite_.prepare(refused, text_));
}

}  // namespace
}  // namespace patchbay::plugins::timer
