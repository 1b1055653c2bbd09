// InFlight: counts work that was handed to the store, so that a stop can wait for it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace patchbay::plugins::transaction {

/// Any thread. enter() before the work is handed over, leave() as its last act.
class InFlight {
public:
    void enter() {
        const std::lock_guard lock(mutex_);
        ++count_;
    }
    void leave() noexcept {
        // The signal too is under the lock: whoever waits destroys this object next.
        const std::lock_guard lock(mutex_);
        if (--count_ == 0) idle_.notify_all();
    }
    void awaitNone() noexcept {
        std::unique_lock lock(mutex_);
        idle_.wait(lock, [this] { return count_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable idle_;
    std::size_t count_ = 0;
};

}  // namespace patchbay::plugins::transaction
