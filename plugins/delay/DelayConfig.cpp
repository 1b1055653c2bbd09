#include "DelayConfig.h"

#include <array>

namespace patchbay::plugins::delay {

namespace {

using plugin::ConfigType;

constexpr std::array kKeys{
    plugin::ConfigKey{"messageDelayLevel", ConfigType::Text, protocol::kDelayLevelsDefault,
                      "How long a message of each delay level waits, from level 1 on; units s, m, h and d."},
    plugin::ConfigKey{"flushDelayOffsetInterval", ConfigType::Millis, "10000",
                      "Changed delivery progress is written to delayOffset.json this often.", 0, 10, 3'600'000},
    plugin::ConfigKey{"delayOffsetUpdateVersionStep", ConfigType::Int, "200",
                      "The data version of the progress grows once in so many steps.", 0, 1, 1'000'000'000},
};

}  // namespace

std::span<const plugin::ConfigKey> DelayConfig::keys() noexcept { return kKeys; }

Result<DelayConfig> DelayConfig::from(const plugin::ConfigView& view) {
    auto levels = protocol::DelayLevels::parse(view.text("messageDelayLevel"));
    if (!levels) return levels.error();
    return DelayConfig{std::move(*levels), view.millis("flushDelayOffsetInterval"),
                       static_cast<std::uint64_t>(view.integer("delayOffsetUpdateVersionStep"))};
}

}  // namespace patchbay::plugins::delay
