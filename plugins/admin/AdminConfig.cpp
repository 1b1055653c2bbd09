#include "AdminConfig.h"

#include <array>

namespace patchbay::plugins::admin {

namespace {

using plugin::ConfigType;

constexpr std::array kKeys{
    plugin::ConfigKey{"adminBrokerThreadPoolNums", ConfigType::Int, "1", "Threads for administration requests; executorThreadsMax bounds them.", 0, 1,
                      65'536},
    plugin::ConfigKey{"adminBrokerThreadPoolQueueCapacity", ConfigType::Int, "10000",
                      "Administration requests that may wait; beyond it they are answered SYSTEM_BUSY.", 0, 1, 10'000'000},
    plugin::ConfigKey{"validateSystemTopicWhenUpdateTopic", ConfigType::Bool, "true",
                      "Refuses changes of system topics by an administrator."},
    plugin::ConfigKey{"adminLocalOnlyCodes", ConfigType::Text, "25 306 316 329",
                      "Codes of this plugin that only peers of the same machine may ask for; empty serves everybody."},
    plugin::ConfigKey{"adminQueueEntriesMax", ConfigType::Int, "1024", "Entries of a queue that one QUERY_CONSUME_QUEUE may list.", 0, 1,
                      100'000},
    plugin::ConfigKey{"enableMixedMessageType", ConfigType::Bool, "false", "Allows topics of message type MIXED."},
};

}  // namespace

std::span<const plugin::ConfigKey> AdminConfig::keys() noexcept { return kKeys; }

Result<AdminConfig> AdminConfig::from(const plugin::ConfigView& view) {
    AdminConfig config;
    config.threads = static_cast<std::uint32_t>(view.integer("adminBrokerThreadPoolNums"));
    config.queueCapacity = static_cast<std::uint32_t>(view.integer("adminBrokerThreadPoolQueueCapacity"));
    config.refuseSystemTopics = view.flag("validateSystemTopicWhenUpdateTopic");
    config.mixedTopics = view.flag("enableMixedMessageType");
    config.queueEntriesMax = static_cast<std::int32_t>(view.integer("adminQueueEntriesMax"));
    auto localOnly = plugin::LocalOnly::parse("adminLocalOnlyCodes", view.text("adminLocalOnlyCodes"));
    if (!localOnly) return localOnly.error();
    config.localOnly = std::move(*localOnly);
    return config;
}

}  // namespace patchbay::plugins::admin
