// One unit of a consume queue: 20 bytes that say where a message lies in the commit log.
#pragma once

#include "patchbay/protocol/util/BigEndian.h"

#include <cstdint>

namespace patchbay::mmapstore {

inline constexpr std::int64_t kUnitBytes = 20;
/// Size that RocketMQ writes into units that only fill a queue up to its first offset.
inline constexpr std::int32_t kFillerSize = 0x7FFFFFFF;

struct Unit {
    std::int64_t physical = 0;
    std::int32_t bytes = 0;
    std::int64_t tagsCode = 0;

    /// Stands for no message: written in front of the first one of a queue that does not start at 0.
    [[nodiscard]] bool isFiller() const noexcept { return physical == 0 && bytes == kFillerSize; }
    /// What RocketMQ takes for written; zeros are not.
    [[nodiscard]] bool isWritten() const noexcept { return physical >= 0 && bytes > 0; }
    /// A message that ends at or before `end` in the log.
    [[nodiscard]] bool isMessageBefore(std::int64_t end) const noexcept {
        return isWritten() && !isFiller() && physical <= end - bytes;
    }
    friend bool operator==(const Unit&, const Unit&) = default;
};

inline void storeUnit(char* to, const Unit& unit) noexcept {
    protocol::storeI64(to, unit.physical);
    protocol::storeI32(to + 8, unit.bytes);
    protocol::storeI64(to + 12, unit.tagsCode);
}

[[nodiscard]] inline Unit loadUnit(const char* from) noexcept {
    return {protocol::loadI64(from), protocol::loadI32(from + 8), protocol::loadI64(from + 12)};
}

}  // namespace patchbay::mmapstore
