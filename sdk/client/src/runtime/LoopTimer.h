// LoopTimer: one timer of an event loop that ends with its owner.
#pragma once

#include "patchbay/net/EventLoop.h"

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace patchbay::client {

/// Loop thread only, destructor too. At most one run is planned at a time; the callback may plan the next one and may destroy the timer.
class LoopTimer {
public:
    explicit LoopTimer(net::EventLoop& loop) noexcept : loop_(loop) {}
    ~LoopTimer() { cancel(); }
    LoopTimer(const LoopTimer&) = delete;
    LoopTimer& operator=(const LoopTimer&) = delete;

    /// Replaces what was planned.
    void once(std::chrono::milliseconds delay, std::function<void()> callback) {
        cancel();
        planned_ = true;
        id_ = loop_.after(delay, [this, callback = std::move(callback)] {
            planned_ = false;
            callback();
        });
    }
    /// Again and again, `period` after each run's beginning.
    void every(std::chrono::milliseconds delay, std::chrono::milliseconds period, std::function<void()> callback) {
        repeat(delay, period, std::make_shared<std::function<void()>>(std::move(callback)));
    }
    void cancel() noexcept {
        if (std::exchange(planned_, false)) loop_.cancel(id_);
    }
    [[nodiscard]] bool planned() const noexcept { return planned_; }

private:
    void repeat(std::chrono::milliseconds delay, std::chrono::milliseconds period, std::shared_ptr<std::function<void()>> callback) {
        once(delay, [this, period, callback] {
            repeat(period, period, callback);
            (*callback)();
        });
    }

    net::EventLoop& loop_;
    net::TimerWheel::Id id_ = 0;
    bool planned_ = false;
};

}  // namespace patchbay::client
