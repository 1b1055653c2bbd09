// Proved: which messages are moved to the schedule, how they look there, and which wishes are refused.
// How: the service alone, with the default levels and a manual clock.
// Left to others: how they come back (delivery_test), what a producer is answered (send).
#include "DelayRewrite.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/SysFlag.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/ManualClock.h"

#include <gtest/gtest.h>

namespace patchbay::plugins::delay {
namespace {

using namespace std::string_literals;
using protocol::findProperty;

class RewriteTest : public ::testing::Test {
protected:
    service::AppendItem item(std::string_view properties) {
        service::AppendItem made;
        made.topic = "T";
        made.queueId = 3;
        made.tagsCode = 7;
        made.properties = properties;
        return made;
    }
    testkit::ManualClock clock_;
    protocol::DelayLevels levels_ = *protocol::DelayLevels::parse(protocol::kDelayLevelsDefault);
    testkit::FakeContext context_;
    DelayProgress progress_{context_.files(), clock_, "not written", 1};
    DelayRewrite rewrite_{levels_, clock_, nullptr, progress_};
    std::string text_;
};

TEST_F(RewriteTest, ALevelMovesTheMessageToItsQueueOfTheSchedule) {
    const std::string own = "UNIQ_KEY\1U\2DELAY\0012\2TAGS\1a"s;
    auto moved = item(own);
    moved.brokerProperties = "\2MSG_REGION\1r\2";
    ASSERT_TRUE(rewrite_.prepare(moved, text_));
    EXPECT_EQ(moved.topic, "SCHEDULE_TOPIC_XXXX");
    EXPECT_EQ(moved.queueId, 1);
    EXPECT_EQ(moved.tagsCode, clock_.wallMs() + 5000) << "the queue knows when it is due";
    EXPECT_EQ(moved.properties, "UNIQ_KEY\1U\2DELAY\0012\2TAGS\1a\2MSG_REGION\1r\2REAL_TOPIC\1T\2REAL_QID\0013\2"s);
    EXPECT_TRUE(moved.brokerProperties.empty());
}

TEST_F(RewriteTest, ALevelBeyondTheLastIsTheLast) {
    const std::string own = "DELAY\00199\2"s;
    auto moved = item(own);
    ASSERT_TRUE(rewrite_.prepare(moved, text_));
    EXPECT_EQ(moved.queueId, 17);
    EXPECT_EQ(findProperty(text_, "DELAY"), "18");
    EXPECT_EQ(moved.tagsCode, clock_.wallMs() + 7'200'000);
}

TEST_F(RewriteTest, ATimeIsForTheTimers) {
    struct Timers final : service::TimerSchedule {
        Status prepare(service::AppendItem& timed, std::string&) override {
            timed.topic = "timers";
            return Status::ok();
        }
        service::TimerFigures figures() const noexcept override { return {}; }
    } timers;
    DelayRewrite rewrite(levels_, clock_, &timers, progress_);
    const std::string time = "TIMER_DELAY_SEC\0015\2"s;
    auto timed = item(time);
    ASSERT_TRUE(rewrite.prepare(timed, text_));
    EXPECT_EQ(timed.topic, "timers");
    const std::string level = "TIMER_DELAY_SEC\0015\2DELAY\0011\2"s;
    auto levelled = item(level);
    ASSERT_TRUE(rewrite.prepare(levelled, text_));
    EXPECT_EQ(levelled.topic, "SCHEDULE_TOPIC_XXXX");
    const std::string old = "TIMER_DELAY_SEC\0015\2TIMER_OUT_MS\0011\2"s;
    auto delivered = item(old);
    ASSERT_TRUE(rewrite.prepare(delivered, text_));
    EXPECT_EQ(delivered.topic, "T") << "its time has come already";
}

TEST_F(RewriteTest, ALevelWinsOverATimeAndOverAnEarlierPlace) {
    const std::string own = "TIMER_DELAY_SEC\0015\2TIMER_DELIVER_MS\0019\2TIMER_DELAY_MS\0011\2DELAY\0013\2"
                            "REAL_TOPIC\1Old\2REAL_QID\0019\2"s;
    auto moved = item(own);
    ASSERT_TRUE(rewrite_.prepare(moved, text_));
    EXPECT_EQ(text_, "DELAY\0013\2REAL_TOPIC\1T\2REAL_QID\0013\2"s);
}

TEST_F(RewriteTest, MessagesWithoutAWishStayAsTheyAre) {
    for (const std::string& own : {"KEYS\1k\2"s, "DELAY\0010\2"s, "DELAY\1-1\2"s, "TIMER_OUT_MS\00199\2TIMER_DELAY_SEC\0011\2"s}) {
        auto same = item(own);
        ASSERT_TRUE(rewrite_.prepare(same, text_)) << own;
        EXPECT_EQ(same.topic, "T");
        EXPECT_EQ(same.queueId, 3);
        EXPECT_EQ(same.tagsCode, 7);
        EXPECT_EQ(same.properties, own);
        EXPECT_TRUE(text_.empty());
    }
}

TEST_F(RewriteTest, OnlyCommittedTransactionsAreDelayed) {
    const std::string own = "DELAY\0011\2"s;
    for (const auto type : {protocol::kSysFlagPrepared, protocol::kSysFlagRollback}) {
        auto same = item(own);
        same.sysFlag = type;
        ASSERT_TRUE(rewrite_.prepare(same, text_));
        EXPECT_EQ(same.topic, "T");
    }
    auto moved = item(own);
    moved.sysFlag = protocol::kSysFlagCommit;
    ASSERT_TRUE(rewrite_.prepare(moved, text_));
    EXPECT_EQ(moved.topic, protocol::kTopicSchedule);
}

TEST_F(RewriteTest, TimesAndLevelsThatAreNoneAreRefused) {
    for (const std::string& own : {"TIMER_DELAY_SEC\0015\2"s, "TIMER_DELAY_MS\0015\2"s, "TIMER_DELIVER_MS\0015\2"s}) {
        auto refused = item(own);
        const Status status = rewrite_.prepare(refused, text_);
        EXPECT_EQ(status.code(), StatusCode::Unavailable);
        EXPECT_EQ(status.message(), "accurate timer message is not enabled, timerWheelEnable is false");
    }
    auto refused = item("DELAY\1abc\2");
    EXPECT_EQ(rewrite_.prepare(refused, text_).code(), StatusCode::InvalidArgument);
}

}  // namespace
}  // namespace patchbay::plugins::delay
