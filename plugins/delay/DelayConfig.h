// DelayConfig: the keys of the delay plugin.
#pragma once

#include "patchbay/plugin/Config.h"
#include "patchbay/protocol/message/DelayLevels.h"

#include <chrono>
#include <cstdint>
#include <span>

namespace patchbay::plugins::delay {

/// A copy of the configured values.
struct DelayConfig {
    protocol::DelayLevels levels;
    std::chrono::milliseconds flushInterval{10'000};
    std::uint64_t versionStep = 200;

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static Result<DelayConfig> from(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::delay
