// Residency: which parts of a mapping are in memory, asked of the system rarely.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace patchbay::mmapstore {

/// Purpose: a read that must not wait for the disk asks for every message; the system is asked for a whole region at once and
/// its answer counts for a while. Pages that are evicted meanwhile cost such a read a wait, which is rare and bounded.
/// Owned by whoever keeps the mapping, and by readers; any thread, without a lock: two that ask at once both ask the system.
class Residency : public RefCounted {
public:
    explicit Residency(Ref<Mapping> mapping);

    [[nodiscard]] const Ref<Mapping>& mapping() const noexcept { return mapping_; }
    /// Whether [offset, offset+size) can be read without waiting. `limit`: where what was ever written ends; what lies behind it
    /// says nothing about the rest of its region.
    [[nodiscard]] bool has(std::size_t offset, std::size_t size, std::size_t limit, MonotonicTime now) noexcept;

    static constexpr std::size_t kRegionBytes = 1U << 20;
    /// How long a region counts as being in memory, and as not being there whole.
    static constexpr std::chrono::milliseconds kPresentFor{1000};
    static constexpr std::chrono::milliseconds kPartialFor{20};

private:
    [[nodiscard]] bool hasRegion(std::size_t region, std::size_t limit, MonotonicTime now) noexcept;

    const Ref<Mapping> mapping_;
    /// Per region, ns: until when the last answer counts; negative when it was that parts are missing.
    const std::unique_ptr<std::atomic<std::int64_t>[]> until_;
};

}  // namespace patchbay::mmapstore
