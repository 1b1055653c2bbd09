// JsonHeaderWriter: writes a JSON header as Java and fastjson do.
#pragma once

#include "patchbay/protocol/FrameCodec.h"

namespace patchbay::protocol {

/// Appends the header's text. Its texts have at most kFrameBytesMax bytes together.
void writeJsonHeader(ByteWriter& out, const CommandHead& head, const FieldList& fields);

}  // namespace patchbay::protocol
