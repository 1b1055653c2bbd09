#include "AdminConfig.h"

#include <array>

namespace patchbay::plugins::admin {

namespace {

using plugin::ConfigType;

constexpr std::array kKeys{
    plugin::ConfigKey{"adminBrokerThreadPoolNums", ConfigType::Int, "1", "Threads for administration requests.", 0, 1, 64},
    plugin::ConfigKey{"adminBrokerThreadPoolQueueCapacity", ConfigType::Int, "10000",
                      "Administration requests that may wait; beyond it they are answered SYSTEM_BUSY.", 0, 1, 10'000'000},
    plugin::ConfigKey{"validateSystemTopicWhenUpdateTopic", ConfigType::Bool, "true",
                      "Refuses changes of system topics by an administrator."},
    plugin::ConfigKey{"enableMixedMessageType", ConfigType::Bool, "false", "Allows topics of message type MIXED."},
};

}  // namespace

std::span<const plugin::ConfigKey> AdminConfig::keys() noexcept { return kKeys; }

AdminConfig AdminConfig::from(const plugin::ConfigView& view) {
    AdminConfig config;
    config.threads = static_cast<std::uint32_t>(view.integer("adminBrokerThreadPoolNums"));
    config.queueCapacity = static_cast<std::uint32_t>(view.integer("adminBrokerThreadPoolQueueCapacity"));
    config.refuseSystemTopics = view.flag("validateSystemTopicWhenUpdateTopic");
    config.mixedTopics = view.flag("enableMixedMessageType");
    return config;
}

}  // namespace patchbay::plugins::admin
