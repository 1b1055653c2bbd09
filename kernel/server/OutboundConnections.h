// OutboundConnections: calls to other servers, over one connection for each address.
#pragma once

#include "patchbay/net/Connection.h"
#include "patchbay/plugin/Runtime.h"
#include "server/Resolver.h"
#include "server/ServerContext.h"
#include "server/ServerLimits.h"

#include <map>
#include <memory>
#include <string>

namespace patchbay::kernel {

class ClientConnection;

/// Lives on one loop, which does all the work; names are resolved on a thread of their own. Owned by the server. A call that
/// finds no connection waits for it within its own timeout; connecting takes 3 s at most. Unavailable when the address cannot be
/// resolved or reached, or when the process stops.
class OutboundConnections final : public plugin::RemotingInvoker {
public:
    OutboundConnections(net::EventLoop& loop, const ServerLimits& limits, const ServerContext& context);
    ~OutboundConnections() override;

    void invoke(const std::string& hostPort, protocol::RemotingCommand command, std::chrono::milliseconds timeout,
                plugin::InvokeDone done) override;
    /// Loop thread. Later calls are refused.
    void closeAll() noexcept;
    /// Loop thread; closes connections without traffic from now on.
    void startReaping();

    // For its connections, on the loop's thread.
    void ended(ClientConnection& connection) noexcept;
    [[nodiscard]] const ServerContext& context() const noexcept { return context_; }

private:
    void start(const std::string& hostPort, protocol::RemotingCommand& command, std::chrono::milliseconds timeout,
               plugin::InvokeDone done);
    Ref<ClientConnection> connectionTo(const std::string& hostPort);
    void resolve(const Ref<ClientConnection>& connection);
    void reap();

    net::EventLoop& loop_;
    const ServerLimits& limits_;
    const ServerContext& context_;
    net::ConnectionLimits shared_;
    Resolver resolver_;

    // Loop thread only.
    std::map<std::string, Ref<ClientConnection>> connections_;
    bool closing_ = false;
};

}  // namespace patchbay::kernel
