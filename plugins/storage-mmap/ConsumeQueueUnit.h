// One unit of a consume queue: where a record lies in the commit log. 20 bytes, in batch queues 46.
#pragma once

#include "Layout.h"

#include "patchbay/protocol/util/BigEndian.h"

#include <cstdint>

namespace patchbay::mmapstore {

inline constexpr std::int64_t kUnitBytes = 20;
inline constexpr std::int64_t kBatchUnitBytes = 46;
/// Size that RocketMQ writes into units that only fill a queue up to its first offset.
inline constexpr std::int32_t kFillerSize = 0x7FFFFFFF;

[[nodiscard]] constexpr std::int64_t unitBytes(QueueKind kind) noexcept {
    return kind == QueueKind::Batch ? kBatchUnitBytes : kUnitBytes;
}

struct Unit {
    std::int64_t physical = 0;
    std::int32_t bytes = 0;
    std::int64_t tagsCode = 0;
    // On the disk only in batch queues.
    std::int64_t storeTime = -1;
    std::int64_t base = 0;   ///< offset of the first message of the record
    std::int32_t count = 1;  ///< messages in the record

    /// Stands for no message: written in front of the first one of a queue that does not start at 0.
    [[nodiscard]] bool isFiller() const noexcept { return physical == 0 && bytes == kFillerSize; }
    /// What RocketMQ takes for written; zeros are not.
    [[nodiscard]] bool isWritten() const noexcept { return physical >= 0 && bytes > 0 && base >= 0 && count > 0; }
    /// A message that ends at or before `end` in the log.
    [[nodiscard]] bool isMessageBefore(std::int64_t end) const noexcept {
        return isWritten() && !isFiller() && physical <= end - bytes;
    }
    /// The offset behind its last message.
    [[nodiscard]] std::int64_t end() const noexcept { return base + count; }
};

inline void storeUnit(char* to, const Unit& unit) noexcept {
    protocol::storeI64(to, unit.physical);
    protocol::storeI32(to + 8, unit.bytes);
    protocol::storeI64(to + 12, unit.tagsCode);
}

[[nodiscard]] inline Unit loadUnit(const char* from) noexcept {
    return {protocol::loadI64(from), protocol::loadI32(from + 8), protocol::loadI64(from + 12)};
}

inline void storeUnit(char* to, const Unit& unit, QueueKind kind) noexcept {
    storeUnit(to, unit);
    if (kind == QueueKind::Simple) return;
    protocol::storeI64(to + 20, unit.storeTime);
    protocol::storeI64(to + 28, unit.base);
    protocol::storeI16(to + 36, static_cast<std::int16_t>(unit.count));
    protocol::storeI32(to + 38, -1);  // of RocketMQ's compaction
    protocol::storeI32(to + 42, 0);
}

/// `place`: the number of the unit in its queue, which in a simple one is the offset of its message.
[[nodiscard]] inline Unit loadUnit(const char* from, QueueKind kind, std::int64_t place) noexcept {
    Unit unit = loadUnit(from);
    if (kind == QueueKind::Simple) {
        unit.base = place;
        return unit;
    }
    unit.storeTime = protocol::loadI64(from + 20);
    unit.base = protocol::loadI64(from + 28);
    unit.count = protocol::loadI16(from + 36);
    return unit;
}

}  // namespace patchbay::mmapstore
