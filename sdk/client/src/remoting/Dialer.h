// Dialer: begins a connection to an address; a seam for TLS and for tests.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/base/SocketAddress.h"
#include "patchbay/net/Transport.h"

#include <memory>

namespace patchbay::client {

class Dialer {
public:
    virtual ~Dialer() = default;
    /// A descriptor whose connect() is under way; its becoming writable tells the outcome. Loop thread; does not block.
    virtual Result<std::unique_ptr<net::Transport>> dial(const SocketAddress& address) = 0;
};

/// TCP without delay.
[[nodiscard]] std::unique_ptr<Dialer> makeTcpDialer();

}  // namespace patchbay::client
