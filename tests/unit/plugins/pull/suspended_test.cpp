// Proves: a held request leaves exactly once, whatever races with what.
// How: a processor that holds everything, on the fake kernel; one test with real threads that hold and wake at once.
// Left to others: what a pull waits for (pull_test), the kernel's own requests (integration).
#include "PullHold.h"

#include "patchbay/plugin/Suspended.h"
#include "patchbay/protocol/util/Hash.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/ManualClock.h"

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <random>
#include <set>
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

TEST_F(SuspendedTest, ALabelIsLookedUpAndTheOthersAreNotPassed) {
    constexpr int kMany = 10'000;
    Suspended<int, int> held(context_.timers(), context_.clock(), 2 * kMany);
    const auto holdWith = [&](std::vector<std::int32_t> labels, int tag) {
        Request r = request();
        ASSERT_TRUE(held.hold(1, labels, tag, context_.clock().now() + 10min, r));
    };
    for (int i = 0; i < kMany; ++i) holdWith({i}, i);
    holdWith({}, -1);
    holdWith({7, kMany, 7, 8}, -2);
    std::vector<int> asked;
    const auto note = [&asked](int tag, auto... label) {
        asked.push_back(tag);
        return tag < 0 && sizeof...(label) == 1;
    };
    EXPECT_EQ(held.wake(1, std::vector<std::int32_t>{kMany + 1}, note), 0U);
    EXPECT_EQ(asked, std::vector<int>{-1}) << "who has no labels, and nobody else";
    EXPECT_LE(held.passed(), 100U);
    asked.clear();
    EXPECT_EQ(held.wake(1, std::vector<std::int32_t>{7, 8}, note), 1U) << "the one of three labels, once";
    std::ranges::sort(asked);
    EXPECT_EQ(asked, (std::vector<int>{-2, -2, -1, 7, 8}));
    EXPECT_LE(held.passed(), 200U);
    EXPECT_EQ(held.wake(1, std::vector<std::int32_t>{kMany}, note), 0U) << "it is under none of its labels any more";
    EXPECT_EQ(held.wake(1, [](int) { return true; }), kMany + 1U);
    EXPECT_TRUE(held.empty());
    EXPECT_EQ(left_, kMany + 2);
}

TEST_F(SuspendedTest, RequestsWithLabelsLeaveByDeadlineToo) {
    Suspended<int, int> held(context_.timers(), context_.clock(), 100);
    for (int i = 0; i < 60; ++i) {
        Request r = request();
        ASSERT_TRUE(held.hold(1, std::vector<std::int32_t>{i, 100 + i % 3}, i, context_.clock().now() + (i % 2 == 0 ? 1s : 1min), r));
    }
    context_.advance(2s);
    EXPECT_EQ(left_, 30);
    EXPECT_EQ(held.wake(1, std::vector<std::int32_t>{100}, [](int, auto...) { return true; }), 10U);
    EXPECT_EQ(left_, 40);
    Request lost = request();
    ASSERT_TRUE(held.hold(1, std::vector<std::int32_t>{1}, 1, context_.clock().now() + 1s, lost));
    context_.advance(2min);
    EXPECT_EQ(left_, 61);
}

