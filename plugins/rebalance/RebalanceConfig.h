// RebalanceConfig: the keys of the rebalance plugin.
#pragma once

#include "patchbay/plugin/Config.h"

#include <chrono>
#include <cstdint>
#include <span>

namespace patchbay::plugins::rebalance {

/// How a member gets the messages of its queues.
enum class RequestMode : std::uint8_t { Pull, Pop };

/// What is set for a topic and a group, or for all.
struct ModeSetting {
    RequestMode mode = RequestMode::Pull;
    std::int32_t popShareQueueNum = -1;
};

/// A copy of the configured values.
struct RebalanceConfig {
    bool balance = true;                           ///< serverLoadBalancerEnable
    bool popAllowed = false;
    ModeSetting standard;
    std::chrono::milliseconds routeLife{30'000};   ///< loadBalancePollNameServerInterval

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static RebalanceConfig from(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::rebalance
