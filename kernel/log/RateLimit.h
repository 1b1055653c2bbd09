// RateLimit: which repeated log lines are written and how many were hidden.
#pragma once

#include "patchbay/base/Clock.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace patchbay::kernel {

/// One line per text in ten seconds. Texts are known by their hash; when more than kSlots are in use the one that is quiet for
/// longest is forgotten, so that memory is bounded whatever peers do. Any thread.
class RateLimit {
public:
    /// True when a line may be written now; then `hidden` is how many were refused since the last one.
    bool admit(std::string_view text, MonotonicTime now, std::uint64_t& hidden) noexcept;

private:
    static constexpr std::size_t kSlots = 32;
    static constexpr std::chrono::seconds kInterval{10};

    struct Slot {
        std::size_t hash = 0;
        bool used = false;
        MonotonicTime written{};
        std::uint64_t hidden = 0;
    };
    std::mutex mutex_;
    std::array<Slot, kSlots> slots_{};   // guarded by mutex_
};

}  // namespace patchbay::kernel
