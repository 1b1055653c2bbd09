// OffsetsConfig: the keys of the consumer-offsets plugin.
#pragma once

#include "patchbay/plugin/Config.h"

#include <chrono>
#include <cstdint>
#include <span>

namespace patchbay::plugins::consumer_offsets {

/// A copy of the configured values.
struct OffsetsConfig {
    std::chrono::milliseconds flushFirst{10'000};
    std::chrono::milliseconds flushInterval{5000};
    std::uint64_t versionStep = 500;
    bool serverSideReset = true;
    bool broadcast = true;                            ///< enableBroadcastOffsetStore
    std::chrono::milliseconds broadcastLife{120'000};
    std::chrono::milliseconds broadcastScan{5000};

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static OffsetsConfig from(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::consumer_offsets
