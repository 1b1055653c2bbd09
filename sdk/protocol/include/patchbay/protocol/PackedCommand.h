// PackedCommand: a command's header in few bytes, for a request that waits for long.
#pragma once

#include "patchbay/protocol/CommandView.h"

#include <memory>

namespace patchbay::protocol {

/// Everything of a command but its body: texts without punctuation, numbers for the names that pulls carry. A pull of a Java client takes
/// about 150 bytes so, of 600 for its frame and 600 for its view. In memory only: its layout is nobody else's business.
/// A plain value; not synchronised.
class PackedCommand {
public:
    explicit PackedCommand(const CommandView& command);

    /// Makes `out` what the command was, without a body. Its texts lie in what is answered and live as long as that.
    [[nodiscard]] std::unique_ptr<char[]> unpack(CommandView& out) const;

private:
    std::unique_ptr<char[]> bytes_;
};

}  // namespace patchbay::protocol
