#include "server/OutboundConnections.h"

#include "server/ClientConnection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <utility>
#include <vector>

namespace patchbay::kernel {

namespace {

/// May block for as long as the system's resolver likes. IPv4 first, as servers of this protocol announce themselves so.
Result<SocketAddress> lookUp(const std::string& hostPort) {
    const auto colon = hostPort.rfind(':');
    if (colon == std::string::npos) return Status(StatusCode::InvalidArgument, "'" + hostPort + "' is not host:port");
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const auto host = hostPort.substr(0, colon);
    const auto port = hostPort.substr(colon + 1);
    if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
        return Status(StatusCode::Unavailable, "cannot resolve '" + hostPort + "': " + ::gai_strerror(error));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(found, ::freeaddrinfo);
    for (const auto* one = found; one != nullptr; one = one->ai_next) {
        if (one->ai_family != AF_INET) continue;
        sockaddr_in v4;
        std::memcpy(&v4, one->ai_addr, sizeof v4);
        std::array<std::uint8_t, 4> ip;
        std::memcpy(ip.data(), &v4.sin_addr, ip.size());
        return SocketAddress::v4(ip, ntohs(v4.sin_port));
    }
    sockaddr_in6 v6;
    std::memcpy(&v6, found->ai_addr, sizeof v6);
    std::array<std::uint8_t, 16> ip;
    std::memcpy(ip.data(), &v6.sin6_addr, ip.size());
    return SocketAddress::v6(ip, ntohs(v6.sin6_port));
}

}  // namespace

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
    context_.post([&loop = loop_, connection] {
        loop.post([connection, address = lookUp(connection->hostPort())] {
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
