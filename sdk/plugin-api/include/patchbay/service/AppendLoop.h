// AppendLoop: the work of a plugin that now and then looks for something to append.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Runtime.h"
#include "patchbay/service/MessageStore.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

namespace patchbay::service {

/// Calls `look` on the control executor: soon after lookSoon(), at a time, and when an append has ended that was still on its way as the
/// look ended. So a look never waits for the store, and at most one append is on its way; until takeEnd() says that it ended, `items` and
/// `failure` are the store's. Owned by who looks, and destroyed after stop().
class AppendLoop final : public AppendBatch {
public:
    AppendLoop(MessageStore& store, plugin::Timers& timers, std::function<void()> look)
        : store_(store), timers_(timers), look_(std::move(look)) {}

    void start() noexcept {
        const std::lock_guard lock(mutex_);
        running_ = true;
    }
    /// No look begins any more, so no append either. Any thread.
    void drain() noexcept {
        const std::lock_guard lock(mutex_);
        running_ = false;
    }
    /// After the timers were cancelled: waits for the append that is on its way. takeEnd() tells of it then.
    void stop() noexcept {
        drain();
        std::unique_lock lock(mutex_);
        allEnded_.wait(lock, [this] { return !appending_; });
    }

    /// Any thread.
    void lookSoon() noexcept {
        const std::lock_guard lock(mutex_);
        post();
    }
    /// After a while, besides all other looks. Any thread.
    void lookAfter(std::chrono::milliseconds delay) noexcept {
        const std::lock_guard lock(mutex_);
        if (running_) timers_.after(delay, [this] { lookSoon(); });
    }
    /// At a time, instead of the one that was said before; MonotonicTime::max(): never. Within a look.
    void lookAt(MonotonicTime at, MonotonicTime now) {
        if (at == timerAt_ && at > now) return;
        timers_.cancel(timer_);
        timerAt_ = at;
        if (at == MonotonicTime::max()) return;
        const auto wait = std::chrono::ceil<std::chrono::milliseconds>(at - now);
        timer_ = timers_.after(std::max(wait, std::chrono::milliseconds(0)), [this] {
            timerAt_ = MonotonicTime::max();
            lookSoon();
        });
    }

    /// Appends `items`. Whether that has ended already. Within a look.
    bool submit() {
        onItsWay_ = true;
        failure = Status::ok();
        {
            const std::lock_guard lock(mutex_);
            appending_ = true;
            lookWhenDone_ = false;
        }
        store_.append(*this);
        const std::lock_guard lock(mutex_);
        lookWhenDone_ = appending_;
        return !appending_;
    }
    /// From submit() to takeEnd(). Within a look, or after stop().
    [[nodiscard]] bool isOnItsWay() const noexcept { return onItsWay_; }
    /// Once for each append, when it has ended. Within a look, or after stop().
    [[nodiscard]] bool takeEnd() noexcept {
        if (!onItsWay_ || !ended_.exchange(false, std::memory_order_acquire)) return false;
        onItsWay_ = false;
        return true;
    }

private:
    void done() noexcept override {
        // Everything under the lock. The signal: stop() is followed by destruction. The end, too: a look that has seen it may submit the
        // next append, which waits for the lock then, or this would take that one for ended.
        const std::lock_guard lock(mutex_);
        ended_.store(true, std::memory_order_release);
        appending_ = false;
        if (lookWhenDone_) post();
        allEnded_.notify_all();
    }
    /// With the lock held.
    void post() noexcept {
        if (posted_ || !running_) return;
        posted_ = true;
        timers_.post([this] {
            {
                const std::lock_guard lock(mutex_);
                posted_ = false;
                if (!running_) return;
            }
            look_();
        });
    }

    MessageStore& store_;
    plugin::Timers& timers_;
    const std::function<void()> look_;

    // Control executor only.
    plugin::TimerId timer_ = 0;
    MonotonicTime timerAt_ = MonotonicTime::max();
    bool onItsWay_ = false;

    std::atomic<bool> ended_{false};
    std::mutex mutex_;
    std::condition_variable allEnded_;
    // Guarded by mutex_.
    bool appending_ = false;
    bool lookWhenDone_ = false;  // no look waits for the append any more
    bool posted_ = false;
    bool running_ = false;
};

}  // namespace patchbay::service
