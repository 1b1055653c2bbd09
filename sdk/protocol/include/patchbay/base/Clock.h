// Clock: the only way to ask for the time, so that tests and simulations decide it.
#pragma once

#include <chrono>
#include <cstdint>

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
};

/// The operating system's clocks. One object for the process, never destroyed before it ends.
[[nodiscard]] const Clock& systemClock() noexcept;

}  // namespace patchbay
