// ClientsConfig: the keys of the clients plugin.
#pragma once

#include "patchbay/plugin/Config.h"

#include <chrono>
#include <cstddef>
#include <span>

namespace patchbay::plugins::clients {

/// A copy of the configured values.
struct ClientsConfig {
    bool notifyConsumerIdsChanged = true;
    bool rejectPullConsumer = false;
    std::chrono::milliseconds scanInterval{10'000};
    std::chrono::milliseconds consumerExpiry{120'000};
    std::chrono::milliseconds producerExpiry{120'000};
    std::chrono::milliseconds subscriptionExpiry{600'000};
    std::chrono::milliseconds lockLife{60'000};
    std::size_t heartbeatGroupsMax = 1'000;
    std::size_t heartbeatSubscriptionsMax = 4'096;
    std::size_t groupLengthMax = 255;
    std::size_t clientIdLengthMax = 1'024;
    std::size_t subscriptionLengthMax = 65'536;
    std::size_t clientsBytesMax = std::size_t{512} << 20U;
    std::size_t pullSubscriptionsBytesMax = std::size_t{64} << 20U;
    std::size_t queueNameLengthMax = 1'024;
    std::size_t lockQueuesOfRequestMax = 8'192;
    std::size_t queueLocksMax = 1'000'000;

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static ClientsConfig from(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::clients
