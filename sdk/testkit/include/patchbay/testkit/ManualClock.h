// ManualClock: time that passes when the test says so.
#pragma once

#include "patchbay/base/Clock.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace patchbay::testkit {

/// Stands still between calls of its setters. Thread-safe. To make timers run as well use FakeContext::advance().
class ManualClock final : public Clock {
public:
    /// Starts one hour after the monotonic clock's zero, at a wall time in the year 2023.
    explicit ManualClock(std::int64_t wallMs = 1'700'000'000'000) noexcept : wallMs_(wallMs) {}

    [[nodiscard]] MonotonicTime now() const noexcept override {
        return MonotonicTime(std::chrono::nanoseconds(nanos_.load(std::memory_order_acquire)));
    }
    [[nodiscard]] std::int64_t wallMs() const noexcept override { return wallMs_.load(std::memory_order_acquire); }

    /// Looks again every millisecond of real time: whoever sets the clock need not know who waits on it.
    void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, MonotonicTime until) const override {
        if (now() < until) changed.wait_for(lock, std::chrono::milliseconds(1));
    }

    /// Both clocks go on together.
    void advance(std::chrono::milliseconds by) noexcept {
        nanos_.fetch_add(std::chrono::nanoseconds(by).count(), std::memory_order_acq_rel);
        wallMs_.fetch_add(by.count(), std::memory_order_acq_rel);
    }
    /// A step of the wall clock alone, as by an operator or NTP; backwards too.
    void setWallMs(std::int64_t wallMs) noexcept { wallMs_.store(wallMs, std::memory_order_release); }

private:
    std::atomic<std::int64_t> nanos_{3'600'000'000'000};
    std::atomic<std::int64_t> wallMs_;
};

}  // namespace patchbay::testkit
