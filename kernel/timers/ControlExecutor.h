// ControlExecutor: one thread that runs timers and small tasks, one after the other.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Runtime.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

namespace patchbay::kernel {

/// Who a task belongs to; only compared.
using TaskOwner = const void*;

/// The "control" executor of the plugin contract. It sleeps until the next task is due: no ticks. Owned by the application,
/// outlives everything that posts. Any thread. A task that throws is logged. After stop() tasks are dropped.
/// Without start() nothing runs by itself: runDue() with a clock of the test's own does it then, on the caller's thread.
class ControlExecutor {
public:
    ControlExecutor(const Clock& clock, plugin::Logger& log) : clock_(clock), log_(log) {}
    ~ControlExecutor() { stop(); }
    ControlExecutor(const ControlExecutor&) = delete;
    ControlExecutor& operator=(const ControlExecutor&) = delete;

    void start();
    /// Joins after the running task; what is left is dropped.
    void stop() noexcept;

    /// First after `delay`; again `interval` after each end when that is not zero.
    plugin::TimerId schedule(TaskOwner owner, std::chrono::milliseconds delay, std::chrono::milliseconds interval,
                             plugin::Task task);
    void post(TaskOwner owner, plugin::Task task) { schedule(owner, {}, {}, std::move(task)); }
    void cancel(plugin::TimerId id) noexcept;
    /// No task of the owner starts afterwards, and none runs when it returns, unless it is called by one. `meanwhile` is called again
    /// and again while a task is waited for, which may itself wait for the caller's thread; it is to take a moment.
    void cancelAll(TaskOwner owner, const std::function<void()>& meanwhile = {}) noexcept;

    /// Runs what is due; answers how many tasks ran.
    std::size_t runDue();
    /// Of all owners; for checks that nothing is left.
    [[nodiscard]] std::size_t pending() const;

private:
    struct Entry {
        plugin::TimerId id;
        TaskOwner owner;
        std::chrono::milliseconds interval;
        plugin::Task task;
    };
    using Schedule = std::multimap<MonotonicTime, Entry>;

    void work() noexcept;
    /// Runs the first task if it is due; `lock` is held on entry and return.
    bool runFirst(std::unique_lock<std::mutex>& lock);
    void insert(MonotonicTime at, Entry entry);

    const Clock& clock_;
    plugin::Logger& log_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::condition_variable finished_;
    // Guarded by mutex_.
    Schedule schedule_;
    std::unordered_map<plugin::TimerId, Schedule::iterator> byId_;
    plugin::TimerId nextId_ = 1;
    plugin::TimerId runningId_ = 0;
    TaskOwner runningOwner_ = nullptr;
    std::thread::id runningThread_{};
    bool runningCancelled_ = false;
    bool stopping_ = false;
    std::thread thread_;
};

/// The timers of one generation of a plugin.
class PluginTimers final : public plugin::Timers {
public:
    /// `failed` is told of tasks that throw, on the control thread.
    using Failed = std::function<void(const std::string& error)>;
    explicit PluginTimers(ControlExecutor& executor, Failed failed = {}) : executor_(executor), failed_(std::move(failed)) {}
    ~PluginTimers() override { cancelAll(); }

    plugin::TimerId every(std::chrono::milliseconds first, std::chrono::milliseconds interval, plugin::Task task) override;
    plugin::TimerId after(std::chrono::milliseconds delay, plugin::Task task) override;
    void cancel(plugin::TimerId id) noexcept override { executor_.cancel(id); }
    void post(plugin::Task task) override { executor_.post(this, guarded(std::move(task))); }
    /// The kernel calls it before stop().
    void cancelAll(const std::function<void()>& meanwhile = {}) noexcept { executor_.cancelAll(this, meanwhile); }

private:
    [[nodiscard]] plugin::Task guarded(plugin::Task task) const;

    ControlExecutor& executor_;
    const Failed failed_;
};

}  // namespace patchbay::kernel
