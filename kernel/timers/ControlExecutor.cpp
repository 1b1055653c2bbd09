#include "timers/ControlExecutor.h"

#include <algorithm>
#include <pthread.h>

namespace patchbay::kernel {

void ControlExecutor::start() {
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "control");
        work();
    });
}

void ControlExecutor::stop() noexcept {
    Schedule dropped;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        byId_.clear();
        dropped.swap(schedule_);   // destroyed without the lock: tasks own things
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

plugin::TimerId ControlExecutor::schedule(TaskOwner owner, std::chrono::milliseconds delay,
                                          std::chrono::milliseconds interval, plugin::Task task) {
    const auto at = clock_.now() + std::max(delay, std::chrono::milliseconds(0));
    const std::lock_guard lock(mutex_);
    if (stopping_) return 0;
    const auto id = nextId_++;
    insert(at, {id, owner, interval, std::move(task)});
    if (byId_.at(id) == schedule_.begin()) changed_.notify_one();
    return id;
}

void ControlExecutor::insert(MonotonicTime at, Entry entry) {
    const auto id = entry.id;
    byId_[id] = schedule_.emplace(at, std::move(entry));
}

void ControlExecutor::cancel(plugin::TimerId id) noexcept {
    plugin::Task dropped;
    const std::lock_guard lock(mutex_);
    if (id == runningId_) runningCancelled_ = true;
    const auto found = byId_.find(id);
    if (found == byId_.end()) return;
    dropped = std::move(found->second->second.task);
    schedule_.erase(found->second);
    byId_.erase(found);
}

void ControlExecutor::cancelAll(TaskOwner owner, const std::function<void()>& meanwhile) noexcept {
    Schedule dropped;
    std::unique_lock lock(mutex_);
    for (auto it = schedule_.begin(); it != schedule_.end();) {
        const auto current = it++;
        if (current->second.owner != owner) continue;
        byId_.erase(current->second.id);
        dropped.insert(schedule_.extract(current));
    }
    if (runningOwner_ != owner) return;
    runningCancelled_ = true;
    if (runningThread_ == std::this_thread::get_id()) return;
    while (meanwhile && runningOwner_ == owner) {
        lock.unlock();
        meanwhile();
        lock.lock();
    }
    finished_.wait(lock, [&] { return runningOwner_ != owner; });
}

bool ControlExecutor::runFirst(std::unique_lock<std::mutex>& lock) {
    if (schedule_.empty() || schedule_.begin()->first > clock_.now()) return false;
    Entry entry = std::move(schedule_.begin()->second);
    schedule_.erase(schedule_.begin());
    byId_.erase(entry.id);
    runningId_ = entry.id;
    runningOwner_ = entry.owner;
    runningThread_ = std::this_thread::get_id();
    runningCancelled_ = false;
    lock.unlock();
    try {
        entry.task();
    } catch (const std::exception& error) {
        log_.error("a task failed", {{"error", error.what()}});
    } catch (...) {
        log_.error("a task failed", {{"error", "unknown exception"}});
    }
    const auto ended = clock_.now();
    const bool once = entry.interval.count() <= 0;
    if (once) entry.task = nullptr;   // what the task owns goes before anybody is told that it has ended
    lock.lock();
    const bool again = !once && !runningCancelled_ && !stopping_;
    if (again) {
        const auto due = ended + entry.interval;
        insert(due, std::move(entry));
    } else if (!once) {
        lock.unlock();
        entry.task = nullptr;
        lock.lock();
    }
    runningId_ = 0;
    runningOwner_ = nullptr;
    finished_.notify_all();
    return true;
}

std::size_t ControlExecutor::runDue() {
    std::size_t count = 0;
    std::unique_lock lock(mutex_);
    while (!stopping_ && runFirst(lock)) ++count;
    return count;
}

std::size_t ControlExecutor::pending() const {
    const std::lock_guard lock(mutex_);
    return schedule_.size();
}

void ControlExecutor::work() noexcept {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (runFirst(lock)) continue;
        if (schedule_.empty()) {
            changed_.wait(lock);
        } else {
            clock_.wait(changed_, lock, schedule_.begin()->first);
        }
    }
}

plugin::TimerId PluginTimers::every(std::chrono::milliseconds first, std::chrono::milliseconds interval, plugin::Task task) {
    return executor_.schedule(this, first, std::max(interval, std::chrono::milliseconds(1)), guarded(std::move(task)));
}

plugin::TimerId PluginTimers::after(std::chrono::milliseconds delay, plugin::Task task) {
    return executor_.schedule(this, delay, {}, guarded(std::move(task)));
}

plugin::Task PluginTimers::guarded(plugin::Task task) const {
    if (!failed_) return task;
    return [this, run = std::move(task)] {
        try {
            run();
        } catch (const std::exception& error) {
            failed_(error.what());
        } catch (...) {
            failed_("unknown exception");
        }
    };
}

}  // namespace patchbay::kernel
