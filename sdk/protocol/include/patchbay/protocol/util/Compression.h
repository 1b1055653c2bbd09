// The three body codecs of RocketMQ messages, and zlib for registration bodies.
#pragma once

#include "patchbay/base/Result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::protocol {

/// Values are those of the compression bits in a message's sysFlag, shifted down.
enum class CompressionType : std::uint8_t {
    Lz4 = 1,   ///< LZ4 frame format
    Zstd = 2,  ///< standard ZSTD frame
    Zlib = 3,  ///< plain zlib stream, RFC 1950
};

/// The codec that the sysFlag names; 0 in its bits means zlib (messages from before there was a choice). Nothing for
/// values without a meaning. Whether the body is compressed at all is another bit (kSysFlagCompressed).
[[nodiscard]] std::optional<CompressionType> compressionTypeOf(std::int32_t sysFlag) noexcept;

/// The sysFlag bits that name the codec.
[[nodiscard]] constexpr std::int32_t compressionFlag(CompressionType type) noexcept {
    return static_cast<std::int32_t>(type) << 8;
}

/// Java's default level for bodies.
inline constexpr int kCompressionLevelDefault = 5;

/// One complete stream. Levels: 0-9 for zlib, others as the codec takes them. Internal when the codec refuses.
[[nodiscard]] Result<std::string> compress(CompressionType type, std::string_view plain,
                                           int level = kCompressionLevelDefault);

/// Corrupt when the bytes are not one complete stream of that codec, OutOfRange when it would give more than
/// plainBytesMax bytes. Memory grows with what really comes out, never with a length that the stream claims.
[[nodiscard]] Result<std::string> decompress(CompressionType type, std::string_view packed, std::size_t plainBytesMax);

}  // namespace patchbay::protocol
