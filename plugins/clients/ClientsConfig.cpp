#include "ClientsConfig.h"

#include <array>

namespace patchbay::plugins::clients {

namespace {

using plugin::ConfigType;

constexpr std::array kKeys{
    plugin::ConfigKey{"notifyConsumerIdsChangedEnable", ConfigType::Bool, "true",
                      "Consumers are told at once when the membership or the subscription of their group changes."},
    plugin::ConfigKey{"rejectPullConsumerEnable", ConfigType::Bool, "false",
                      "Heartbeats of consumers that pull by themselves are not registered."},
    plugin::ConfigKey{"channelExpiredTimeout", ConfigType::Millis, "120000",
                      "A consumer without a heartbeat for this time is forgotten and its connection closed.", 0, 1000, 86'400'000},
    plugin::ConfigKey{"producerExpiredTimeout", ConfigType::Millis, "120000",
                      "A producer without a heartbeat for this time is forgotten and its connection closed.", 0, 1000, 86'400'000},
    plugin::ConfigKey{"clientScanInterval", ConfigType::Millis, "10000", "How often silent clients are looked for.", 0, 10, 3'600'000},
    plugin::ConfigKey{"subscriptionExpiredTimeout", ConfigType::Millis, "600000",
                      "Subscriptions known only from pull requests are forgotten after this time.", 0, 1000, 86'400'000},
    plugin::ConfigKey{"rebalanceLockMaxLiveTime", ConfigType::Millis, "60000",
                      "A queue lock of an orderly consumer that is not refreshed ends after this time.", 0, 1000, 86'400'000,
                      "rocketmq.broker.rebalance.lockMaxLiveTime"},
    plugin::ConfigKey{"heartbeatGroupsMax", ConfigType::Int, "1000",
                      "A heartbeat with more groups of consumers and producers is refused: each new one is stored.", 0, 1, 100'000},
};

}  // namespace

std::span<const plugin::ConfigKey> ClientsConfig::keys() noexcept { return kKeys; }

ClientsConfig ClientsConfig::from(const plugin::ConfigView& view) {
    ClientsConfig config;
    config.notifyConsumerIdsChanged = view.flag("notifyConsumerIdsChangedEnable");
    config.rejectPullConsumer = view.flag("rejectPullConsumerEnable");
    config.scanInterval = view.millis("clientScanInterval");
    config.consumerExpiry = view.millis("channelExpiredTimeout");
    config.producerExpiry = view.millis("producerExpiredTimeout");
    config.subscriptionExpiry = view.millis("subscriptionExpiredTimeout");
    config.lockLife = view.millis("rebalanceLockMaxLiveTime");
    config.heartbeatGroupsMax = static_cast<std::size_t>(view.integer("heartbeatGroupsMax"));
    return config;
}

}  // namespace patchbay::plugins::clients
