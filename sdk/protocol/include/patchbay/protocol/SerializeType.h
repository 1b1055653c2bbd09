// SerializeType: how a frame's header is written; the top byte of its header word.
#pragma once

#include <cstdint>

namespace patchbay::protocol {

enum class SerializeType : std::uint8_t {
    Json = 0,
    Binary = 1,  ///< "ROCKETMQ" in the protocol's own words
};

/// Bits of a command's flag; the others mean nothing.
inline constexpr std::int32_t kFlagResponse = 1;
inline constexpr std::int32_t kFlagOneway = 2;

}  // namespace patchbay::protocol
