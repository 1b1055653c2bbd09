// Limits of the wire, and the protocol version that we announce.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchbay::protocol {

/// A whole frame with its length word; what Apache's peers accept by default.
inline constexpr std::size_t kFrameBytesMax = 16U << 20;
/// The largest legal value of the length word, which does not count itself.
inline constexpr std::size_t kFrameLengthMax = kFrameBytesMax - 4;
/// The header's length has 24 bits.
inline constexpr std::size_t kHeaderBytesMax = (1U << 24) - 1;
/// Extension fields of one command; more is refused as corrupt. Java clients send about 20.
inline constexpr std::size_t kFieldsMax = 1024;

/// RocketMQ 5.3.3's number. Java clients refuse SQL filters below 232 and take the number as the broker's age.
inline constexpr std::int32_t kVersion = 479;

}  // namespace patchbay::protocol
