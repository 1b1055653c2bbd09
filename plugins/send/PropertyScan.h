// PropertyScan: one pass over a message's properties for all that the send path asks of them.
#pragma once

#include <string>
#include <string_view>

namespace patchbay::plugins::send {

/// Views into the scanned text.
struct PropertyScan {
    std::string_view uniqueKey;
    std::string_view tags;
    std::string_view keys;
    std::string_view delayLevel;
    std::string_view transaction;
    bool waitStored = true;
    bool timer = false;        ///< one of the TIMER_ properties that ask for a delivery time
    bool innerNum = false;
    /// The text has to be rebuilt before it is stored: it holds properties that the broker sets itself or removes, or
    /// entries that readers would not see.
    bool needsRebuild = false;

    static PropertyScan of(std::string_view text) noexcept;
};

/// The text without what the broker sets itself (MSG_REGION, TRACE_ON, CLUSTER), POP_CK, and unreadable entries.
[[nodiscard]] std::string cleanProperties(std::string_view text);

}  // namespace patchbay::plugins::send
