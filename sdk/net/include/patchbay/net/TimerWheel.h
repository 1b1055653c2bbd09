// TimerWheel: many coarse timers at a constant price each.
#pragma once

#include "patchbay/base/Clock.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace patchbay::net {

/// Timers in slots of 8 ms; one fires up to a slot late and never early. Belongs to one thread. Callbacks may schedule and
/// cancel; an exception that leaves one ends the process (a wall is the caller's business).
class TimerWheel {
public:
    using Id = std::uint64_t;
    using Callback = std::function<void()>;
    static constexpr std::chrono::milliseconds kSlot{8};

    explicit TimerWheel(MonotonicTime start) noexcept : start_(start) {}

    Id schedule(MonotonicTime due, Callback callback);
    /// The callback will not run afterwards. Unknown and finished ids are ignored.
    void cancel(Id id) noexcept;
    /// Runs what is due.
    void advance(MonotonicTime now);
    /// Milliseconds until the next look is worthwhile, -1 when there are no timers.
    [[nodiscard]] int waitMs(MonotonicTime now) const noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return timers_.size(); }

private:
    static constexpr std::size_t kSlots = 1024;  // one round is 8 s; later timers stay in their slot for further rounds

    struct Timer {
        std::uint64_t dueTick;
        Callback callback;
    };
    [[nodiscard]] std::uint64_t tickOf(MonotonicTime time) const noexcept;
    void findNext() noexcept;

    const MonotonicTime start_;
    std::uint64_t tick_ = 0;               // the first tick that has not been looked at
    std::uint64_t nextTick_ = UINT64_MAX;  // no slot before this one holds anything
    Id nextId_ = 1;
    std::array<std::vector<Id>, kSlots> slots_;
    std::unordered_map<Id, Timer> timers_;
    std::vector<Id> due_;
};

}  // namespace patchbay::net
