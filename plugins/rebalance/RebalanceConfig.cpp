#include "RebalanceConfig.h"

#include <array>
#include <limits>

namespace patchbay::plugins::rebalance {

namespace {

using plugin::ConfigType;

constexpr std::array kKeys{
    plugin::ConfigKey{"serverLoadBalancerEnable", ConfigType::Bool, "true",
                      "Members that ask for their queues are given a share; else each is given all."},
    plugin::ConfigKey{"popRequestModeEnable", ConfigType::Bool, "false",
                      "Allows the message request mode POP; without a plugin that serves pop such a group would get nothing."},
    plugin::ConfigKey{.name = "defaultMessageRequestMode", .type = ConfigType::Text, .defaultValue = "PULL",
                      .doc = "Message request mode of topics and groups for which none is set.", .choices = "PULL POP"},
    plugin::ConfigKey{"defaultPopShareQueueNum", ConfigType::Int, "-1",
                      "With POP: whose queues a member shares, as a number of members behind it; at most 0: all.", 0,
                      std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()},
    plugin::ConfigKey{"loadBalancePollNameServerInterval", ConfigType::Millis, "30000",
                      "A route that a name server told is believed for this time.", 0, 100, 3'600'000},
};

}  // namespace

std::span<const plugin::ConfigKey> RebalanceConfig::keys() noexcept { return kKeys; }

RebalanceConfig RebalanceConfig::from(const plugin::ConfigView& view) {
    RebalanceConfig config;
    config.balance = view.flag("serverLoadBalancerEnable");
    config.popAllowed = view.flag("popRequestModeEnable");
    config.standard.mode = view.text("defaultMessageRequestMode") == "POP" ? RequestMode::Pop : RequestMode::Pull;
    config.standard.popShareQueueNum = static_cast<std::int32_t>(view.integer("defaultPopShareQueueNum"));
    config.routeLife = view.millis("loadBalancePollNameServerInterval");
    return config;
}

}  // namespace patchbay::plugins::rebalance