// Chains are right whatever comes and goes: held against a plain list.
TEST(LabelChains, FindWhatAPlainListFinds) {
    struct Thing {
        explicit Thing(std::vector<std::int32_t> labels_) : labels(std::move(labels_)), links(*this, labels) {}
        std::vector<std::int32_t> labels;
        LabelChains<Thing>::Links links;
    };
    LabelChains<Thing> chains;
    std::vector<std::unique_ptr<Thing>> all;
    std::mt19937 random(20260101);
    const auto upTo = [&random](std::size_t n) { return random() % n; };
    for (int round = 0; round < 3'000; ++round) {
        const bool grows = round / 500 % 2 == 0;
        if (all.empty() || upTo(4) < (grows ? 3U : 1U)) {
            std::vector<std::int32_t> labels(upTo(4));
            for (auto& label : labels) label = static_cast<std::int32_t>(upTo(200)) - 100;
            all.push_back(std::make_unique<Thing>(labels));
            chains.chain(all.back()->links);
        } else {
            std::swap(all[upTo(all.size())], all.back());
            chains.unchain(all.back()->links);
            all.pop_back();
        }
        const auto label = static_cast<std::int32_t>(upTo(200)) - 100;
        std::multiset<const Thing*> wanted, found;
        for (const auto& thing : all) {
            if (std::ranges::find(thing->labels, label) != thing->labels.end()) wanted.insert(thing.get());
        }
        chains.eachWith(label, [&](const Thing& thing) { found.insert(&thing); });
        ASSERT_EQ(found, wanted);
        std::multiset<const Thing*> seen, there;
        for (const auto& thing : all) there.insert(thing.get());
        chains.each([&](const Thing& thing) { seen.insert(&thing); });
        ASSERT_EQ(seen, there);
        ASSERT_EQ(chains.empty(), all.empty());
    }
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

// What appends pay for pulls that want other tags.
TEST_F(SuspendedTest, AnAppendDoesNotPassPullsOfItsQueueThatWantOtherTags) {
    using namespace patchbay::plugins::pull;
    constexpr int kMany = 10'000;
    PullHold hold(context_.timers(), context_.clock(), 2 * kMany, 2 * kMany, 1'000'000);
    const MonotonicTime deadline = context_.clock().now() + 1h;
    for (int i = 0; i < kMany; ++i) {
        Request r = request();
        const std::vector<std::int32_t> codes{protocol::javaHashCode("tag" + std::to_string(i))};
        ASSERT_TRUE(hold.hold({"T", 0}, codes, {0}, deadline, r));
    }
    std::vector<service::AppendedRecord> records;
    for (int i = 0; i < 1'000; ++i) records.push_back({"T", {}, i, 0, protocol::javaHashCode("other" + std::to_string(i)), 0, 0, 0});
    for (const auto& record : records) hold.appended({&record, 1});
    EXPECT_EQ(left_, 0);
    EXPECT_LE(hold.passed(), 5'000U) << "a thousand appends, ten thousand held pulls";
    hold.appended(records);
    EXPECT_LE(hold.passed(), 10'000U) << "together as well";
    const service::AppendedRecord wanted{"T", {}, 1'000, 0, protocol::javaHashCode("tag77"), 0, 0, 0};
    hold.appended({&wanted, 1});
    EXPECT_EQ(left_, 1);
    hold.drain();
    EXPECT_EQ(left_, kMany);
}

TEST_F(SuspendedTest, APullThatWantsVeryManyTagsIsWokenByEachOfThemAndByNoOther) {
    using namespace patchbay::plugins::pull;
    PullHold hold(context_.timers(), context_.clock(), 10, 10, 1'000'000);
    const MonotonicTime deadline = context_.clock().now() + 1h;
    std::vector<std::int32_t> codes(20'000);
    std::iota(codes.begin(), codes.end(), 0);
    EXPECT_EQ(PullHold::bytesOfTags(codes.size()), 80'000U) << "no links, which each append that answers it would take apart";
    for (const std::int32_t code : {-1, 20'000, 0, 19'999}) {
        const int before = left_;
        if (hold.size() == 0) {
            Request r = request();
            ASSERT_TRUE(hold.hold({"T", 0}, codes, {0}, deadline, r));
        }
        const service::AppendedRecord record{"T", {}, 1, 0, code, 0, 0, 0};
        hold.appended({&record, 1});
        EXPECT_EQ(left_ - before, code >= 0 && code < 20'000 ? 1 : 0) << code;
    }
    hold.drain();
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
        ASSERT_TRUE(hold.hold({"T", 0}, {}, {offset}, deadline, r));
        if (end.load(std::memory_order_acquire) > offset) hold.wakeBelow({"T", 0}, end);
        while (left_ <= offset) std::this_thread::yield();  // hangs, and the test times out, when the wake was lost
    }
    appender.join();
    hold.drain();
    EXPECT_EQ(left_, kMessages);
}

}  // namespace
}  // namespace patchbay::plugin
