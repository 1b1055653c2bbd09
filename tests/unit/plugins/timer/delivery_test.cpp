// Proved: timed messages come exactly when they are due, in order, whole, once while nothing is killed and at least once otherwise,
// through refusals, damage, clocks that are set, and waits longer than the store keeps messages.
// How: the plugin on a fake kernel with a manual clock and a store in memory; a kill keeps only what was written before it.
// Left to others: recalls (recall_test), the file (progress_test), real stores and kills (e2e, interop).
#include "Bench.h"

namespace patchbay::plugins::timer {
namespace {

using namespace std::string_literals;
using service::AppendStatus;
using protocol::findProperty;

using Bodies = std::vector<std::string>;

class TimerDeliveryTest : public TimerBench {};

TEST_F(TimerDeliveryTest, ComesToTheMillisecondAndNeverEarlier) {
    start();
    for (const std::int64_t ms : {1, 2, 999, 1000, 1001, 59'999}) {
        const auto before = delivered().size();
        sendIn(ms, "m" + std::to_string(ms));
        if (ms > 1) advance(ms - 1);
        EXPECT_EQ(delivered().size(), before) << ms;
        advance(1);
        EXPECT_EQ(delivered().size(), before + 1) << ms;
    }
}

TEST_F(TimerDeliveryTest, AThousandAroundSecondsAreNeverEarlyNorLate) {
    start();
    advance(1000 - now() % 1000);
    std::map<std::string, std::int64_t> due;
    for (int i = 0; i < 1000; ++i) {
        const std::int64_t at = now() + (i % 10 + 1) * 1000 + i % 3 - 1;
        due["m" + std::to_string(i)] = at;
        send("m" + std::to_string(i), "TIMER_DELIVER_MS=" + std::to_string(at));
    }
    advance(12'000);
    const auto all = stored();
    ASSERT_EQ(all.size(), 1000U);
    for (const auto& message : all) EXPECT_EQ(message.storeTimestamp, due[message.body]) << message.body;
}

TEST_F(TimerDeliveryTest, ADelayCountsFromTheStoreTime) {
    start();
    send("s", "TIMER_DELAY_SEC=2");
    send("ms", "TIMER_DELAY_MS=1500");
    advance(1499);
    EXPECT_EQ(delivered(), Bodies{});
    advance(1);
    EXPECT_EQ(delivered(), Bodies{"ms"});
    advance(499);
    EXPECT_EQ(delivered(), Bodies{"ms"});
    advance(1);
    EXPECT_EQ(delivered(), (Bodies{"ms", "s"}));
}

TEST_F(TimerDeliveryTest, ComeInTheOrderOfTheirTimes) {
    start();
    sendIn(300, "c");
    sendIn(100, "a");
    sendIn(200, "b");
    sendIn(100, "a2");
    advance(1000);
    EXPECT_EQ(delivered(), (Bodies{"a", "a2", "b", "c"}));
}

TEST_F(TimerDeliveryTest, TheDeliveredMessageIsAsRocketMqDeliversIt) {
    start();
    const std::int64_t sent = now();
    sendIn(500, "body");
    advance(500);
    const auto all = stored();
    ASSERT_EQ(all.size(), 1U);
    const auto& properties = all[0].properties;
    EXPECT_EQ(all[0].body, "body");
    EXPECT_EQ(findProperty(properties, "REAL_TOPIC"), "T");
    EXPECT_EQ(findProperty(properties, "REAL_QID"), "2");
    EXPECT_EQ(findProperty(properties, "TIMER_OUT_MS"), std::to_string((sent + 499) / 1000 * 1000));
    EXPECT_EQ(findProperty(properties, "TIMER_ENQUEUE_MS"), std::to_string(sent));
    EXPECT_EQ(findProperty(properties, "TIMER_DEQUEUE_MS"), std::to_string(sent + 500));
    EXPECT_EQ(findProperty(properties, "UNIQ_KEY"), "U-body");
    EXPECT_EQ(findProperty(properties, "TAGS"), "tag");
}

TEST_F(TimerDeliveryTest, NothingTicksWhileNothingWaits) {
    settings_["timerFlushIntervalMs"] = "1h";
    start();
    EXPECT_EQ(context_.timers().count(), 1U) << "the flush";
    sendIn(5000, "a");
    EXPECT_EQ(context_.timers().count(), 2U);
    advance(5000);
    EXPECT_EQ(context_.timers().count(), 1U);
}

TEST_F(TimerDeliveryTest, ManyAtOnceAreAppendedTogether) {
    start();
    const auto appends = store_.appends.size();
    for (int i = 0; i < 600; ++i) sendIn(1000, std::to_string(i));
    advance(1000);
    EXPECT_EQ(delivered().size(), 600U);
    EXPECT_LE(store_.appends.size() - appends, 4U);
}

TEST_F(TimerDeliveryTest, WhatIsRefusedIsTriedAgainAloneUntilItIsStored) {
    start();
    bool refuse = true;
    store_.refuses = [&refuse](const auto& item) { return refuse && item.body == "57" ? AppendStatus::Busy : AppendStatus::PutOk; };
    for (int i = 0; i < 100; ++i) sendIn(1000, std::to_string(i));
    advance(1000);
    EXPECT_EQ(delivered().size(), 99U);
    sendIn(100, "later");
    advance(2000);
    EXPECT_EQ(delivered().size(), 99U) << "order is kept";
    refuse = false;
    advance(200);
    auto all = delivered();
    EXPECT_EQ(all.size(), 101U) << "nothing twice";
    EXPECT_EQ(all.back(), "later");
}

TEST_F(TimerDeliveryTest, WhatNoStoreTakesIsPassedOver) {
    start();
    store_.refuses = [](const auto& item) { return item.body == "bad" ? AppendStatus::MessageIllegal : AppendStatus::PutOk; };
    sendIn(10, "bad");
    sendIn(20, "good");
    advance(100);
    EXPECT_EQ(delivered(), Bodies{"good"});
    EXPECT_EQ(counted("timer_undeliverable_total"), 1U);
}

TEST_F(TimerDeliveryTest, OddMessagesOfTheTopicHarmNothing) {
    start();
    putIntoTopic("no time", "A\1b\2");
    putIntoTopic("no place", "TIMER_OUT_MS\1" + std::to_string(now()) + "\2");
    putIntoTopic("half", "TIMER_OUT_MS\1" + std::to_string(now()) + "\2REAL_TOPIC\1RMQ_SYS_TRANS_HALF_TOPIC\2REAL_QID\0010\2");
    putIntoTopic("loop", "TIMER_OUT_MS\1" + std::to_string(now()) + "\2REAL_TOPIC\1rmq_sys_wheel_timer\2REAL_QID\0010\2");
    sendIn(10, "good");
    advance(2000);
    EXPECT_EQ(delivered(), Bodies{"good"});
    EXPECT_EQ(counted("timer_undeliverable_total"), 4U);
}

TEST_F(TimerDeliveryTest, AStopKeepsWhatWaitsAndRepeatsNothing) {
    start();
    sendIn(100, "a");
    sendIn(10'000, "b");
    sendIn(200, "c");
    advance(1000);
    restart();
    EXPECT_EQ(delivered(), (Bodies{"a", "c"}));
    advance(9000);
    EXPECT_EQ(delivered(), (Bodies{"a", "c", "b"}));
    restart();
    advance(60'000);
    EXPECT_EQ(delivered().size(), 3U);
}

TEST_F(TimerDeliveryTest, WhatCameDueWhileItWasStoppedComesAtTheStart) {
    start();
    sendIn(5000, "b");
    sendIn(4000, "a");
    stop();
    context_.manualClock().advance(std::chrono::hours(1));
    start();
    EXPECT_EQ(delivered(), (Bodies{"a", "b"}));
}

TEST_F(TimerDeliveryTest, AKillLosesNothingAndRepeatsASecondAtMost) {
    start();
    for (int i = 0; i < 50; ++i) {
        sendIn(500 + (i * 37) % 4000, "m" + std::to_string(i));
        advance(100);
        if (i % 7 == 6) kill();
    }
    kill();
    advance(10'000);
    auto all = delivered();
    std::map<std::string, int> times;
    for (const auto& body : all) ++times[body];
    EXPECT_EQ(times.size(), 50U);
    EXPECT_LE(all.size(), 50U + 8U * 25U) << "what was delivered since the last second was written";
    kill();
    advance(1000);
    EXPECT_EQ(delivered().size(), all.size());
}

TEST_F(TimerDeliveryTest, AMessageThatComesAfterItsTimeSurvivesAKill) {
    start();
    sendIn(100, "first");
    advance(5000);
    store_.refuses = [](const auto& item) { return item.body == "late" ? AppendStatus::Busy : AppendStatus::PutOk; };
    // As if it had been on its way for long: its time is over already.
    putIntoTopic("late", "TIMER_OUT_MS\1" + std::to_string(now() - 4000) + "\2REAL_TOPIC\1T\2REAL_QID\0012\2");
    advance(3000);
    kill();
    store_.refuses = nullptr;
    advance(1000);
    EXPECT_EQ(delivered().back(), "late");
}

TEST_F(TimerDeliveryTest, ALongWaitIsStoredAnewInBetween) {
    settings_["timerRollAfter"] = "1000";
    start();
    send("long", "TIMER_DELAY_MS=5300");
    advance(5299);
    EXPECT_EQ(delivered(), Bodies{});
    EXPECT_GE(counted("timer_rolled_total"), 4U);
    advance(1);
    ASSERT_EQ(delivered(), Bodies{"long"});
    EXPECT_EQ(findProperty(stored()[0].properties, "TIMER_ROLL_TIMES"), std::to_string(counted("timer_rolled_total")));
    restart();
    advance(10'000);
    EXPECT_EQ(delivered().size(), 1U) << "its older copies are done with";
}

TEST_F(TimerDeliveryTest, AClockThatIsSetForwardIsNoticed) {
    settings_["timerFlushIntervalMs"] = "1h";
    start();
    sendIn(3'600'000, "a");
    context_.manualClock().setWallMs(now() + 3'600'000);
    advance(10'000);
    EXPECT_EQ(delivered(), Bodies{"a"});
}

TEST_F(TimerDeliveryTest, AnUnreadableTopicIsNotTakenForAnEmptyOne) {
    start();
    sendIn(1000, "a");
    stop();
    store_.unreadableTopic = protocol::kTopicTimer;
    start();
    advance(20'000);
    EXPECT_EQ(delivered(), Bodies{});
    store_.unreadableTopic.clear();
    advance(20'000);
    EXPECT_EQ(delivered(), Bodies{"a"});
}

TEST_F(TimerDeliveryTest, WhatCannotBeReadWhenItIsDueIsReadLater) {
    start();
    sendIn(1000, "a");
    store_.unreadableTopic = protocol::kTopicTimer;
    advance(5000);
    EXPECT_EQ(delivered(), Bodies{});
    store_.unreadableTopic.clear();
    advance(1000);
    EXPECT_EQ(delivered(), Bodies{"a"});
    EXPECT_EQ(counted("timer_undeliverable_total"), 0U);
}

TEST_F(TimerDeliveryTest, ASlaveDeliversNothing) {
    context_.brokerIdentity().brokerId = 1;
    start();
    sendIn(10, "a");
    advance(1000);
    EXPECT_EQ(delivered(), Bodies{});
}

}  // namespace
}  // namespace patchbay::plugins::timer
