// Proved: timers keep their time and order, tasks posted by other threads run, a turn ends batches before it flushes.
// How: a loop that the test turns by hand, with a manual clock; one test runs it on a thread.
// Left to others: descriptors and connections (tests/integration/server).
#include "patchbay/net/EventLoop.h"
#include "patchbay/net/EventLoopPool.h"
#include "patchbay/testkit/ManualClock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::net {
namespace {

using namespace std::chrono_literals;

class EventLoopTest : public ::testing::Test {
protected:
    void pass(std::chrono::milliseconds time) {
        clock.advance(time);
        loop.turn(0);
    }
    testkit::ManualClock clock;
    EventLoop loop{0, clock, {}, makeEpollPoller()};
};

TEST_F(EventLoopTest, ATimerNeverFiresEarlyAndAtMostASlotLate) {
    int fired = 0;
    loop.after(100ms, [&] { ++fired; });
    pass(99ms);
    EXPECT_EQ(fired, 0);
    pass(1ms + TimerWheel::kSlot);
    EXPECT_EQ(fired, 1);
    pass(10s);
    EXPECT_EQ(fired, 1);
}

TEST_F(EventLoopTest, ATimerBeyondOneRoundOfTheWheelWaitsForItsRound) {
    int fired = 0;
    loop.after(20s, [&] { ++fired; });
    for (int i = 0; i < 19; ++i) pass(1s);
    EXPECT_EQ(fired, 0);
    pass(1s + TimerWheel::kSlot);
    EXPECT_EQ(fired, 1);
}

TEST_F(EventLoopTest, ALongPauseFiresEverythingThatIsDueOnce) {
    int fired = 0;
    for (int i = 1; i <= 100; ++i) loop.after(std::chrono::milliseconds(i * 97), [&] { ++fired; });
    pass(60s);
    EXPECT_EQ(fired, 100);
}

TEST_F(EventLoopTest, ACancelledTimerDoesNotFireEvenWhenAnotherOneCancelsIt) {
    int fired = 0;
    TimerWheel::Id second = 0;
    loop.after(10ms, [&] { loop.cancel(second); });
    second = loop.after(10ms, [&] { ++fired; });
    pass(1s);
    EXPECT_EQ(fired, 0);
}

TEST_F(EventLoopTest, ATimerMayScheduleItselfAgain) {
    int fired = 0;
    std::function<void()> again = [&] {
        ++fired;
        loop.after(1s, again);
    };
    loop.after(1s, again);
    for (int i = 0; i < 5; ++i) pass(1s + TimerWheel::kSlot);
    EXPECT_EQ(fired, 5);
}

TEST(TimerWheel, SaysHowLongToWait) {
    const MonotonicTime start(1h);
    TimerWheel wheel(start);
    EXPECT_EQ(wheel.waitMs(start), -1);
    wheel.schedule(start + 80ms, [] {});
    EXPECT_EQ(wheel.waitMs(start), 80);
    EXPECT_EQ(wheel.waitMs(start + 200ms), 0);
    wheel.advance(start + 200ms);
    EXPECT_EQ(wheel.waitMs(start + 200ms), -1);
}

TEST(EventLoop, WhatATurnTookIsAPartOfTheTimeUntilATimer) {
    struct Waits final : Poller {
        explicit Waits(int& last) : last_(last) {}
        bool add(int, std::uint32_t, Pollable&) noexcept override { return true; }
        void change(int, std::uint32_t, Pollable&) noexcept override {}
        void remove(int) noexcept override {}
        std::size_t wait(std::span<ReadyEvent>, int timeoutMs) noexcept override {
            last_ = timeoutMs;
            return 0;
        }
        void wake() noexcept override {}
        int& last_;
    };
    testkit::ManualClock clock;
    int waited = -2;
    EventLoop loop(0, clock, {}, std::make_unique<Waits>(waited));
    loop.post([&] {
        loop.after(1s, [] {});
        clock.advance(900ms);
    });
    loop.turn(0);
    loop.turn(-1);
    EXPECT_GE(waited, 0);
    EXPECT_LE(waited, 100 + static_cast<int>(TimerWheel::kSlot / 1ms));
}

TEST_F(EventLoopTest, TasksRunInTheOrderOfPostingAndInOneTurn) {
    std::string order;
    for (const char c : {'a', 'b', 'c'}) loop.post([&order, c] { order += c; });
    loop.turn(0);
    EXPECT_EQ(order, "abc");
}

TEST_F(EventLoopTest, ATurnEndsTheBatchBeforeItFlushes) {
    struct Recorder final : TurnListener, Flushable {
        explicit Recorder(std::string& out) : text(out) {}
        bool endOfTurn() noexcept override { text += 'e'; return false; }
        void flush() noexcept override { text += 'f'; }
        std::string& text;
    };
    std::string text;
    Recorder recorder(text);
    loop.addTurnListener(recorder);
    loop.post([&] {
        text += 't';
        loop.markForFlush(recorder);
        loop.markForFlush(recorder);
    });
    loop.turn(0);
    EXPECT_EQ(text, "tef");
}

TEST(EventLoop, TasksThatNeverRunAreDestroyedWithTheLoopAndWhatTheyPostToo) {
    const testkit::ManualClock clock;
    const auto token = std::make_shared<int>(1);
    struct PostsAtItsEnd {
        EventLoop& loop;
        std::shared_ptr<int> token;
        ~PostsAtItsEnd() { loop.post([kept = token] { ADD_FAILURE(); }); }
    };
    {
        EventLoop loop(0, clock, {}, makeEpollPoller());
        loop.post([kept = token] { ADD_FAILURE(); });
        loop.post([last = std::make_shared<PostsAtItsEnd>(loop, token)] { ADD_FAILURE(); });
        EXPECT_EQ(token.use_count(), 3);
    }
    EXPECT_EQ(token.use_count(), 1);
}

TEST(EventLoopPool, TasksFromManyThreadsAllRun) {
    EventLoopPool pool(2, systemClock(), {});
    pool.start();
    std::atomic<int> ran{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (std::uint32_t i = 0; i < 5'000; ++i) pool.loop(i % 2).post([&ran] { ran.fetch_add(1); });
        });
    }
    for (auto& thread : threads) thread.join();
    pool.onEach([](EventLoop& loop) { EXPECT_TRUE(loop.inLoop()); });
    EXPECT_EQ(ran.load(), 20'000);
}

}  // namespace
}  // namespace patchbay::net
