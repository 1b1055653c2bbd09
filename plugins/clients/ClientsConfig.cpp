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
                      "A heartbeat with more groups of consumers and producers, or one that brings its connection to more, is refused: each new one is stored.",
                      0, 1, 100'000},
    plugin::ConfigKey{"heartbeatSubscriptionsMax", ConfigType::Int, "4096",
                      "A heartbeat with more subscriptions in all its groups, or one that brings its connection to more, is refused.", 0, 1, 1'000'000},
    plugin::ConfigKey{"groupLengthMax", ConfigType::Int, "255",
                      "Heartbeats and locks with a longer name of a group are refused; the pull plugin has the same key.", 0, 1, 65'535},
    plugin::ConfigKey{"clientIdLengthMax", ConfigType::Int, "1024",
                      "Heartbeats and locks with a longer client id are refused; the pull plugin has the same key.", 0, 1, 65'535},
    plugin::ConfigKey{"subscriptionLengthMax", ConfigType::Bytes, "65536",
                      "Heartbeats with a longer subscription (topic, kind and text of the expression together) are refused; the pull plugin has the same key.",
                      0, 256, 16'000'000},
    plugin::ConfigKey{"clientsBytesMax", ConfigType::Bytes, "536870912",
                      "Memory for what heartbeats of all clients leave (ids, groups, subscriptions); one that needs more is refused.", 0, 65'536, std::int64_t{1} << 40},
    plugin::ConfigKey{"pullSubscriptionsBytesMax", ConfigType::Bytes, "67108864",
                      "Memory for subscriptions known only from pull requests; beyond it new ones are served, but not remembered.", 0, 0,
                      std::int64_t{1} << 40},
    plugin::ConfigKey{"queueNameLengthMax", ConfigType::Int, "1024",
                      "Locks of queues whose topic and broker have longer names together are refused.", 0, 1, 65'535},
    plugin::ConfigKey{"lockQueuesOfRequestMax", ConfigType::Int, "8192",
                      "A request that locks or unlocks more queues is refused.", 0, 1, 100'000},
    plugin::ConfigKey{"queueLocksMax", ConfigType::Int, "1000000",
                      "Queues that may be locked at once; beyond it no further one is granted.", 0, 1, 100'000'000},
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
    const auto limit = [&view](std::string_view key) { return static_cast<std::size_t>(view.integer(key)); };
    config.heartbeatSubscriptionsMax = limit("heartbeatSubscriptionsMax");
    config.groupLengthMax = limit("groupLengthMax");
    config.clientIdLengthMax = limit("clientIdLengthMax");
    config.subscriptionLengthMax = limit("subscriptionLengthMax");
    config.clientsBytesMax = limit("clientsBytesMax");
    config.pullSubscriptionsBytesMax = limit("pullSubscriptionsBytesMax");
    config.queueNameLengthMax = limit("queueNameLengthMax");
    config.lockQueuesOfRequestMax = limit("lockQueuesOfRequestMax");
    config.queueLocksMax = limit("queueLocksMax");
    return config;
}

}  // namespace patchbay::plugins::clients
