// DelayLevels: how long each delay level waits.
#pragma once

#include "patchbay/base/Result.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

/// RocketMQ's default of messageDelayLevel.
inline constexpr std::string_view kDelayLevelsDefault = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h";

/// The parsed messageDelayLevel: level n is the n-th entry, counted from 1. A value; constant after parse().
class DelayLevels {
public:
    /// "1s 5s 10m 2h 1d": numbers with a unit, separated by blanks. InvalidArgument names the entry that is wrong.
    static Result<DelayLevels> parse(std::string_view text);

    [[nodiscard]] std::int32_t max() const noexcept { return static_cast<std::int32_t>(delays_.size()); }
    /// Milliseconds. Levels above max() wait as long as max(); `level` is at least 1.
    [[nodiscard]] std::int64_t delayMs(std::int32_t level) const noexcept;
    /// When a message of the schedule topic that was stored then has to be delivered; nothing when it names no level.
    [[nodiscard]] std::optional<std::int64_t> dueMs(std::string_view properties, std::int64_t storeTimestamp) const noexcept;

private:
    std::vector<std::int64_t> delays_;
};

}  // namespace patchbay::protocol
