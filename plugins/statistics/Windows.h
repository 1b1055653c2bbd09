// Windows: samples of one growing count, and what passed in the last minute, hour and day.
#pragma once

#include "patchbay/service/TrafficStats.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchbay::plugins::statistics {

/// A count as it was at one moment.
struct Sample {
    std::int64_t wallMs = 0;
    std::int64_t calls = 0;
    std::int64_t sum = 0;
};

/// Samples at one distance, oldest first. RocketMQ's rule: a window without samples gets one of nought a whole distance ago. One thread.
class Window {
public:
    Window(std::int64_t distanceMs, std::size_t kept) noexcept : distanceMs_(distanceMs), kept_(kept) {}
    void take(const Sample& now);
    [[nodiscard]] service::TrafficStats::Window figures() const noexcept;

private:
    std::int64_t distanceMs_;
    std::size_t kept_;
    std::vector<Sample> samples_;
};

/// The three windows of a count. Owned by its count; the caller locks.
class Windows {
public:
    /// Called every 10 s; `tick` counts these calls.
    void take(const Sample& now, std::uint64_t tick);
    [[nodiscard]] service::TrafficStats::Figures figures() const noexcept {
        return {minute_.figures(), hour_.figures(), day_.figures()};
    }

private:
    Window minute_{10'000, 7};
    Window hour_{600'000, 7};
    Window day_{3'600'000, 25};
};

}  // namespace patchbay::plugins::statistics
