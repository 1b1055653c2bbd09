// Acceptor: one listening socket.
#pragma once

#include "dispatch/RouteTable.h"
#include "patchbay/base/Result.h"
#include "server/ServerLimits.h"

#include <cstdint>
#include <memory>
#include <string>

namespace patchbay::kernel {

class ConnectionRegistry;

/// Accepts with Poco's TCPServer and hands each descriptor to the registry through a connection filter, so that neither its
/// queue nor its threads are used. Bound when it is made, deaf until listen(). Used by the control thread.
class Acceptor {
public:
    static Result<std::unique_ptr<Acceptor>> bind(const std::string& host, std::uint16_t port, ListenerIndex listener,
                                                  const ServerLimits& limits, ConnectionRegistry& registry);
    ~Acceptor();  ///< stops
    [[nodiscard]] std::uint16_t port() const noexcept;
    Status listen();
    /// Takes up to 250 ms, or 350 ms while descriptors have run out, because the accepting thread looks that often. The port is free afterwards.
    void stop() noexcept;

private:
    struct Poco;
    explicit Acceptor(std::unique_ptr<Poco> poco) noexcept;
    std::unique_ptr<Poco> poco_;
};

}  // namespace patchbay::kernel
