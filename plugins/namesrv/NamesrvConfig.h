// NamesrvConfig: the name server's keys and their values.
#pragma once

#include "patchbay/plugin/Config.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>

namespace patchbay::plugins::namesrv {

/// Values that may change while requests are served: set by the control thread, read by every lane.
struct Switches {
    std::atomic<bool> orderMessageEnable{false};
    std::atomic<bool> returnOrderTopicConfigToBroker{true};
    std::atomic<bool> supportActingMaster{false};
    std::atomic<bool> notifyMinBrokerIdChanged{false};
    std::atomic<bool> enableAllTopicList{true};
    std::atomic<bool> enableTopicList{true};
    std::atomic<bool> deleteTopicWithBrokerRegistration{false};
    std::atomic<bool> needWaitForService{false};
    std::atomic<std::int64_t> waitSecondsForService{45};
};

/// Owned by the plugin, lives as long. `switches` may be read by any thread, the rest by the control thread.
struct NamesrvConfig {
    static std::span<const plugin::ConfigKey> keys() noexcept;
    void read(const plugin::ConfigView& config);

    std::string kvConfigPath;  ///< empty: a default under storePathRootDir
    std::chrono::milliseconds scanFirst{5'000};
    std::chrono::milliseconds scanInterval{10'000};
    std::chrono::milliseconds brokerExpiry{120'000};
    std::uint32_t queueCapacity = 10'000;
    std::uint32_t reachesMax = 64;
    Switches switches;
};

}  // namespace patchbay::plugins::namesrv
