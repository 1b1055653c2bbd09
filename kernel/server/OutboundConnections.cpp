#include "server/OutboundConnections.h"

#include "server/ClientConnection.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace patchbay::kernel {

OutboundConnections::OutboundConnections(net::EventLoop& loop, const ServerLimits& limits, const ServerContext& context)
    : loop_(loop), limits_(limits), context_(context) {
    shared_.frameBytesMax = limits.frameBytesMax;
}

OutboundConnections::~OutboundConnections() = default;

void OutboundConnections::invoke(const std::string& hostPort, protocol::RemotingCommand command,
                                 std::chrono::milliseconds timeout, plugin::InvokeDone done) {
    loop_.post([this, hostPort, command = std::move(command), timeout, done = std::move(done)]() mutable {
        start(hostPort, command, timeout, std::move(done));
    });
}

void OutboundConnections::start(const std::string& hostPort, protocol::RemotingCommand& command,
                                std::chrono::milliseconds timeout, plugin::InvokeDone done) {
    if (closing_) return PendingCalls::refuse(context_.post, std::move(done), {StatusCode::Unavailable, "stopping"});
    connectionTo(hostPort)->call(command, timeout, std::move(done));
}

Ref<ClientConnection> OutboundConnections::connectionTo(const std::string& hostPort) {
    auto& connection = connections_[hostPort];
    if (connection) return connection;
    connection = Ref<ClientConnection>::adopt(new ClientConnection(*this, loop_, shared_, hostPort));
    // After the call that needs it was noted, so that a failure reaches it.
    loop_.post([this, made = connection] {
        if (const auto address = SocketAddress::parse(made->hostPort())) made->connectTo(*address);
        else resolve(made);
    });
    return connection;
}

void OutboundConnections::resolve(const Ref<ClientConnection>& connection) {
    resolver_.resolve(connection->hostPort(), [&loop = loop_, connection](Result<SocketAddress> found) {
        loop.post([connection, address = std::move(found)] {
            if (address) connection->connectTo(*address);
            else connection->fail(address.error());
        });
    });
}

void OutboundConnections::ended(ClientConnection& connection) noexcept {
    const auto found = connections_.find(connection.hostPort());
    if (found != connections_.end() && found->second.get() == &connection) connections_.erase(found);
}

void OutboundConnections::closeAll() noexcept {
    closing_ = true;
    resolver_.stop();
    while (!connections_.empty()) {
        const auto connection = connections_.begin()->second;
        connection->fail({StatusCode::Cancelled, "the process is stopping"});
    }
}

void OutboundConnections::startReaping() {
    loop_.after(std::max(limits_.idle / 12, std::chrono::milliseconds(1)), [this] { reap(); });
}

void OutboundConnections::reap() {
    std::vector<Ref<ClientConnection>> idle;
    for (const auto& [hostPort, connection] : connections_) {
        const bool silent = connection->isOpen() && loop_.now() - connection->lastActive() > limits_.idle;
        if (silent && !connection->waiting()) idle.push_back(connection);
    }
    for (const auto& connection : idle) connection->close("idle");
    startReaping();
}

}  // namespace patchbay::kernel
