#include "RegistrationConfig.h"

#include <algorithm>
#include <array>

namespace patchbay::plugins::registration {

using plugin::ConfigKey;
using plugin::ConfigType;
using plugin::kReloadable;

namespace {

constexpr std::chrono::milliseconds kPeriodMin{10'000};
constexpr std::chrono::milliseconds kPeriodMax{60'000};

constexpr std::array kKeys{
    ConfigKey{.name = "registerNameServerPeriod", .type = ConfigType::Millis, .defaultValue = "30s",
              .doc = "Time between two registrations with every name server; at least 10 s and at most 60 s are kept.",
              .flags = kReloadable, .min = 0, .max = 86'400'000},
    ConfigKey{.name = "registerBrokerTimeoutMills", .type = ConfigType::Millis, .defaultValue = "24s",
              .doc = "How long a name server may take to answer a registration.", .flags = kReloadable, .min = 100,
              .max = 600'000},
    ConfigKey{.name = "unregisterBrokerTimeoutMillis", .type = ConfigType::Millis, .defaultValue = "1s",
              .doc = "How long a stopping broker waits for the name servers to forget it.", .flags = kReloadable, .min = 0,
              .max = 60'000},
    ConfigKey{.name = "forceRegister", .type = ConfigType::Bool, .defaultValue = "true",
              .doc = "Tells everything in every period; false asks first whether the name server has it already.",
              .flags = kReloadable},
    ConfigKey{.name = "brokerPermission", .type = ConfigType::Int, .defaultValue = "6",
              .doc = "What name servers tell clients they may do here: 2 write, 4 read, 6 both.", .flags = kReloadable,
              .min = 0, .max = 7},
    ConfigKey{.name = "compressedRegister", .type = ConfigType::Bool, .defaultValue = "false",
              .doc = "Compresses registrations; order and flags of topics are not part of that form.", .flags = kReloadable},
    ConfigKey{.name = "enableSplitRegistration", .type = ConfigType::Bool, .defaultValue = "false",
              .doc = "Splits registrations by splitRegistrationSize; those too large for a frame are split in any case.",
              .flags = kReloadable},
    ConfigKey{.name = "splitRegistrationSize", .type = ConfigType::Int, .defaultValue = "800",
              .doc = "Topics of one registration with enableSplitRegistration.", .flags = kReloadable, .min = 2,
              .max = 1'000'000},
};

}  // namespace

std::span<const ConfigKey> RegistrationConfig::keys() noexcept { return kKeys; }

RegistrationConfig RegistrationConfig::from(const plugin::ConfigView& config) {
    RegistrationConfig result;
    result.period = std::clamp(config.millis("registerNameServerPeriod"), kPeriodMin, kPeriodMax);
    result.timeout = config.millis("registerBrokerTimeoutMills");
    result.unregisterTimeout = config.millis("unregisterBrokerTimeoutMillis");
    result.force = config.flag("forceRegister");
    result.permission = static_cast<std::uint32_t>(config.integer("brokerPermission"));
    result.compressed = config.flag("compressedRegister");
    if (config.flag("enableSplitRegistration")) {
        result.topicsMax = static_cast<std::size_t>(config.integer("splitRegistrationSize"));
    }
    return result;
}

}  // namespace patchbay::plugins::registration
