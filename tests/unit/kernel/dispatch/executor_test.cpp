// Proved: executors are bounded in length and time, run deferred requests, number their lanes and end their batches.
// How: executor threads that the test holds at a gate; waits are moved by a manual clock.
// Left to others: requests on the loop (dispatcher_test.cpp).
#include "unit/kernel/dispatch/DispatchFixture.h"

#include <condition_variable>
#include <set>
#include <thread>

namespace patchbay::kernel {
namespace {

using namespace std::chrono_literals;
using plugin::Request;

/// Holds whoever comes until it is opened.
class Gate {
public:
    void pass() {
        std::unique_lock lock(mutex_);
        ++inside_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return open_; });
    }
    void awaitInside(int count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return inside_ >= count; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int inside_ = 0;
    bool open_ = false;
};

class ExecutorTest : public DispatchFixture {
protected:
    ~ExecutorTest() override {
        gate.open();
        executors.stop();
    }
    static plugin::BindOptions on(plugin::ExecutorSpec spec) { return {.loopSafe = false, .executor = std::move(spec)}; }
    Gate gate;
    std::atomic<int> calls{0};
    TestProcessor gated{[this](Request r) {
        calls.fetch_add(1);
        gate.pass();
        std::move(r).respond(ResponseCode::Success);
    }};
};

TEST_F(ExecutorTest, RunsOffTheLoopOnItsOwnLane) {
    const auto loopThread = std::this_thread::get_id();
    std::atomic<int> batches{0};
    TestProcessor blocking([&](Request r) {
        EXPECT_NE(std::this_thread::get_id(), loopThread);
        EXPECT_EQ(r.lane(), 1U);
        EXPECT_LT(r.lane(), executors.laneCount());
        std::move(r).respond(ResponseCode::Success);
    });
    blocking.onBatch = [&](plugin::Lane lane) {
        EXPECT_EQ(lane, 1U);
        batches.fetch_add(1);
    };
    serve(blocking, on({.name = "block", .threads = 1}));
    arrive(*origin, {request(1), request(2)});
    turnUntil(2);
    executors.stop();
    EXPECT_GE(batches.load(), 1);
}

TEST_F(ExecutorTest, ARequestOfSomebodyWhoTakesNoAnswersWaitsThereAndIsServedLater) {
    gate.open();
    serve(gated, on({.name = "waits", .threads = 1}));
    origin->crowded = true;
    arrive(*origin, {request(1), request(2, protocol::kFlagOneway), request(3)});
    for (int i = 0; i < 1'000 && (origin->heldBackCount < 2 || calls < 1); ++i) loops.loop(0).turn(10);
    ASSERT_EQ(origin->heldBackCount, 2);
    turn();
    EXPECT_EQ(calls, 1);  // the one that wants no answer
    EXPECT_EQ(dispatcher.active(), 2U);
    origin->crowded = false;
    loops.loop(0).post([this] {
        while (!origin->heldBack.empty()) dispatcher.release(origin->heldBack.takeFirst());
    });
    turnUntil(2);
    EXPECT_EQ(origin->answers()[0].opaque, 1);
    EXPECT_EQ(origin->answers()[1].opaque, 3);
    EXPECT_EQ(origin->releasedAndLeft, 2);
    EXPECT_EQ(origin->left, 3);
    EXPECT_EQ(dispatcher.active(), 0U);
}

TEST_F(ExecutorTest, WhatIsStillCrowdedWhenItGoesOnComesBackAndIsForgottenAtTheEnd) {
    serve(gated, on({.name = "comes", .threads = 1}));
    origin->crowded = true;
    arrive(*origin, {request(1)});
    for (int round = 1; round <= 2; ++round) {
        for (int i = 0; i < 1'000 && origin->heldBackCount < round; ++i) loops.loop(0).turn(10);
        ASSERT_EQ(origin->heldBackCount, round);
        EXPECT_EQ(origin->releasedAndLeft, round - 1);
        loops.loop(0).post([this, round] {
            auto& request = origin->heldBack.takeFirst();
            round == 1 ? dispatcher.release(request) : dispatcher.forget(request);
        });
    }
    turn();
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(origin->left, 1);
    EXPECT_EQ(dispatcher.active(), 0U);
}

TEST_F(ExecutorTest, NoMoreIsHeldBackThanMayBe) {
    struct Case {
        HeldBackLimits limits;
        int held;
        const char* named;
    };
    const Case cases[] = {{{2, 1U << 20}, 2, "serverHeldBackMax 2"}, {{100, 10}, 0, "serverHeldBackBytesMax 10"}};
    serve(gated, on({.name = "comes", .threads = 1}));
    for (const Case& one : cases) {
        SCOPED_TRACE(one.named);
        dispatcher.limit({}, one.limits, {});
        const auto before = origin->answers().size();
        const int heldBefore = origin->heldBackCount;
        origin->crowded = true;
        arrive(*origin, {request(1), request(2), request(3)});
        turnUntil(before + 3 - static_cast<std::size_t>(one.held));
        const auto refused = origin->answers().back();
        EXPECT_EQ(refused.code, static_cast<int>(ResponseCode::SystemBusy));
        const auto why = refused.remark.value_or("");
        EXPECT_NE(why.find(one.named), std::string::npos) << why;
        EXPECT_EQ(origin->heldBackCount, heldBefore + one.held);
        loops.loop(0).post([this] {
            while (!origin->heldBack.empty()) dispatcher.forget(origin->heldBack.takeFirst());
        });
        turn();
    }
    EXPECT_EQ(dispatcher.active(), 0U);
}

TEST_F(ExecutorTest, LargeAnswersCountFromTheTimeTheyAreMade) {
    std::atomic<std::size_t> before{0};
    TestProcessor large([&](Request r) {
        plugin::Response response;
        response.setBody(std::string(10'000, 'b'));
        std::move(r).respond(std::move(response));
        before = origin->promised.load();
    });
    serve(large, on({.name = "large", .threads = 1}));
    arrive(*origin, {request(1)});
    turn();
    for (int i = 0; i < 100'000 && before == 0; ++i) std::this_thread::yield();
    EXPECT_GT(before, 10'000U);
    turnUntil(1);
    EXPECT_EQ(origin->promised, 0U);
}

TEST_F(ExecutorTest, AFullQueueIsAnsweredWithOverload) {
    serve(gated, on({.name = "full", .threads = 1, .queueCapacity = 1}));
    arrive(*origin, {request(1)});
    turn();
    gate.awaitInside(1);
    arrive(*origin, {request(2)});
    turn();
    clock.advance(std::chrono::milliseconds(70));
    arrive(*origin, {request(3)});
    turn();
    ASSERT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->answers()[0].opaque, 3);
    EXPECT_EQ(origin->answers()[0].code, 2);
    EXPECT_EQ(origin->answers()[0].remark, "[OVERLOAD]system busy, start flow control for a while, queue of executor full is full, the oldest waited 70ms: 1 requests, limit "
              "executor.full.queueCapacity 1");
    gate.open();
    turnUntil(3);
}

TEST_F(ExecutorTest, WhatStillRunsMayLookAtTheExecutorsWhileTheyStop) {
    std::size_t seen = 0;
    TestProcessor looks([&](Request r) {
        gate.pass();
        seen = executors.stats().size();
        std::move(r).respond(ResponseCode::Success);
    });
    serve(looks, on({.name = "looks", .threads = 1}));
    arrive(*origin, {request(1)});
    turn();
    gate.awaitInside(1);
    std::thread stopping([this] { executors.stop(); });
    // Refused: the stop is under way and waits for the one at the gate.
    const auto isRefused = [this] {
        for (const auto& answer : origin->answers()) {
            if (answer.remark.value_or("").find("executor looks is stopping") != std::string::npos) return true;
        }
        return false;
    };
    for (std::int32_t opaque = 2; !isRefused(); ++opaque) {
        arrive(*origin, {request(opaque)});
        turn();
    }
    gate.open();
    stopping.join();
    EXPECT_EQ(seen, 1U);
}

TEST_F(ExecutorTest, OneThatWantsTooManyThreadsGetsMostOfWhatIsLeft) {
    Executors twenty{loops.size(), 20, clock};
    ASSERT_TRUE(twenty.obtain({.name = "first", .threads = 2}));
    EXPECT_EQ(twenty.obtain({.name = "pull", .threads = 128}).value()->spec().threads, 10U);
    EXPECT_EQ(twenty.obtain({.name = "admin", .threads = 16}).value()->spec().threads, 4U);
    EXPECT_EQ(twenty.obtain({.name = "small", .threads = 1}).value()->spec().threads, 1U) << "those that come later have some, too";
    EXPECT_EQ(twenty.obtain({.name = "rest", .threads = 3}).value()->spec().threads, 3U);
    EXPECT_EQ(twenty.obtain({.name = "late", .threads = 1}).error().code(), StatusCode::OutOfRange);
    const auto shortages = twenty.shortages();
    ASSERT_EQ(shortages.size(), 2U);
    EXPECT_EQ(shortages[0].name, "pull");
    EXPECT_EQ(shortages[0].wanted, 128U);
    EXPECT_EQ(shortages[0].given, 10U);
    EXPECT_EQ(shortages[1].name, "admin");
}

TEST_F(ExecutorTest, AQueueIsFullWhenItsBytesAre) {
    Executors small{loops.size(), 8, clock, 100};
    Registrations mine(Ref<Generation>::adopt(new Generation("test", 1)), small, {"broker"}, {});
    const RequestCode codes[] = {RequestCode::SendMessageV2};
    ASSERT_TRUE(mine.bind(codes, gated, on({.name = "bytes", .threads = 1, .queueCapacity = 100})));
    publish({&mine});
    arrive(*origin, {request(1)});
    turn();
    gate.awaitInside(1);
    auto large = request(2);
    large.body = std::string(200, 'x');
    arrive(*origin, {large, request(3)});
    turn();
    ASSERT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->answers()[0].opaque, 3) << "one waits however large it is";
    EXPECT_NE(origin->answers()[0].remark->find("limit executorQueueBytesMax 100"), std::string::npos);
    EXPECT_EQ(small.stats().at(0).queued, 1U);
    EXPECT_EQ(small.stats().at(0).refusedFull, 1U);
    gate.open();
    turnUntil(3);
    publish({});
    turn();
    small.stop();
}

TEST_F(ExecutorTest, ARequestThatWaitedTooLongIsAnsweredAlthoughEveryThreadIsBusy) {
    serve(gated, on({.name = "slow", .threads = 1, .queueCapacity = 10, .maxQueueWait = 200ms}));
    arrive(*origin, {request(1)});
    turn();
    gate.awaitInside(1);
    arrive(*origin, {request(2), request(3)});
    turn();
    EXPECT_EQ(executors.stats().at(0).headWaitMs, 0);
    clock.advance(150ms);
    turn();
    EXPECT_TRUE(origin->answers().empty());
    EXPECT_EQ(executors.stats().at(0).headWaitMs, 150);
    EXPECT_EQ(dispatcher.observed().requests({"broker"}).at(0).queued, 2U) << "by code and plugin";
    clock.advance(60ms);
    turn();
    turn();
    ASSERT_EQ(origin->answers().size(), 2U);
    EXPECT_EQ(origin->answers()[0].code, 2);
    EXPECT_EQ(origin->answers()[0].remark,
              "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 210ms, size of queue: 2, "
              "executor slow, limit executor.slow.maxQueueWait 200ms");
    EXPECT_EQ(calls.load(), 1);
    gate.open();
    turnUntil(3);
    EXPECT_EQ(dispatcher.observed().requests({"broker"}).at(0).queued, 0U);
}

TEST_F(ExecutorTest, ADeferredRequestComesAgainOnTheExecutor) {
    TestProcessor defers([](Request r) {
        if (!r.deferred()) return std::move(r).defer();
        EXPECT_TRUE(r.again());
        std::move(r).respond(ResponseCode::Success);
    });
    serve(defers, {.loopSafe = true, .executor = {.name = "cold", .threads = 2}});
    arrive(*origin, {request(1), request(2), request(3)});
    turnUntil(3);
    executors.stop();   // the threads tell the processor that their batch has ended
}

TEST_F(ExecutorTest, DeferringWithoutAnExecutorIsAnErrorThatNamesThePlugin) {
    TestProcessor defers([](Request r) { std::move(r).defer(); });
    serve(defers);
    arrive(*origin, {request(1)});
    turn();
    EXPECT_EQ(origin->answers().at(0).code, 1);
    EXPECT_TRUE(log.contains("plugin=test"));
}

TEST_F(ExecutorTest, AnExceptionOnAnExecutorIsAnsweredToo) {
    TestProcessor throws([](Request) { throw std::runtime_error("disk on fire"); });
    serve(throws, on({.name = "bad", .threads = 1}));
    arrive(*origin, {request(1)});
    turnUntil(1);
    EXPECT_EQ(origin->answers()[0].remark, "disk on fire");
    executors.stop();
}

TEST_F(ExecutorTest, WhatIsQueuedAtStopIsAnsweredBusy) {
    serve(gated, on({.name = "stops", .threads = 1}));
    arrive(*origin, {request(1)});
    turn();
    gate.awaitInside(1);
    arrive(*origin, {request(2)});
    turn();
    std::thread opener([&] { gate.open(); });
    executors.stop();
    opener.join();
    turnUntil(2);
    std::multiset<int> codes;
    for (const auto& answer : origin->answers()) codes.insert(answer.code);
    EXPECT_EQ(codes.count(0) + codes.count(2), 2U);
    EXPECT_GE(codes.count(0), 1U);
}

}  // namespace
}  // namespace patchbay::kernel
