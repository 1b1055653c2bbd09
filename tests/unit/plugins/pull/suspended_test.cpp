// Proves: a held request leaves exactly once, whatever races with what.
// How: a processor that holds everything, on the fake kernel; one test with real threads that hold and wake at once.
// Left to others: what a pull waits for (pull_test), the kernel's own requests (integration).
#include "PullHold.h"

#include "patchbay/plugin/Suspended.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/ManualClock.h"

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

namespace patchbay::plugin {
namespace {

using namespace std::chrono_literals;

/// A request that only counts how it ends; may be used by any thread.
class CountingCore final : public RequestCore {
public:
    CountingCore(std::atomic<int>& left, Ref<Peer> from) : left_(left) { peer = std::move(from); }
    void answer(Response&) noexcept override { end(); }
    void abandon() noexcept override { end(); }
    void redispatch() noexcept override { end(); }
    void defer() noexcept override { end(); }
    RequestCore* detach() noexcept override { return this; }

private:
    void end() noexcept {
        left_.fetch_add(1);
        delete this;
    }
    std::atomic<int>& left_;
};

class SuspendedTest : public ::testing::Test {
protected:
    Request request() { return Request(new CountingCore(left_, context_.peer())); }
    bool hold(Suspended<int, int>& held, int key, int tag, std::chrono::milliseconds wait = 1s) {
        Request r = request();
        return held.hold(key, tag, context_.clock().now() + wait, r);
    }

