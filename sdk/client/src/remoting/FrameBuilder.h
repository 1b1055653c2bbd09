// FrameBuilder: makes request frames, signed if there are credentials.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/client/ClientOptions.h"
#include "patchbay/protocol/FieldList.h"
#include "patchbay/protocol/Language.h"
#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/protocol/util/ByteWriter.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace patchbay::client {

/// A whole frame with its length word.
struct Frame {
    std::int32_t opaque = 0;
    protocol::ByteWriter bytes;
};

/// One for a client. Any thread, no locks: opaques are counted atomically, so that a frame can be made before its connection is known.
class FrameBuilder {
public:
    FrameBuilder(Credentials credentials, protocol::Language language) noexcept
        : credentials_(std::move(credentials)), language_(language) {}

    /// Credentials and signature are added to `fields`. OutOfRange when the frame would be larger than servers accept.
    [[nodiscard]] Result<Frame> request(std::int32_t code, protocol::FieldList& fields, std::string_view body, bool oneway = false);
    [[nodiscard]] Result<Frame> request(const protocol::RemotingCommand& command, bool oneway = false);

private:
    const Credentials credentials_;
    const protocol::Language language_;
    std::atomic<std::uint32_t> nextOpaque_{0};
};

}  // namespace patchbay::client
