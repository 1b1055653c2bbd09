// QueueEnds: the ends of a queue, for threads that must not wait.
#pragma once

#include "patchbay/service/MessageStore.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace patchbay::service {

/// MessageStore::range(), or nothing when the store would have to look at its disk for it, as it may in the first moments after a start.
/// For processors on a loop: they defer then, and ask range() on their executor.
[[nodiscard]] inline std::optional<OffsetRange> rangeIfKnown(MessageStore& store, std::string_view topic, std::int32_t queueId) {
    // Behind the end of every queue, so nothing is read; and a read of no messages is none.
    ReadLimits limits;
    limits.messagesMax = 0;
    limits.hotOnly = true;
    ReadResult ends;
    store.read(topic, queueId, std::numeric_limits<std::int64_t>::max(), limits, nullptr, ends);
    if (ends.status == ReadStatus::NotResident) return std::nullopt;
    return OffsetRange{std::min(ends.minOffset, ends.maxOffset), ends.maxOffset, ends.maxOffset > 0};
}

}  // namespace patchbay::service
