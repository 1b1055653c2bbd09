// KernelSettings: the kernel's own keys, and the struct that they fill.
#pragma once

#include "app/Errors.h"
#include "config/ConfigSources.h"
#include "config/ConfigValues.h"

#include "server/ServerLimits.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace patchbay::kernel {

/// The table from which parsing, checks and docs/configuration.md are made.
[[nodiscard]] std::span<const plugin::ConfigKey> kernelKeys() noexcept;

/// Where things are when the configuration does not say it.
struct Surroundings {
    std::string executableDirectory;
    std::string hostName;
    std::string namesrvAddrVariable;   ///< NAMESRV_ADDR of the environment
};

/// The kernel's values in the form in which they are used. All paths are absolute or relative to the working directory.
struct KernelSettings {
    bool hasNamesrv = false;
    bool hasBroker = false;
    std::uint16_t brokerPort = 0;       ///< 0 = any
    std::uint16_t namesrvPort = 0;
    std::string bindAddress;
    std::optional<std::uint16_t> adminPort;   ///< of a listener for administration; 0 = any
    std::string adminBindAddress;
    std::string brokerIp1;              ///< empty = choose one
    std::string brokerIp2;
    std::uint16_t haPort = 0;           ///< 0 = broker port + 1
    std::string clusterName;
    std::string brokerName;
    std::int64_t brokerId = 0;
    std::int32_t permission = 6;
    std::string regionId;
    std::string namesrvAddr;            ///< empty = none set
    std::string namesrvAddrWhere;
    std::string storeRoot;
    std::string pluginDirectory;
    std::string pluginConfigDirectory;
    std::string runDirectory;
    std::string logConfig;
    std::string pidFile;
    ServerLimits limits;
    bool connectionsMaxSet = false;     ///< else it may be lowered to what the limit of open files allows
    std::vector<std::string> configBlackList;
    bool unloadPlugins = false;
    std::chrono::milliseconds drainTimeout{0};
    std::chrono::milliseconds stopTimeout{0};   ///< 0 = never
    std::chrono::milliseconds retireTimeout{0};
    std::chrono::milliseconds pluginStepWarning{10'000};

    /// Where changes made at run time are kept.
    [[nodiscard]] std::string runTimeChangesPath() const { return storeRoot + "/config/runtime.properties"; }

    /// `values` are of kernelKeys(). What the types cannot see is checked here.
    static KernelSettings from(const ConfigValues& values, const ConfigSources& sources, const Surroundings& around,
                               Problems& problems);
};

/// True for a numeric address or a host name, without port, that another machine could connect to.
[[nodiscard]] bool isAdvertisable(std::string_view host) noexcept;
/// Says what is wrong with a "host:port;host:port" list; empty when nothing is.
[[nodiscard]] std::string wrongInAddressList(std::string_view list);

}  // namespace patchbay::kernel
