// TimerMessage: what the properties of a message say about its delivery time.
#pragma once

#include "TimerConfig.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::plugins::timer {

/// RocketMQ's slots are at most so long, so a message is due at most so long after its TIMER_OUT_MS.
inline constexpr std::int64_t kSlotMsMax = 1000;

/// The properties of a message in the timer topic; views into them.
struct TimerMessage {
    std::string_view realTopic;
    std::string_view uniqueKey;
    std::string_view recalledKey;          ///< TIMER_DEL_UNIQKEY: it is no message but calls one back
    std::optional<std::int32_t> realQueue;
    std::optional<std::int64_t> outMs;     ///< TIMER_OUT_MS
    std::optional<std::int64_t> delayMs;   ///< TIMER_DELAY_SEC or TIMER_DELAY_MS, from the store time on
    std::optional<std::int64_t> deliverMs; ///< TIMER_DELIVER_MS
    std::int32_t rolled = 0;               ///< TIMER_ROLL_TIMES; a producer may have written it
    /// That of the copy to wait on.
    [[nodiscard]] std::int32_t rolledOnce() const noexcept { return rolled < INT32_MAX ? rolled + 1 : rolled; }

    static TimerMessage of(std::string_view properties) noexcept;

    /// When it is due, ms since the epoch: what was wished, but within the slot behind TIMER_OUT_MS, which is rounded down.
    /// RocketMQ's messages are read right whatever its precision was. Needs outMs.
    [[nodiscard]] std::int64_t dueMs(std::int64_t storeTimestamp) const noexcept;
    /// How a recall names it.
    [[nodiscard]] std::string recallKey() const { return recallKeyOf(realTopic, uniqueKey); }
    static std::string recallKeyOf(std::string_view topic, std::string_view uniqueKey);
};

/// When a message that was stored then and is due then has to be looked at: when it is due, or when it has to be stored anew.
[[nodiscard]] std::int64_t wakeMs(std::int64_t dueMs, std::int64_t storeTimestamp, std::int64_t rollAfterMs) noexcept;

}  // namespace patchbay::plugins::timer
