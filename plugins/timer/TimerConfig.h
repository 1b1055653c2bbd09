// TimerConfig: the keys of the timer plugin.
#pragma once

#include "patchbay/plugin/Config.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace patchbay::plugins::timer {

/// A copy of the configured values.
struct TimerConfig {
    bool enabled = true;                               ///< timerWheelEnable
    std::int64_t maxDelayMs = 259'200'000;             ///< timerMaxDelaySec
    std::int64_t precisionMs = 1000;                   ///< timerPrecisionMs: of TIMER_OUT_MS and of recall handles, not of the delivery
    std::int64_t rollAfterMs = 172'800'000;            ///< timerRollAfter
    std::size_t pendingMax = 10'000'000;               ///< timerPendingMax
    std::chrono::milliseconds flushInterval{1000};     ///< timerFlushIntervalMs
    std::int64_t logFileBytes = 104'857'600;           ///< mappedFileSizeTimerLog
    bool recall = false;                               ///< recallMessageEnable
    bool recallWhenNotWriteable = true;                ///< allowRecallWhenBrokerNotWriteable
    std::uint32_t permission = 6;                      ///< brokerPermission at the start; the one that may change while messages come

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static TimerConfig from(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::timer
