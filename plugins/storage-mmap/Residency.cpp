#include "Residency.h"

#include <algorithm>
#include <chrono>

namespace patchbay::mmapstore {

namespace {

std::int64_t nanos(MonotonicTime time) noexcept {
    return time.time_since_epoch().count();
}

}  // namespace

Residency::Residency(Ref<Mapping> mapping)
    : mapping_(std::move(mapping)),
      until_(std::make_unique<std::atomic<std::int64_t>[]>((mapping_->bytes().size() + kRegionBytes - 1) / kRegionBytes)) {}

bool Residency::has(std::size_t offset, std::size_t size, std::size_t limit, MonotonicTime now) noexcept {
    if (offset > mapping_->bytes().size() || size > mapping_->bytes().size() - offset) return false;
    if (size == 0) return true;
    const std::size_t last = (offset + size - 1) / kRegionBytes;
    bool whole = true;
    for (std::size_t region = offset / kRegionBytes; whole && region <= last; ++region) whole = hasRegion(region, limit, now);
    return whole || mapping_->resident(offset, size);
}

bool Residency::hasRegion(std::size_t region, std::size_t limit, MonotonicTime now) noexcept {
    std::atomic<std::int64_t>& until = until_[region];
    const std::int64_t known = until.load(std::memory_order_relaxed);
    if (nanos(now) < std::abs(known)) return known > 0;
    const std::size_t from = region * kRegionBytes;
    const std::size_t to = std::min({from + kRegionBytes, mapping_->bytes().size(), limit});
    const bool present = to <= from || mapping_->resident(from, to - from);
    const std::int64_t fresh = nanos(now + (present ? kPresentFor : kPartialFor));
    until.store(present ? fresh : -fresh, std::memory_order_relaxed);
    return present;
}

}  // namespace patchbay::mmapstore
