// Security: what is put around a connection. What the client knows of TLS, whose library it does not need.
#pragma once

#include "patchbay/client/ClientOptions.h"
#include "patchbay/net/Transport.h"

#include <memory>
#include <string_view>

namespace patchbay::client {

/// Immutable; shared by clients. Loop thread.
class Security {
public:
    virtual ~Security() = default;
    /// The transport of a connection to that host, in whose name the peer has to present itself. Null when there is no memory.
    [[nodiscard]] virtual std::unique_ptr<net::Transport> wrap(std::unique_ptr<net::Transport> plain, std::string_view host) const = 0;
};

}  // namespace patchbay::client
