// RecallHandle: what a producer is given to call a timed message back.
#pragma once

#include "patchbay/base/Result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::protocol {

/// On the wire the words "v1", topic, broker name, time and unique key, joined by blanks, in Base64 for URLs. A value type.
struct RecallHandle {
    std::string topic;
    std::string brokerName;
    std::int64_t deliverMs = 0;   ///< one more than the message's TIMER_OUT_MS
    std::string uniqueKey;

    [[nodiscard]] std::string encode() const;
    /// InvalidArgument for anything that encode() did not make; padding may be missing.
    static Result<RecallHandle> decode(std::string_view text);
};

}  // namespace patchbay::protocol
