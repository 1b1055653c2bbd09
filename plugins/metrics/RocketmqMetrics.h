// RocketmqMetrics: the broker in the names that RocketMQ 5 itself exports, so that dashboards made for it show this one.
#pragma once

#include "patchbay/plugin/Config.h"
#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/ConsumerOffsets.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/Observation.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TimerSchedule.h"
#include "patchbay/service/TopicConfigs.h"
#include "patchbay/service/TrafficStats.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::plugins::metrics {

/// Where the figures come from. Any may be empty; its metrics are missing then.
struct BrokerSources {
    plugin::ServiceRef<service::TopicConfigs> topics;
    plugin::ServiceRef<service::SubscriptionGroups> groups;
    plugin::ServiceRef<service::ConsumerOffsets> offsets;
    plugin::ServiceRef<service::ClientRegistry> clients;
    plugin::ServiceRef<service::TrafficStats> traffic;
    plugin::ServiceRef<service::TimerSchedule> timers;

    void want(plugin::Services& services);
};

/// Which families there are; RocketMQ's keys.
struct RocketmqFamilies {
    bool stats = true;
    bool connections = true;
    bool lag = true;
    bool requests = true;
    bool remoting = true;
    bool store = true;
    std::size_t seriesMax = 50'000;                            ///< of each family
    std::vector<std::pair<std::string, std::string>> labels;   ///< of every series, behind cluster, node_type and node_id

    static constexpr std::size_t kKeyCount = 8;
    [[nodiscard]] static std::span<const plugin::ConfigKey> keys() noexcept;
    /// InvalidArgument for labels that are none, that series have anyway, or that are named twice.
    [[nodiscard]] static Result<RocketmqFamilies> from(const plugin::ConfigView& view);
};

/// What does not come from services.
struct BrokerFacts {
    const plugin::BrokerIdentity& identity;
    std::int64_t permission = 6;
    std::int64_t nowMs = 0;
};

/// Asks everything anew and keeps nothing. Some microseconds for each topic, queue, group and code; what lags may have its times read from
/// the disk. Any thread.
[[nodiscard]] std::string rocketmqExposition(const RocketmqFamilies& wanted, const BrokerSources& sources, const service::Observation& observation,
                                             const service::MessageStore& store, const BrokerFacts& facts);

/// "V5_3_3" of 479, as RocketMQ names versions of clients; its last name for all numbers above, its first for those below.
[[nodiscard]] std::string versionText(std::int32_t version);

}  // namespace patchbay::plugins::metrics
