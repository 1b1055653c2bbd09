// TrafficStats: how much passes through topics and groups, in RocketMQ's names and windows.
#pragma once

#include "patchbay/plugin/Services.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::service {

/// Thread-safe. Offered by the statistics plugin; what it does not measure is not there, never zero.
class TrafficStats {
public:
    static constexpr plugin::ServiceId kId{"patchbay.TrafficStats", 1};
    virtual ~TrafficStats();

    struct Window {
        std::int64_t sum = 0;   ///< messages or bytes
        double tps = 0;         ///< sum a second
        double avgpt = 0;       ///< sum for each call; 0 for figures whose calls are not counted
    };
    struct Figures {
        Window minute;          ///< of the last 60 s, looked at every 10 s
        Window hour;            ///< every 10 minutes
        Window day;             ///< every hour
    };
    /// The figures of TOPIC_PUT_NUMS, GROUP_GET_NUMS and so on for a key such as "topic" or "topic@group"; nothing while there
    /// was no traffic of that kind.
    [[nodiscard]] virtual std::optional<Figures> find(std::string_view name, std::string_view key) const = 0;
};

}  // namespace patchbay::service
