// PullConfig: the keys of the pull plugin.
#pragma once

#include "patchbay/plugin/Config.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace patchbay::plugins::pull {

struct PullConfig {
    bool longPolling = true;                          ///< longPollingEnable
    std::chrono::milliseconds shortPolling{1000};     ///< shortPollingTimeMills: the hold when long polling is off
    bool litePull = true;                             ///< litePullMessageEnable
    bool rejectPullConsumers = false;                 ///< rejectPullConsumerEnable
    bool slaveRead = false;                           ///< slaveReadEnable
    std::size_t heldPullsMax = 200'000;
    std::size_t heldPullsOfConnectionMax = 20'000;
    std::size_t heldPullsBytesMax = std::size_t{256} << 20U;
    std::uint32_t threads = 2;
    std::uint32_t queueCapacity = 100'000;
    std::chrono::milliseconds queueWaitMax{5000};
    std::size_t groupLengthMax = 255;
    std::size_t clientIdLengthMax = 1'024;
    std::size_t subscriptionLengthMax = 65'536;
    std::int32_t queryMax = 32;                       ///< defaultQueryMaxNum

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static PullConfig from(const plugin::ConfigView& view);
};

/// What may change while pulls run. Owned by the plugin; set on the control thread, read on any lane.
struct PullLimits {
    std::atomic<std::int32_t> messagesMax{32};   ///< maxTransferCountOnMessageInMemory
    std::atomic<std::int32_t> bytesMax{262'144}; ///< maxTransferBytesOnMessageInMemory
    std::atomic<std::uint32_t> permission{6};    ///< brokerPermission

    void set(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::pull
