// AdminConfig: the keys of the admin plugin.
#pragma once

#include "patchbay/plugin/Config.h"

#include <cstdint>
#include <span>

namespace patchbay::plugins::admin {

struct AdminConfig {
    std::uint32_t threads = 1;
    std::uint32_t queueCapacity = 10'000;
    bool refuseSystemTopics = true;   ///< validateSystemTopicWhenUpdateTopic
    bool mixedTopics = false;         ///< enableMixedMessageType

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static AdminConfig from(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::admin
