// CRC-32 as java.util.zip computes it (IEEE polynomial), and the 31-bit form that RocketMQ stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace patchbay::protocol {

/// The CRC of the bytes, or of everything so far and the bytes when the CRC so far is given.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes, std::uint32_t soFar = 0) noexcept;

/// What goes into a record's body CRC field and into the header `bodyCrc32` of a registration: the top bit is cleared,
/// because Java keeps it in a signed int. 0 for no bytes.
[[nodiscard]] inline std::int32_t maskedCrc32(std::string_view bytes) noexcept {
    return static_cast<std::int32_t>(crc32(bytes) & 0x7FFFFFFFu);
}

}  // namespace patchbay::protocol
