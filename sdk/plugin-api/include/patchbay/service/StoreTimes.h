// StoreTimes: how long the appends and reads of a store took.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace patchbay::service {

/// What was counted since the start.
struct StoreTimeFigures {
    static constexpr std::array<std::int64_t, 12> kBoundsMs{1, 10, 50, 100, 200, 500, 1'000, 2'000, 3'000, 4'000, 5'000, 10'000};
    /// Messages by the time from append() to the end of their batch: below the bound, and not below the one before; the last one is the rest.
    std::array<std::int64_t, kBoundsMs.size() + 1> appends{};
    std::int64_t appendMaxMs = 0;
    std::int64_t readMaxMs = 0;   ///< the longest call of read()
};

/// Counts for a store: one addition and a comparison for a batch, a comparison for a read. Any thread.
class StoreTimes {
public:
    void appended(std::size_t messages, std::chrono::nanoseconds took) noexcept {
        const std::int64_t ms = milliseconds(took);
        const auto& bounds = StoreTimeFigures::kBoundsMs;
        const auto step = static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), ms) - bounds.begin());
        appends_[step].fetch_add(static_cast<std::int64_t>(messages), std::memory_order_relaxed);
        raise(appendMaxMs_, ms);
    }
    void read(std::chrono::nanoseconds took) noexcept { raise(readMaxMs_, milliseconds(took)); }

    [[nodiscard]] StoreTimeFigures figures() const noexcept {
        StoreTimeFigures figures;
        for (std::size_t i = 0; i < appends_.size(); ++i) figures.appends[i] = appends_[i].load(std::memory_order_relaxed);
        figures.appendMaxMs = appendMaxMs_.load(std::memory_order_relaxed);
        figures.readMaxMs = readMaxMs_.load(std::memory_order_relaxed);
        return figures;
    }

private:
    using Count = std::atomic<std::int64_t>;

    [[nodiscard]] static std::int64_t milliseconds(std::chrono::nanoseconds took) noexcept {
        return std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
    }
    static void raise(Count& most, std::int64_t value) noexcept {
        std::int64_t before = most.load(std::memory_order_relaxed);
        while (value > before && !most.compare_exchange_weak(before, value, std::memory_order_relaxed)) {}
    }

    std::array<Count, StoreTimeFigures::kBoundsMs.size() + 1> appends_{};
    Count appendMaxMs_{0};
    Count readMaxMs_{0};
};

}  // namespace patchbay::service
