#include "OffsetsConfig.h"

#include <array>

namespace patchbay::plugins::consumer_offsets {

namespace {

using plugin::ConfigType;

constexpr std::array kKeys{
    plugin::ConfigKey{"flushConsumerOffsetInterval", ConfigType::Millis, "5000",
                      "Changed consumer offsets are written to consumerOffset.json this often.", 0, 10, 3'600'000},
    plugin::ConfigKey{"flushConsumerOffsetInitialDelay", ConfigType::Millis, "10000",
                      "Consumer offsets are written for the first time this long after the start.", 0, 0, 3'600'000},
    plugin::ConfigKey{"consumerOffsetUpdateVersionStep", ConfigType::Int, "500",
                      "The data version of the offsets grows once in so many commits.", 0, 1, 1'000'000'000},
    plugin::ConfigKey{"useServerSideResetOffset", ConfigType::Bool, "true",
                      "While a reset waits for the next pull of its queue, queries answer it and commits are ignored."},
    plugin::ConfigKey{"enableBroadcastOffsetStore", ConfigType::Bool, "true",
                      "Remembers how far broadcasting clients are, and keeps the lowest offset as that of <group>@broadcast."},
    plugin::ConfigKey{"broadcastOffsetExpireSecond", ConfigType::Int, "120",
                      "A broadcasting client that has not pulled for so many seconds is forgotten.", 0, 1, 86'400},
};

}  // namespace

std::span<const plugin::ConfigKey> OffsetsConfig::keys() noexcept { return kKeys; }

OffsetsConfig OffsetsConfig::from(const plugin::ConfigView& view) {
    OffsetsConfig config;
    config.flushInterval = view.millis("flushConsumerOffsetInterval");
    config.flushFirst = view.millis("flushConsumerOffsetInitialDelay");
    config.versionStep = static_cast<std::uint64_t>(view.integer("consumerOffsetUpdateVersionStep"));
    config.serverSideReset = view.flag("useServerSideResetOffset");
    config.broadcast = view.flag("enableBroadcastOffsetStore");
    config.broadcastLife = std::chrono::seconds(view.integer("broadcastOffsetExpireSecond"));
    return config;
}

}  // namespace patchbay::plugins::consumer_offsets
