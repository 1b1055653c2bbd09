#include "patchbay/protocol/FrameCodec.h"

#include "JsonHeaderWriter.h"

#include <limits>
#include <string>

namespace patchbay::protocol {

namespace {

constexpr std::size_t kWordsBytes = 2 * sizeof(std::int32_t);

void writeBinaryHeader(ByteWriter& out, const CommandHead& head, const FieldList& fields) {
    out.i16(static_cast<std::int16_t>(head.code));
    out.u8(static_cast<std::uint8_t>(head.language));
    out.i16(static_cast<std::int16_t>(head.version));
    out.i32(head.opaque);
    out.i32(head.flag);
    out.i32(static_cast<std::int32_t>(head.remark.size()));
    out.append(head.remark);
    const std::size_t blockSizeAt = out.size();
    out.i32(0);
    fields.forEach([&out](std::string_view key, std::string_view value) {
        out.i16(static_cast<std::int16_t>(key.size()));
        out.append(key);
        out.i32(static_cast<std::int32_t>(value.size()));
        out.append(value);
    });
    out.i32At(blockSizeAt, static_cast<std::int32_t>(out.size() - blockSizeAt - sizeof(std::int32_t)));
}

bool keysFitBinary(const FieldList& fields) {
    bool fit = true;
    fields.forEach([&fit](std::string_view key, std::string_view) {
        fit = fit && key.size() <= std::size_t{std::numeric_limits<std::int16_t>::max()};
    });
    return fit;
}

Status tooLarge(std::size_t bytes) {
    return {StatusCode::OutOfRange, "a frame of " + std::to_string(bytes) + " bytes is larger than the limit of " +
                                        std::to_string(kFrameBytesMax)};
}

}  // namespace

Status encodeFrameHeader(ByteWriter& out, const CommandHead& head, const FieldList& fields, SerializeType type,
                         std::size_t bodyBytes) {
    // The texts alone, first: nothing larger than a frame is ever written to find out that it is too large.
    const std::size_t textBytes = fields.textBytes() + head.remark.size();
    if (bodyBytes > kFrameBytesMax || textBytes > kFrameBytesMax - bodyBytes) return tooLarge(textBytes + bodyBytes);
    if (type == SerializeType::Binary && !keysFitBinary(fields)) {
        return {StatusCode::OutOfRange, "a binary header has no room for a key of more than 32767 bytes"};
    }

    const std::size_t start = out.size();
    static_cast<void>(out.grow(kWordsBytes));
    if (type == SerializeType::Json) {
        writeJsonHeader(out, head, fields);
    } else {
        writeBinaryHeader(out, head, fields);
    }
    const std::size_t headerBytes = out.size() - start - kWordsBytes;
    const std::size_t frameBytes = kWordsBytes + headerBytes + bodyBytes;
    if (headerBytes > kHeaderBytesMax || frameBytes > kFrameBytesMax) {
        out.cut(start);
        return tooLarge(frameBytes);
    }
    const auto word = static_cast<std::uint32_t>(type) << 24 | static_cast<std::uint32_t>(headerBytes);
    out.i32At(start, static_cast<std::int32_t>(frameBytes - sizeof(std::int32_t)));
    out.i32At(start + sizeof(std::int32_t), static_cast<std::int32_t>(word));
    return Status::ok();
}

}  // namespace patchbay::protocol
