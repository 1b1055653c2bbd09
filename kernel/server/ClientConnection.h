// ClientConnection: one connection to another server.
#pragma once

#include "patchbay/net/Connection.h"
#include "server/PendingCalls.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchbay::kernel {

class OutboundConnections;

/// Used on its loop's thread. What is called before it is connected waits here. It ends once and is not opened again.
class ClientConnection final : public RefCounted, public net::Connection {
public:
    ClientConnection(OutboundConnections& owner, net::EventLoop& loop, net::ConnectionLimits& limits, std::string hostPort);

    void call(protocol::RemotingCommand& command, std::chrono::milliseconds timeout, plugin::InvokeDone done);
    /// Begins to connect; the owner's look-up has found the address.
    void connectTo(const SocketAddress& address);
    /// Ends it, whether it was open yet or not; all its calls fail with `why`.
    void fail(const Status& why) noexcept;

    [[nodiscard]] const std::string& hostPort() const noexcept { return hostPort_; }
    [[nodiscard]] bool waiting() const noexcept { return !calls_.empty(); }

private:
    KeepAlive self() noexcept override { return KeepAlive(Ref<ClientConnection>::share(this)); }
    bool received(std::span<char> frame, net::ReceiveChunk& chunk) noexcept override;
    std::int64_t preface(std::string_view) noexcept override { return 0; }
    void connected() noexcept override;
    void undecodable(const Status& why) noexcept override;
    void closed(std::string_view reason) noexcept override;
    void refuse(const protocol::CommandView& request);

    OutboundConnections& owner_;
    const std::string hostPort_;
    PendingCalls calls_;
    struct Unsent {
        std::int32_t opaque;
        bool oneway;
        std::string frame;
    };
    std::vector<Unsent> unsent_;     // from before the socket was there
    std::uint32_t nextOpaque_ = 1;   // unsigned, because it may wrap
    bool connected_ = false;
    bool ended_ = false;
};

}  // namespace patchbay::kernel
