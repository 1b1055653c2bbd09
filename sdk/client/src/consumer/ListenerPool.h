// ListenerPool: the threads on which a consumer's listener runs.
#pragma once

#include "runtime/Executor.h"

#include "patchbay/base/Clock.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

namespace patchbay::client {

/// Counts the listeners at work, so that a close can wait for them. Any thread.
class ListenerPool {
public:
    ListenerPool(const Clock& clock, std::size_t threads) : clock_(clock), executor_("pb-listener", threads) {}

    /// Tasks that have not begun when the pool closes do not run any more.
    void post(std::function<void()> task);
    /// Waits up to `limit` for listeners at work, but not for the one that calls. False when some are left to themselves.
    bool close(std::chrono::milliseconds limit);
    /// For tasks that take long: they are waited for.
    [[nodiscard]] bool isClosed() const noexcept { return state_->closed.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t threads() const noexcept { return executor_.threads(); }

private:
    struct State {
        std::mutex mutex;
        std::condition_variable idle;
        std::size_t working = 0;
        std::atomic<bool> closed{false};  // set under the mutex
    };
    const Clock& clock_;
    const std::shared_ptr<State> state_ = std::make_shared<State>();
    Executor executor_;
};

}  // namespace patchbay::client
