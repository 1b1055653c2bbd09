// FrameCodec: writes the front of a frame, everything but its body.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/protocol/FieldList.h"
#include "patchbay/protocol/Language.h"
#include "patchbay/protocol/Limits.h"
#include "patchbay/protocol/SerializeType.h"
#include "patchbay/protocol/util/ByteWriter.h"

#include <cstdint>
#include <string_view>

namespace patchbay::protocol {

/// The fixed members of a command's header.
struct CommandHead {
    std::int32_t code = 0;
    std::int32_t opaque = 0;
    std::int32_t flag = 0;
    /// None when data() is null; "" is written as "".
    std::string_view remark;
    std::int32_t version = kVersion;
    /// Java, as every server of this protocol says; clients do not look at it.
    Language language = Language::Java;
};

/// Appends length word, header word and header of a frame whose body of `bodyBytes` follows, as a Java peer with
/// fastjson would write it: members in alphabetical order, null ones left out, all field values as strings.
/// A binary header carries the low 16 bits of the code and no difference between an absent and an empty text.
/// Thread-safe (no state). OutOfRange, with `out` as it was, when the frame would be larger than kFrameBytesMax.
Status encodeFrameHeader(ByteWriter& out, const CommandHead& head, const FieldList& fields, SerializeType type,
                         std::size_t bodyBytes);

}  // namespace patchbay::protocol
