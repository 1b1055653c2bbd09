#include "FilterConfig.h"

#include <array>

namespace patchbay::plugins::filter {

namespace {

using plugin::ConfigType;

constexpr std::array kKeys{
    plugin::ConfigKey{"enablePropertyFilter", ConfigType::Bool, "true",
                      "Consumers may filter by SQL92 expressions over properties; off, they are refused as without this plugin.",
                      plugin::kReloadable},
    plugin::ConfigKey{"filterExpressionBytesMax", ConfigType::Bytes, "32K", "Longer expressions are refused.", 0, 16, 1 << 20},
    plugin::ConfigKey{"filterExpressionsCached", ConfigType::Int, "1000",
                      "So many compiled expressions are kept; beyond it, those that nobody uses go.", 0, 1, 1'000'000},
    plugin::ConfigKey{"filterDataCleanTimeSpan", ConfigType::Millis, "86400000",
                      "An expression that nobody has subscribed for this time is removed from consumerFilter.json.", 0, 1000,
                      31'536'000'000},
    plugin::ConfigKey{"filterSilenceMax", ConfigType::Millis, "120000",
                      "An expression that no heartbeat has named for this time counts as not subscribed.", 0, 1000, 86'400'000},
    plugin::ConfigKey{"flushConsumerFilterInterval", ConfigType::Millis, "10000",
                      "Changes are written to consumerFilter.json this often.", 0, 10, 3'600'000},
};

}  // namespace

std::span<const plugin::ConfigKey> FilterConfig::keys() noexcept { return kKeys; }

FilterConfig FilterConfig::from(const plugin::ConfigView& view) {
    FilterConfig config;
    config.enabled = view.flag("enablePropertyFilter");
    config.expressionBytesMax = static_cast<std::size_t>(view.integer("filterExpressionBytesMax"));
    config.cachedMax = static_cast<std::size_t>(view.integer("filterExpressionsCached"));
    config.keepDead = view.millis("filterDataCleanTimeSpan");
    config.silence = view.millis("filterSilenceMax");
    config.flushInterval = view.millis("flushConsumerFilterInterval");
    return config;
}

}  // namespace patchbay::plugins::filter
