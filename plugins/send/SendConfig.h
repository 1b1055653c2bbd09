// SendConfig: the keys of the send plugin.
#pragma once

#include "patchbay/plugin/Config.h"

#include <atomic>
#include <cstdint>
#include <span>

namespace patchbay::plugins::send {

/// Owned by the plugin. Set on the control thread, read on any lane; what is no atomic is constant once the plugin has begun.
struct SendConfig {
    bool traceOn = true;
    std::atomic<std::int64_t> acceptFromMs{0};           ///< startAcceptSendRequestTimeStamp
    std::atomic<std::int32_t> inFlightMax{10'000};       ///< sendThreadPoolQueueCapacity
    std::atomic<std::int64_t> bodyBytesMax{4'194'304};   ///< maxMessageSize, for the text of refusals and for whole batches
    std::atomic<bool> rejectTransactions{false};
    std::atomic<std::uint32_t> permission{6};            ///< brokerPermission

    static std::span<const plugin::ConfigKey> keys() noexcept;
    /// The values that may change while messages come.
    void set(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::send
