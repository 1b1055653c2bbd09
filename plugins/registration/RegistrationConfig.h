// RegistrationConfig: the keys by which this broker registers.
#pragma once

#include "patchbay/plugin/Config.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace patchbay::plugins::registration {

/// A value type.
struct RegistrationConfig {
    static std::span<const plugin::ConfigKey> keys() noexcept;
    static RegistrationConfig from(const plugin::ConfigView& config);

    std::chrono::milliseconds period{30'000};   ///< within 10 s … 60 s
    std::chrono::milliseconds timeout{24'000};  ///< of one registration
    std::chrono::milliseconds unregisterTimeout{1'000};
    bool force = true;          ///< false: ask whether anything changed before telling everything
    bool compressed = false;
    std::uint32_t permission = 6;  ///< brokerPermission: what of a topic's permission is told
    std::size_t topicsMax = 0;  ///< topics of one registration; 0: as many as fit
};

}  // namespace patchbay::plugins::registration
