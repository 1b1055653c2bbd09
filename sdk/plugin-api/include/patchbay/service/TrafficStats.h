// TrafficStats: how much passes through topics and groups, in RocketMQ's names and windows.
#pragma once

#include "patchbay/plugin/Services.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

    /// What was stored in one topic since the start.
    struct TopicTotals {
        static constexpr std::array<std::int64_t, 6> kSizeBounds{1'024, 4'096, 524'288, 1'048'576, 2'097'152, 4'194'304};
        std::string topic;
        std::int64_t messages = 0;
        std::int64_t bytes = 0;
        /// Messages by the size of their record: up to the bound, and more than the one before; the last one is the rest.
        std::array<std::int64_t, kSizeBounds.size() + 1> sizes{};
    };
    /// All topics that had traffic.
    [[nodiscard]] virtual std::vector<TopicTotals> topics() const;

    /// Adds to a figure that the caller alone knows of, such as SNDBCK_PUT_NUMS. For what is rare: it takes a lock.
    virtual void count(std::string_view name, std::string_view key, std::int64_t sum);
    /// All that was added to it since the start; 0 for what was not.
    struct Counted {
        std::string name;
        std::string key;
        std::int64_t sum = 0;
    };
    [[nodiscard]] virtual std::vector<Counted> counted() const;
};

}  // namespace patchbay::service
