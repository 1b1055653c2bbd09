// MirrorConfig: the keys of the mirror and their values.
#pragma once

#include "patchbay/plugin/Config.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace mirror {

/// A value. What the types of the keys cannot say is checked by from().
struct MirrorConfig {
    std::vector<std::string> topics;
    std::vector<std::string> nameServers;   ///< "host:port" of the other cluster
    std::string prefix;                     ///< of topics over there
    std::string stateFile;                  ///< empty: in the store's directory
    bool fromBeginning = false;
    std::int32_t batchMessages = 0;
    std::int32_t batchBytes = 0;
    std::int64_t inFlightBytesMax = 0;
    std::chrono::milliseconds poll{};
    std::chrono::milliseconds look{};
    std::chrono::milliseconds retry{};
    std::chrono::milliseconds timeout{};
    std::chrono::milliseconds route{};
    std::chrono::milliseconds save{};

    [[nodiscard]] static std::span<const patchbay::plugin::ConfigKey> keys() noexcept;
    static patchbay::Result<MirrorConfig> from(const patchbay::plugin::ConfigView& view);
};

}  // namespace mirror
