#include "PendingTimers.h"

#include <algorithm>
#include <functional>

namespace patchbay::plugins::timer {

namespace {

constexpr std::int64_t kBlock = 4096;

bool isLater(const PendingTimer& a, const PendingTimer& b) noexcept { return b < a; }

}  // namespace

void PendingTimers::add(PendingTimer timer) {
    ++unfinished_[timer.offset / kBlock];
    putBack(timer);
}

void PendingTimers::putBack(PendingTimer timer) {
    heap_.push_back(timer);
    std::push_heap(heap_.begin(), heap_.end(), isLater);
}

PendingTimer PendingTimers::take() {
    std::pop_heap(heap_.begin(), heap_.end(), isLater);
    const PendingTimer timer = heap_.back();
    heap_.pop_back();
    // A burst must not keep its memory for ever.
    if (heap_.capacity() > kBlock && heap_.size() < heap_.capacity() / 4) heap_.shrink_to_fit();
    return timer;
}

void PendingTimers::finished(const PendingTimer& timer) {
    const auto block = unfinished_.find(timer.offset / kBlock);
    if (--block->second == 0) unfinished_.erase(block);
}

std::optional<std::int64_t> PendingTimers::lowestUnfinished() const noexcept {
    if (unfinished_.empty()) return std::nullopt;
    return unfinished_.begin()->first * kBlock;
}

}  // namespace patchbay::plugins::timer
