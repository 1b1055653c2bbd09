// Proves: when timers run, in which order, that a cancelled one does not, and that cancelAll() waits for a running task.
// How: a clock of the test's own and runDue(); real threads only where waiting itself is proved. Left to others: plugins' use.
#include "timers/ControlExecutor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace patchbay::kernel {
namespace {

using std::chrono::milliseconds;

class ManualClock final : public Clock {
public:
    [[nodiscard]] MonotonicTime now() const noexcept override { return time; }
    [[nodiscard]] std::int64_t wallMs() const noexcept override { return 0; }
    MonotonicTime time{std::chrono::hours(1)};
};

class NotingLog final : public plugin::Logger {
public:
    [[nodiscard]] bool enabled(plugin::LogLevel) const noexcept override { return true; }
    std::vector<std::string> lines;

protected:
    void write(plugin::LogLevel, std::string_view line) noexcept override { lines.emplace_back(line); }
    bool admit(std::string_view, std::uint64_t&) noexcept override { return true; }
};

class ControlExecutorTest : public ::testing::Test {
protected:
    std::size_t after(milliseconds time) {
        clock_.time += time;
        return control_.runDue();
    }

    ManualClock clock_;
    NotingLog log_;
    ControlExecutor control_{clock_, log_};
    PluginTimers timers_{control_};
    std::string ran_;
};

TEST_F(ControlExecutorTest, RunsTasksInTheOrderOfTheirTimes) {
    timers_.after(milliseconds(20), [&] { ran_ += "c"; });
    timers_.after(milliseconds(10), [&] { ran_ += "b"; });
    timers_.post([&] { ran_ += "a"; });
    EXPECT_EQ(after(milliseconds(0)), 1U);
    EXPECT_EQ(after(milliseconds(9)), 0U);
    EXPECT_EQ(after(milliseconds(11)), 2U);
    EXPECT_EQ(ran_, "abc");
    EXPECT_EQ(control_.pending(), 0U);
}

TEST_F(ControlExecutorTest, RepeatsAfterTheEndOfEachRun) {
    timers_.every(milliseconds(5'000), milliseconds(10'000), [&] {
        ran_ += "x";
        clock_.time += milliseconds(3'000);   // it takes a while
    });
    EXPECT_EQ(after(milliseconds(4'999)), 0U);
    EXPECT_EQ(after(milliseconds(1)), 1U);
    EXPECT_EQ(after(milliseconds(9'999)), 0U);
    EXPECT_EQ(after(milliseconds(1)), 1U);
    EXPECT_EQ(ran_, "xx");
}

TEST_F(ControlExecutorTest, DoesNotRunWhatWasCancelled) {
    const auto once = timers_.after(milliseconds(10), [&] { ran_ += "a"; });
    const auto often = timers_.every(milliseconds(10), milliseconds(10), [&] { ran_ += "b"; });
    timers_.cancel(once);
    timers_.cancel(9999);
    after(milliseconds(10));
    timers_.cancel(often);
    after(milliseconds(100));
    EXPECT_EQ(ran_, "b");
}

TEST_F(ControlExecutorTest, LetsATaskCancelItselfAndItsOwner) {
    plugin::TimerId id = 0;
    id = timers_.every(milliseconds(1), milliseconds(1), [&] { ran_ += "a"; timers_.cancel(id); });
    PluginTimers other(control_);
    other.every(milliseconds(1), milliseconds(1), [&] { ran_ += "b"; other.cancelAll(); });
    after(milliseconds(1));
    after(milliseconds(5));
    EXPECT_EQ(ran_, "ab");
    EXPECT_EQ(control_.pending(), 0U);
}

TEST_F(ControlExecutorTest, CancelsOneOwnersTasksOnlyAndFreesWhatTheyOwn) {
    PluginTimers other(control_);
    auto owned = std::make_shared<int>(1);
    std::weak_ptr<int> watch = owned;
    timers_.every(milliseconds(1), milliseconds(1), [owned = std::move(owned)] {});
    other.after(milliseconds(1), [&] { ran_ += "o"; });
    timers_.cancelAll();
    EXPECT_TRUE(watch.expired());
    after(milliseconds(1));
    EXPECT_EQ(ran_, "o");
}

TEST_F(ControlExecutorTest, LogsAnExceptionAndGoesOn) {
    timers_.every(milliseconds(1), milliseconds(1), [&] { ran_ += "t"; throw std::runtime_error("oh"); });
    after(milliseconds(1));
    after(milliseconds(1));
    EXPECT_EQ(ran_, "tt");
    ASSERT_EQ(log_.lines.size(), 2U);
    EXPECT_EQ(log_.lines[0], "a task failed error=oh");
}

TEST_F(ControlExecutorTest, WaitsForARunningTaskOfTheOwner) {
    ControlExecutor threaded(systemClock(), log_);
    PluginTimers timers(threaded);
    threaded.start();
    std::promise<void> entered;
    std::promise<void> release;
    std::atomic<bool> finished{false};
    timers.post([&] {
        entered.set_value();
        release.get_future().wait();
        finished = true;
    });
    entered.get_future().wait();
    auto cancelled = std::async(std::launch::async, [&] {
        timers.cancelAll();
        return finished.load();
    });
    EXPECT_EQ(cancelled.wait_for(milliseconds(20)), std::future_status::timeout);
    release.set_value();
    EXPECT_TRUE(cancelled.get());
    threaded.stop();
}

TEST_F(ControlExecutorTest, WakesItsThreadForAnEarlierTimer) {
    ControlExecutor threaded(systemClock(), log_);
    PluginTimers timers(threaded);
    threaded.start();
    timers.after(std::chrono::hours(1), [] {});
    std::promise<void> ran;
    timers.after(milliseconds(1), [&] { ran.set_value(); });
    EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
    threaded.stop();
    EXPECT_EQ(threaded.pending(), 0U);
    EXPECT_EQ(threaded.schedule(this, {}, {}, [] {}), 0U);
}

TEST(ControlExecutorThread, WhoeverWaitsForATaskGoesOnWorkingForIt) {
    ManualClock clock;
    NotingLog log;
    ControlExecutor control(clock, log);
    PluginTimers timers(control);
    std::promise<void> begun;
    std::promise<void> served;
    // As a task that changes the configuration, which the thread that cancels has to do.
    timers.post([&] {
        begun.set_value();
        served.get_future().wait();
    });
    control.start();
    begun.get_future().wait();
    int turns = 0;
    timers.cancelAll([&] {
        if (++turns == 1) served.set_value();
    });
    EXPECT_GE(turns, 1);
}

TEST(PluginTimersTest, TellsOfTasksThatThrow) {
    ManualClock clock;
    NotingLog log;
    ControlExecutor control(clock, log);
    std::string told;
    PluginTimers timers(control, [&](const std::string& error) { told = error; });
    timers.post([] { throw std::runtime_error("bad day"); });
    EXPECT_EQ(control.runDue(), 1U);
    EXPECT_EQ(told, "bad day");
    EXPECT_TRUE(log.lines.empty());
}

}  // namespace
}  // namespace patchbay::kernel
