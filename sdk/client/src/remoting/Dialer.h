// Dialer: begins a connection to an address; a seam for TLS and for tests.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/base/SocketAddress.h"
#include "patchbay/net/Transport.h"
#include "remoting/Security.h"

#include <memory>
#include <string_view>

namespace patchbay::client {

class Dialer {
public:
    virtual ~Dialer() = default;
    /// A descriptor whose connect() is under way; its becoming writable tells the outcome. `server`: what the address was looked up from, with its port.
    /// Loop thread; does not block.
    virtual Result<std::unique_ptr<net::Transport>> dial(const SocketAddress& address, std::string_view server) = 0;
};

/// TCP without delay; inside `security` when there is one.
[[nodiscard]] std::unique_ptr<Dialer> makeTcpDialer(SecurityPtr security = {});

}  // namespace patchbay::client
