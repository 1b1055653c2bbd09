#include "patchbay/protocol/message/DelayLevels.h"

#include "patchbay/protocol/message/Properties.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace patchbay::protocol {

namespace {

constexpr std::int64_t kDelayMsMax = std::int64_t{366} * 24 * 3600 * 1000;

/// 0 for a letter that is no unit.
std::int64_t unitMs(char unit) noexcept {
    switch (unit) {
        case 's': return 1000;
        case 'm': return 60'000;
        case 'h': return 3'600'000;
        case 'd': return 86'400'000;
        default: return 0;
    }
}

/// 0 for a text that is no delay.
std::int64_t parseDelay(std::string_view text) noexcept {
    std::int64_t number = 0;
    const char* const last = text.data() + text.size() - 1;
    const auto [end, error] = std::from_chars(text.data(), last, number);
    const std::int64_t unit = unitMs(*last);
    if (error != std::errc() || end != last || unit == 0 || number <= 0 || number > kDelayMsMax / unit) return 0;
    return number * unit;
}

}  // namespace

Result<DelayLevels> DelayLevels::parse(std::string_view text) {
    DelayLevels levels;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view entry = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (entry.empty()) continue;
        const std::int64_t delay = parseDelay(entry);
        if (delay == 0) {
            return Status(StatusCode::InvalidArgument, "messageDelayLevel: \"" + std::string(entry) +
                                                           "\" is no delay; write a number and s, m, h or d, a year at most");
        }
        levels.delays_.push_back(delay);
    }
    if (levels.delays_.empty()) return Status(StatusCode::InvalidArgument, "messageDelayLevel: there is no level");
    return levels;
}

std::int64_t DelayLevels::delayMs(std::int32_t level) const noexcept {
    return delays_[static_cast<std::size_t>(std::min(level, max()) - 1)];
}

std::optional<std::int64_t> DelayLevels::dueMs(std::string_view properties, std::int64_t storeTimestamp) const noexcept {
    const std::string_view text = findProperty(properties, kPropertyDelayLevel);
    std::int32_t level = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), level);
    if (level <= 0) return std::nullopt;
    return storeTimestamp + delayMs(level);
}

}  // namespace patchbay::protocol