    testkit::FakeContext context_;
    std::atomic<int> left_{0};
};

TEST_F(SuspendedTest, WakesOnlyTheKeyAndTheTagsThatAreWanted) {
    Suspended<int, int> held(context_.timers(), context_.clock(), 100);
    ASSERT_TRUE(hold(held, 1, 10) && hold(held, 1, 20) && hold(held, 2, 10));
    EXPECT_EQ(held.wake(1, [](int tag) { return tag == 20; }), 1U);
    EXPECT_EQ(held.wake(3, [](int) { return true; }), 0U);
    EXPECT_EQ(held.size(), 2U);
    EXPECT_EQ(left_, 1);
    held.drain();
    EXPECT_EQ(left_, 3);
}

TEST_F(SuspendedTest, RefusesAboveItsCapacityAndKeepsTheRequestWithTheCaller) {
    Suspended<int, int> held(context_.timers(), context_.clock(), 1);
    ASSERT_TRUE(hold(held, 1, 1));
    Request second = request();
    EXPECT_FALSE(held.hold(1, 1, context_.clock().now() + 1s, second));
    EXPECT_TRUE(second);
    held.drain();
}

TEST_F(SuspendedTest, LetsGoAtTheDeadlineAndStopsTicking) {
    Suspended<int, int> held(context_.timers(), context_.clock(), 10);
    ASSERT_TRUE(hold(held, 1, 1, 500ms) && hold(held, 2, 1, 5s));
    context_.advance(700ms);
    EXPECT_EQ(left_, 1);
    context_.advance(5s);
    EXPECT_EQ(left_, 2);
    EXPECT_EQ(context_.timers().count(), 0U);
    ASSERT_TRUE(hold(held, 1, 1, 500ms)) << "it starts to tick again";
    context_.advance(1s);
    EXPECT_EQ(left_, 3);
}

TEST_F(SuspendedTest, DeadlinesBeyondATurnOfTheWheelAndTicksThatComeLateAreKept) {
    testkit::ManualClock clock;
    Suspended<int, int> held(context_.timers(), clock, 100);
    for (const auto wait : {0ms, 199ms, 200ms, 25'600ms, 26'000ms, 3'600'000ms}) {
        Request r = request();
        ASSERT_TRUE(held.hold(1, 1, clock.now() + wait, r));
    }
    const auto pass = [&](std::chrono::milliseconds time) {
        for (; time > 0ms; time -= 200ms) {
            clock.advance(200ms);
            context_.advance(200ms);
        }
    };
    pass(400ms);
    EXPECT_EQ(left_, 3);
    pass(25s);
    EXPECT_EQ(left_, 3) << "none early";
    pass(1s);
    EXPECT_EQ(left_, 5);
    clock.advance(2h);  // the timer did not run meanwhile
    pass(200ms);
    EXPECT_EQ(left_, 6);
    EXPECT_TRUE(held.empty());
}

TEST_F(SuspendedTest, AHundredThousandWaitWithoutBeingLookedAt) {
    constexpr int kMany = 100'000;
    Suspended<int, int> held(context_.timers(), context_.clock(), kMany);
    for (int i = 0; i < kMany; ++i) ASSERT_TRUE(hold(held, i, i, 10min));
    int asked = 0;
    EXPECT_EQ(held.wake(77, [&asked](int) { return ++asked > 0; }), 1U);
    EXPECT_EQ(asked, 1);
    context_.advance(1min);
    EXPECT_EQ(left_, 1);
    held.drain();
    EXPECT_EQ(left_, kMany);
}

TEST_F(SuspendedTest, RequestsOfClosedConnectionsGoWithinHalfAMinute) {
    Suspended<int, int> held(context_.timers(), context_.clock(), 10);
    const auto peer = context_.peer("127.0.0.1:4444");
    Request r(new CountingCore(left_, peer));
    ASSERT_TRUE(held.hold(1, 1, context_.clock().now() + 10min, r));
    ASSERT_TRUE(hold(held, 1, 1, 10min));
    context_.disconnect(peer);
    context_.advance(30s);
    EXPECT_EQ(left_, 1);
    EXPECT_EQ(held.size(), 1U);
    held.drain();
}

TEST_F(SuspendedTest, DrainIsAStateLateRequestsAreNotTaken) {
    Suspended<int, int> held(context_.timers(), context_.clock(), 10);
    ASSERT_TRUE(hold(held, 1, 1));
    held.drain();
    EXPECT_EQ(left_, 1);
    Request late = request();
    EXPECT_FALSE(held.hold(1, 1, context_.clock().now() + 1s, late));
}

TEST_F(SuspendedTest, ARequestThatIsDrainedWhileItIsTakenLeavesLikeAHeldOne) {
    // Looking for the shard comes between detach() and the lock, where a drain by another thread may fall.
    static std::function<void()> during;
    struct Hash {
        std::size_t operator()(int key) const {
            if (during) during();
            return static_cast<std::size_t>(key);
        }
    };
    Suspended<int, int, Hash> held(context_.timers(), context_.clock(), 10);
    during = [&held] { held.drain(); };
    Request r = request();
    EXPECT_TRUE(held.hold(1, 1, context_.clock().now() + 1s, r));
    during = nullptr;
    EXPECT_FALSE(r);
    EXPECT_EQ(left_, 1);
    EXPECT_TRUE(held.empty());
}

TEST_F(SuspendedTest, EachRequestLeavesOnceWhileThreadsHoldAndWake) {
    constexpr int kEach = 20'000;
    Suspended<int, int> held(context_.timers(), context_.clock(), 1'000'000);
    const Ref<Peer> peer = context_.peer();
    const MonotonicTime deadline = context_.clock().now() + 1h;
    std::atomic<bool> running{true};
    std::thread waker([&] {
        while (running) {
            for (int key = 0; key < 64; ++key) held.wake(key, [](int) { return true; });
        }
    });
    std::vector<std::thread> holders;
    for (int t = 0; t < 2; ++t) {
        holders.emplace_back([&, t] {
            for (int i = 0; i < kEach; ++i) {
                Request r(new CountingCore(left_, peer));
                EXPECT_TRUE(held.hold((i + t) % 64, i, deadline, r));
            }
        });
    }
    for (auto& holder : holders) holder.join();
    running = false;
    waker.join();
    held.drain();
    EXPECT_EQ(left_, 2 * kEach);
    EXPECT_EQ(held.size(), 0U);
    held.close();
}

// What pulls rely on: an append that happens between the look and the hold must not be missed.
TEST_F(SuspendedTest, NoWakeIsLostBetweenLookingAndHolding) {
    using namespace patchbay::plugins::pull;
    constexpr std::int64_t kMessages = 5'000;
    PullHold hold(context_.timers(), context_.clock(), 1000, 1000, 1000);
    const Ref<Peer> peer = context_.peer();
    const MonotonicTime deadline = context_.clock().now() + 1h;
    std::atomic<std::int64_t> end{0};
    std::thread appender([&] {
        for (std::int64_t offset = 0; offset < kMessages; ++offset) {
            while (left_ < offset) std::this_thread::yield();  // the reader has seen all before
            end.store(offset + 1, std::memory_order_release);
            const service::AppendedRecord record{"T", {}, offset, 0, 0, 0, 0, 0};
            hold.appended({&record, 1});
        }
    });
    for (std::int64_t offset = 0; offset < kMessages; ++offset) {
        Request r(new CountingCore(left_, peer));
        if (end.load(std::memory_order_acquire) > offset) {
            std::move(r).redispatch();
            continue;
        }
        ASSERT_TRUE(hold.hold({"T", 0}, {offset, {}}, deadline, r));
        if (end.load(std::memory_order_acquire) > offset) hold.wakeBelow({"T", 0}, end);
        while (left_ <= offset) std::this_thread::yield();  // hangs, and the test times out, when the wake was lost
    }
    appender.join();
    hold.drain();
    EXPECT_EQ(left_, kMessages);
}

}  // namespace
}  // namespace patchbay::plugin
