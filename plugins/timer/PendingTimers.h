// PendingTimers: the messages that wait for their time, the next one on top.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace patchbay::plugins::timer {

/// When to look at a message, and its offset in the timer topic's queue.
struct PendingTimer {
    std::int64_t wakeMs;
    std::int64_t offset;
    friend bool operator<(const PendingTimer& a, const PendingTimer& b) noexcept {
        return a.wakeMs != b.wakeMs ? a.wakeMs < b.wakeMs : a.offset < b.offset;
    }
};

/// 16 bytes a message. Part of Delivery; one thread.
class PendingTimers {
public:
    void add(PendingTimer timer);
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
    [[nodiscard]] const PendingTimer& next() const noexcept { return heap_.front(); }
    /// In no order, without those that were taken.
    [[nodiscard]] const std::vector<PendingTimer>& all() const noexcept { return heap_; }
    /// Takes the next one out. It counts as unfinished until finished().
    PendingTimer take();
    /// Puts back one that was taken.
    void putBack(PendingTimer timer);
    void finished(const PendingTimer& timer);
    /// No message below that offset is unfinished, exact to a block of some thousand; nothing when all are finished.
    [[nodiscard]] std::optional<std::int64_t> lowestUnfinished() const noexcept;

private:
    std::vector<PendingTimer> heap_;                    // the smallest in front
    std::map<std::int64_t, std::uint32_t> unfinished_;  // by block of offsets
};

}  // namespace patchbay::plugins::timer
