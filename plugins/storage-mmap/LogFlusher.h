// LogFlusher: makes the commit log durable, periodically or for those who wait.
#pragma once

#include "CommitLog.h"
#include "Publisher.h"
#include "StoreConfig.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace patchbay::mmapstore {

/// Purpose: ASYNC_FLUSH: a sync now and then while there is something new. SYNC_FLUSH: one sync for all batches that
/// arrived during the last one; then they become visible and are answered, in order.
/// Owned by the store. One thread (two under SYNC_FLUSH: the second answers those whose time is up while the disk hangs);
/// both sleep while nothing is waiting.
/// Failure: a failed sync is final (nobody knows what is on the disk): the state is marked, waiting batches are refused,
/// nothing more becomes visible under SYNC_FLUSH.
class LogFlusher {
public:
    LogFlusher(const StoreOptions& options, const StoreTunables& tunables, const Clock& clock, plugin::Logger& log,
               CommitLog& commitLog, StoreState& state, Publisher& publisher) noexcept
        : options_(options), tunables_(tunables), clock_(clock), log_(log), commitLog_(commitLog), state_(state),
          publisher_(publisher) {}
    ~LogFlusher() { stop(); }

    void start();
    /// Flushes what is there and joins.
    void stop() noexcept;

    /// ASYNC_FLUSH: something was written.
    void wrote() noexcept {
        if (!dirty_.exchange(true, std::memory_order_acq_rel)) wake();
    }
    /// SYNC_FLUSH: whether so much waits for the disk that nothing more should.
    [[nodiscard]] bool isFull() const noexcept { return queuedBytes() >= options_.syncFlushQueuedBytes; }
    [[nodiscard]] std::int64_t queuedBytes() const noexcept { return queuedBytes_.load(std::memory_order_relaxed); }
    /// SYNC_FLUSH: how long the oldest work has waited for the disk; 0 when none does.
    [[nodiscard]] std::chrono::milliseconds oldestWait() const noexcept;
    /// SYNC_FLUSH: an empty work, pooled.
    [[nodiscard]] std::unique_ptr<AppendWork> take();
    /// SYNC_FLUSH: publishes and answers when durable. In order of calls, under the append lock.
    void submit(std::unique_ptr<AppendWork> work);
    /// SYNC_FLUSH: a work that was not written.
    void giveBack(std::unique_ptr<AppendWork> work) noexcept;
    /// Makes everything durable that was written before; any thread; waits.
    Status flush();

private:
    void wake() noexcept;
    void run();
    void watch();
    bool waitForWork(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool isDue() const noexcept;
    Status syncOnce();
    void finish(std::vector<std::unique_ptr<AppendWork>>& works, const Status& outcome) noexcept;
    [[nodiscard]] service::AppendBatch* claim(AppendWork& work) noexcept;
    void answer(service::AppendBatch& batch) noexcept;

    const StoreOptions& options_;
    const StoreTunables& tunables_;
    const Clock& clock_;
    plugin::Logger& log_;
    CommitLog& commitLog_;
    StoreState& state_;
    Publisher& publisher_;

    std::atomic<bool> dirty_{false};
    std::atomic<std::int64_t> queuedBytes_{0};  // of all works that were submitted and not finished
    std::atomic<MonotonicTime> lastSync_{};
    std::mutex syncMutex_;  // one sync at a time

    mutable std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable deadlines_;
    bool stopping_ = false;                             // guarded by mutex_, like everything below
    std::vector<std::unique_ptr<AppendWork>> waiting_;
    std::vector<std::unique_ptr<AppendWork>>* syncing_ = nullptr;
    bool armed_ = false;                                // the watcher waits for a deadline, or is about to look
    std::vector<std::unique_ptr<AppendWork>> pool_;
    std::thread thread_;
    std::thread watcher_;
};

}  // namespace patchbay::mmapstore
