// StoreState: the few numbers and the health that all parts of a store share.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/Status.h"
#include "patchbay/service/StoreTimes.h"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace patchbay::mmapstore {

/// Owned by the store; any thread.
class StoreState {
public:
    std::atomic<std::int64_t> end{0};          ///< of the log as written
    std::atomic<std::int64_t> visibleEnd{0};   ///< of what readers may see
    std::atomic<std::int64_t> flushedEnd{0};   ///< of what is durable
    std::atomic<std::int64_t> startEnd{0};     ///< where this process began to write
    std::atomic<std::int64_t> storeTime{0};    ///< of the newest message whose units are in its queue; set after `end`
    std::atomic<std::int64_t> checkpointTime{0};  ///< up to which the checkpoint calls everything safe
    std::atomic<std::int64_t> lastRecord{0};   ///< where the newest record starts
    std::atomic<std::int64_t> appended{0};
    std::atomic<std::int64_t> appendedBytes{0};
    std::atomic<std::int64_t> refused{0};
    std::atomic<std::int64_t> read{0};         ///< messages
    std::atomic<std::int64_t> readsFound{0};   ///< reads that returned messages
    std::atomic<std::int64_t> readsMissed{0};  ///< reads that returned none
    service::StoreTimes times;
    std::atomic<MonotonicTime> appendingSince{};  ///< when the append that has the lock began; zero = none
    std::atomic<MonotonicTime> lockedSince{};     ///< when it got the lock

    /// Why nothing can be written any more, for good: a sync has failed, so nobody knows what is on the disk.
    void fail(Status why) {
        const std::lock_guard lock(mutex_);
        if (failure_) failure_ = std::move(why);
        failed_.store(true, std::memory_order_release);
    }
    /// Why nothing can be written now; Ok clears it.
    void hold(Status why) {
        const std::lock_guard lock(mutex_);
        held_.store(!why, std::memory_order_release);
        hold_ = std::move(why);
    }
    [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
    [[nodiscard]] bool writable() const noexcept { return !failed() && !held_.load(std::memory_order_acquire); }
    [[nodiscard]] Status health() const {
        const std::lock_guard lock(mutex_);
        return failure_ ? hold_ : failure_;
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        failure_ = hold_ = Status::ok();
        failed_ = held_ = false;
    }

private:
    mutable std::mutex mutex_;
    Status failure_;  // guarded by mutex_
    Status hold_;     // guarded by mutex_
    std::atomic<bool> failed_{false};
    std::atomic<bool> held_{false};
};

}  // namespace patchbay::mmapstore
