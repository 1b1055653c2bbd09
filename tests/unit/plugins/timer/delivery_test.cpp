// Proved: timed messages come exactly when they are due, in order, whole, and once, through kills, refusals, damage, clocks that are set,
// and waits longer than the store keeps messages.
// How: the plugin on a fake kernel with a manual clock and a store in memory; a kill keeps only what was written before it.
// Left to others: recalls (recall_test), the file (progress_test), real stores and kills (e2e, interop).
#include "Bench.h"

namespace patchbay::plugins::timer {
namespace {

using namespace std::string_literals;
using service::AppendStatus;
using protocol::findProperty;

using Bodies = std::vector<std::string>;

/// Without RocketMQ's timer files, and with them.
class TimerDeliveryTest : public TimerBench, public ::testing::WithParamInterface<bool> {
protected:
    TimerDeliveryTest() { store_.commitLog = GetParam(); }
};

TEST_P(TimerDeliveryTest, ComesToTheMillisecondAndNeverEarlier) {
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

TEST_P(TimerDeliveryTest, AThousandAroundSecondsAreNeverEarlyAndOfAStreamFiveMillisecondsLate) {
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
    std::set<std::int64_t> times;
    for (const auto& message : all) {
        EXPECT_GE(message.storeTimestamp, due[message.body]) << message.body;
        EXPECT_LE(message.storeTimestamp, due[message.body] + 5) << message.body;
        times.insert(message.storeTimestamp);
    }
    EXPECT_EQ(times.size(), 20U) << "who is due a millisecond after many waits for the others: two appends a second instead of three";
}

TEST_P(TimerDeliveryTest, AFewAroundSecondsAreOnTime) {
    start();
    advance(1000 - now() % 1000);
    std::map<std::string, std::int64_t> due;
    for (int i = 0; i < 30; ++i) {
        const std::int64_t at = now() + (i / 3 + 1) * 1000 + i % 3 - 1;
        due["m" + std::to_string(i)] = at;
        send("m" + std::to_string(i), "TIMER_DELIVER_MS=" + std::to_string(at));
    }
    advance(12'000);
    const auto all = stored();
    ASSERT_EQ(all.size(), 30U);
    for (const auto& message : all) EXPECT_EQ(message.storeTimestamp, due[message.body]) << message.body;
}

TEST_P(TimerDeliveryTest, ADelayCountsFromTheStoreTime) {
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

TEST_P(TimerDeliveryTest, ComeInTheOrderOfTheirTimes) {
    start();
    sendIn(300, "c");
    sendIn(100, "a");
    sendIn(200, "b");
    sendIn(100, "a2");
    advance(1000);
    EXPECT_EQ(delivered(), (Bodies{"a", "a2", "b", "c"}));
}

TEST_P(TimerDeliveryTest, TheDeliveredMessageIsAsRocketMqDeliversIt) {
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

TEST_P(TimerDeliveryTest, NothingTicksWhileNothingWaits) {
    settings_["timerFlushIntervalMs"] = "1h";
    start();
    EXPECT_EQ(context_.timers().count(), 1U) << "the flush";
    sendIn(5000, "a");
    EXPECT_EQ(context_.timers().count(), 2U);
    advance(5000);
    EXPECT_EQ(context_.timers().count(), 1U);
}

TEST_P(TimerDeliveryTest, ManyAtOnceAreAppendedTogether) {
    start();
    const auto appends = store_.appends.size();
    for (int i = 0; i < 600; ++i) sendIn(1000, std::to_string(i));
    advance(1000);
    EXPECT_EQ(delivered().size(), 600U);
    EXPECT_LE(store_.appends.size() - appends, 4U);
}

TEST_P(TimerDeliveryTest, WhatIsRefusedIsTriedAgainAloneUntilItIsStored) {
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

TEST_P(TimerDeliveryTest, WhatNoStoreTakesIsPassedOver) {
    start();
    store_.refuses = [](const auto& item) { return item.body == "bad" ? AppendStatus::MessageIllegal : AppendStatus::PutOk; };
    sendIn(10, "bad");
    sendIn(20, "good");
    advance(100);
    EXPECT_EQ(delivered(), Bodies{"good"});
    EXPECT_EQ(counted("timer_undeliverable_total"), 1U);
}

TEST_P(TimerDeliveryTest, OddMessagesOfTheTopicHarmNothing) {
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

TEST_P(TimerDeliveryTest, AStopKeepsWhatWaitsAndRepeatsNothing) {
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

TEST_P(TimerDeliveryTest, WhatCameDueWhileItWasStoppedComesAtTheStart) {
    start();
    sendIn(5000, "b");
    sendIn(4000, "a");
    stop();
    context_.manualClock().advance(std::chrono::hours(1));
    start();
    EXPECT_EQ(delivered(), (Bodies{"a", "b"}));
}

TEST_P(TimerDeliveryTest, AKillLosesNothingAndRepeatsNothing) {
    start();
    for (int i = 0; i < 50; ++i) {
        sendIn(500 + (i * 37) % 4000, "m" + std::to_string(i));
        advance(100);
        if (i % 7 == 6) kill();
    }
    kill();
    advance(10'000);
    auto all = delivered();
    const std::size_t count = all.size();
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    EXPECT_EQ(all.size(), 50U);
    EXPECT_EQ(count, 50U);
    kill();
    advance(1000);
    EXPECT_EQ(delivered().size(), count);
}

TEST_P(TimerDeliveryTest, TwoThatAreAlikeBothComeAfterAKill) {
    start();
    // A producer that timed out and sent again.
    const std::string at = "TIMER_DELIVER_MS=" + std::to_string(now() + 1500);
    send("twin", at);
    send("twin", at);
    advance(1400);
    bool first = true;
    store_.refuses = [&first](const auto&) { return std::exchange(first, false) ? AppendStatus::PutOk : AppendStatus::Busy; };
    advance(200);
    EXPECT_EQ(delivered().size(), 1U);
    kill();
    store_.refuses = nullptr;
    advance(2000);
    EXPECT_EQ(delivered(), (Bodies{"twin", "twin"}));
}

TEST_P(TimerDeliveryTest, AKillBetweenTwoLegsOfALongWaitRepeatsNothing) {
    settings_["timerRollAfter"] = "3000";
    settings_["timerFlushIntervalMs"] = "1h";
    start();
    sendIn(14'700, "long");
    for (int i = 0; i < 15; ++i) {
        advance(1000);
        kill();
    }
    advance(20'000);
    EXPECT_EQ(delivered(), Bodies{"long"});
    kill();
    advance(20'000);
    EXPECT_EQ(delivered(), Bodies{"long"});
}

TEST_P(TimerDeliveryTest, AMessageThatComesAfterItsTimeSurvivesAKill) {
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

TEST_P(TimerDeliveryTest, ALongWaitIsStoredAnewInBetween) {
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

TEST_P(TimerDeliveryTest, AClockThatIsSetForwardIsNoticed) {
    settings_["timerFlushIntervalMs"] = "1h";
    start();
    sendIn(3'600'000, "a");
    context_.manualClock().setWallMs(now() + 3'600'000);
    advance(10'000);
    EXPECT_EQ(delivered(), Bodies{"a"});
}

TEST_P(TimerDeliveryTest, AnUnreadableTopicIsNotTakenForAnEmptyOne) {
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

TEST_P(TimerDeliveryTest, WhatCannotBeReadWhenItIsDueIsReadLater) {
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

TEST_P(TimerDeliveryTest, TellsHowItIsDoing) {
    start();
    const auto figures = [this] { return context_.services().find<service::TimerSchedule>()->figures(); };
    sendIn(500, "a");
    sendIn(60'000, "b");
    sendIn(70'000, "c");
    EXPECT_EQ(figures().unread, 2) << "what has time is taken together";
    advance(100);
    EXPECT_EQ(figures().waiting, 3);
    EXPECT_EQ(figures().taken, 3);
    EXPECT_EQ(figures().delivered, 0);
    advance(400);
    EXPECT_EQ(figures().waiting, 2);
    EXPECT_EQ(figures().delivered, 1);
    EXPECT_EQ(figures().behindMs, 0);
    EXPECT_EQ(figures().unread, 0);
    store_.refuses = [](const auto&) { return AppendStatus::Busy; };
    advance(63'000);
    EXPECT_EQ(figures().behindMs, 3'500);
    EXPECT_EQ(figures().waiting, 2);
    store_.refuses = nullptr;
    advance(10'000);
    EXPECT_EQ(figures().waiting, 0);
    EXPECT_EQ(figures().delivered, 3);
    restart();
    sendIn(60'000, "d");
    restart();
    EXPECT_EQ(figures().waiting, 1);
}

TEST_P(TimerDeliveryTest, ASlaveDeliversNothing) {
    context_.brokerIdentity().brokerId = 1;
    start();
    sendIn(10, "a");
    advance(1000);
    EXPECT_EQ(delivered(), Bodies{});
}

INSTANTIATE_TEST_SUITE_P(Stores, TimerDeliveryTest, ::testing::Bool(),
                         [](const auto& store) { return std::string(store.param ? "commitLog" : "other"); });

}  // namespace
}  // namespace patchbay::plugins::timer
