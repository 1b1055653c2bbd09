// BinaryHeaderReader: reads a ROCKETMQ binary header into a CommandView.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/protocol/CommandView.h"

#include <string_view>

namespace patchbay::protocol {

/// Empty remarks, keys and values are absent ones. The code keeps the 16 bits that it travelled with: nobody can tell
/// whether more were cut off. No state.
class BinaryHeaderReader {
public:
    static Status read(std::string_view header, CommandView& out);
};

}  // namespace patchbay::protocol
