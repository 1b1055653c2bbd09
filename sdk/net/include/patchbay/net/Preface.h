// Preface: what the first bytes of an accepted connection say about who is there.
#pragma once

#include "patchbay/base/SocketAddress.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::net {

/// Frames always start with a zero byte, because a frame is shorter than 16 MiB; so one byte tells them from all else.
struct Preface {
    enum class Kind : std::uint8_t { NeedMore, Frames, Proxy, Tls, Http, Http2, BadProxy, Unknown };
    Kind kind = Kind::NeedMore;
    std::size_t bytes = 0;                  ///< of the PROXY header
    std::optional<SocketAddress> source;    ///< the PROXY header's; none for LOCAL and UNKNOWN
};

/// Reads the start of a stream; `bytes` may be incomplete. PROXY protocol versions 1 and 2.
[[nodiscard]] Preface readPreface(std::string_view bytes) noexcept;

/// One clause for the log that guesses why the peer is here, e.g. "an HTTP request on a remoting port".
[[nodiscard]] std::string_view guessCause(Preface::Kind kind) noexcept;

}  // namespace patchbay::net
