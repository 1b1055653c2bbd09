// PrivateCode: request codes that are Patchbay's own, and the range that is left to everybody else's plugins.
#pragma once

#include <cstdint>

namespace patchbay::protocol {

/// Served by the plugins `control`, `consumer-admin` and `namesrv`; fields and bodies stand in docs/protocol.md. RocketMQ has no codes between 10000
/// and 32767, the largest that a binary header carries.
enum class PrivateCode : std::int32_t {
    ListPlugins = 29'000,
    InspectPlugin = 29'001,
    ReloadPlugin = 29'002,
    EnablePlugin = 29'003,
    DisablePlugin = 29'004,
    ReloadConfiguration = 29'005,
    UnsetConfiguration = 29'006,
    GetMetrics = 29'010,
    CompareConfiguration = 29'020,
    CheckConfiguration = 29'021,
    WhyStuck = 29'100,
    ReachBroker = 29'200,
};

/// Codes that neither RocketMQ nor Patchbay will ever use: for plugins of others.
inline constexpr std::int32_t kThirdPartyCodeMin = 30'000;
inline constexpr std::int32_t kThirdPartyCodeMax = 32'767;

}  // namespace patchbay::protocol
