// SendConfig: the keys of the send plugin.
#pragma once

#include "patchbay/plugin/Config.h"

#include <cstdint>
#include <span>

namespace patchbay::plugins::send {

/// A copy of the configured values; replaced as a whole by reconfigure().
struct SendConfig {
    std::int64_t acceptFromMs = 0;             ///< startAcceptSendRequestTimeStamp
    std::int32_t inFlightMax = 10'000;         ///< sendThreadPoolQueueCapacity
    std::int64_t bodyBytesMax = 4'194'304;     ///< maxMessageSize, for the text of refusals and for whole batches
    bool traceOn = true;
    bool rejectTransactions = false;

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static SendConfig from(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::send
