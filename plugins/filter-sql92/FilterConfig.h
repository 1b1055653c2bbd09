// FilterConfig: the keys of the filter plugin.
#pragma once

#include "patchbay/plugin/Config.h"

#include <chrono>
#include <cstddef>
#include <span>

namespace patchbay::plugins::filter {

/// A copy of the configured values.
struct FilterConfig {
    bool enabled = true;                              ///< enablePropertyFilter; reloadable
    std::size_t expressionBytesMax = 32'768;          ///< filterExpressionBytesMax
    std::size_t cachedMax = 1000;                     ///< filterExpressionsCached
    std::chrono::milliseconds keepDead{86'400'000};   ///< filterDataCleanTimeSpan
    std::chrono::milliseconds silence{120'000};       ///< filterSilenceMax
    std::chrono::milliseconds flushInterval{10'000};  ///< flushConsumerFilterInterval

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static FilterConfig from(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::filter
