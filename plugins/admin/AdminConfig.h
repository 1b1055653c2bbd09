// AdminConfig: the keys of the admin plugin.
#pragma once

#include "patchbay/plugin/Config.h"
#include "patchbay/plugin/LocalOnly.h"

#include <cstdint>
#include <span>

namespace patchbay::plugins::admin {

struct AdminConfig {
    std::uint32_t threads = 1;
    std::uint32_t queueCapacity = 10'000;
    std::int32_t queueEntriesMax = 1'024;
    bool refuseSystemTopics = true;   ///< validateSystemTopicWhenUpdateTopic
    bool mixedTopics = false;         ///< enableMixedMessageType
    plugin::LocalOnly localOnly;

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static Result<AdminConfig> from(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::admin
