#include "patchbay/net/TimerWheel.h"

#include <algorithm>
#include <utility>

namespace patchbay::net {

std::uint64_t TimerWheel::tickOf(MonotonicTime time) const noexcept {
    return time <= start_ ? 0 : static_cast<std::uint64_t>((time - start_) / kSlot);
}

TimerWheel::Id TimerWheel::schedule(MonotonicTime due, Callback callback) {
    // The next whole slot, so that nothing fires early; at least one that advance() has still to look at.
    const auto tick = std::max(tickOf(due + kSlot - std::chrono::nanoseconds(1)), tick_);
    const Id id = nextId_++;
    nextTick_ = std::min(nextTick_, tick);
    slots_[tick % kSlots].push_back(id);
    timers_.emplace(id, Timer{tick, std::move(callback)});
    return id;
}

void TimerWheel::cancel(Id id) noexcept { timers_.erase(id); }  // its id is swept from the slot when the wheel passes

void TimerWheel::advance(MonotonicTime now) {
    const auto last = tickOf(now);
    if (last < tick_) return;
    // After a long pause every slot is looked at once, not once for each round that was missed.
    const auto first = std::max(tick_, last >= kSlots - 1 ? last - (kSlots - 1) : 0);
    tick_ = last + 1;
    if (last < nextTick_) return;
    due_.clear();
    for (auto tick = first; tick <= last; ++tick) {
        auto& slot = slots_[tick % kSlots];
        std::erase_if(slot, [&](Id id) {
            const auto found = timers_.find(id);
            if (found == timers_.end()) return true;
            if (found->second.dueTick > last) return false;
            due_.push_back(id);
            return true;
        });
    }
    findNext();
    for (std::size_t i = 0; i < due_.size(); ++i) {
        const auto found = timers_.find(due_[i]);
        if (found == timers_.end()) continue;  // cancelled by an earlier one
        const auto callback = std::move(found->second.callback);
        timers_.erase(found);
        callback();
    }
}

// Cancelled timers and those of a later round only cost a look when their slot's turn comes.
void TimerWheel::findNext() noexcept {
    nextTick_ = UINT64_MAX;
    if (timers_.size() == due_.size()) return;
    for (auto tick = tick_; tick < tick_ + kSlots; ++tick) {
        if (slots_[tick % kSlots].empty()) continue;
        nextTick_ = tick;
        return;
    }
}

int TimerWheel::waitMs(MonotonicTime now) const noexcept {
    if (nextTick_ == UINT64_MAX) return -1;
    const auto at = start_ + kSlot * static_cast<std::int64_t>(nextTick_);
    if (at <= now) return 0;
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(at - now).count());
}

}  // namespace patchbay::net
