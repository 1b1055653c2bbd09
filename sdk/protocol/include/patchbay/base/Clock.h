// Clock: the only way to ask for the time, so that tests and simulations decide it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace patchbay {

/// A point on a clock that never goes back; for waits, deadlines and ages.
using MonotonicTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

/// Both clocks of the process. Implementations are thread-safe and never fail.
class Clock {
public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual MonotonicTime now() const noexcept = 0;
    /// Milliseconds since the epoch: what is stored in messages and shown to people. May step; never wait on it.
    [[nodiscard]] virtual std::int64_t wallMs() const noexcept = 0;

    /// Blocks until somebody notifies `changed` or it is `until` by this clock; may come back earlier, so ask again what was waited
    /// for. `lock` is held before and after. Every timed wait of a thread goes through here, or a simulated clock could not end it.
    virtual void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, MonotonicTime until) const;

    /// wait() until `ready()` is true, or `atMost` has passed: false. `ready` is called with `lock` held.
    template <typename Ready>
    bool waitFor(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds atMost, Ready ready) const {
        const MonotonicTime until = now() + atMost;
        while (!ready()) {
            if (now() >= until) return false;
            wait(changed, lock, until);
        }
        return true;
    }
};

/// The operating system's clocks. One object for the process, never destroyed before it ends.
[[nodiscard]] const Clock& systemClock() noexcept;

}  // namespace patchbay
