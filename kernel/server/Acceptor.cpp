#include "server/Acceptor.h"

#include "patchbay/base/Assert.h"
#include "patchbay/net/Tcp.h"
#include "server/ConnectionRegistry.h"

#include <Poco/Exception.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/Net/StreamSocket.h>
#include <Poco/Net/TCPServer.h>
#include <Poco/Net/TCPServerConnectionFactory.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <fcntl.h>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <system_error>
#include <utility>

namespace patchbay::kernel {

namespace {

namespace poco = ::Poco::Net;

constexpr std::chrono::milliseconds kPause{100};

using NameCall = int (*)(int, sockaddr*, socklen_t*);

bool nameOf(int fd, NameCall call, SocketAddress& out) noexcept {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    if (call(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return false;
    out = net::addressOf(storage);
    return true;
}

void setInt(int fd, int level, int option, int value) noexcept { ::setsockopt(fd, level, option, &value, sizeof value); }

/// Takes every connection away from Poco: a copy of its descriptor goes to a loop, and the original is closed with the socket.
class HandOver final : public poco::TCPServerConnectionFilter {
public:
    HandOver(ListenerIndex listener, const ServerLimits& limits, ConnectionRegistry& registry)
        : listener_(listener), limits_(limits), registry_(registry) {}

    bool accept(const poco::StreamSocket& socket) override {
        const int fd = ::fcntl(socket.impl()->sockfd(), F_DUPFD_CLOEXEC, 0);
        if (fd < 0) {
            // The next one would fail as well. Without any descriptor Poco's own look at the socket fails, and it pauses itself.
            registry_.context().log.limited(plugin::LogLevel::Error, "a connection is dropped: no descriptor can be had for it (limit of open files)",
                                            {{"error", std::generic_category().message(errno)}});
            std::mutex mutex;
            std::condition_variable never;
            std::unique_lock lock(mutex);
            const Clock& clock = registry_.context().clock;
            clock.wait(never, lock, clock.now() + kPause);
            return false;
        }
        SocketAddress remote;
        SocketAddress local;
        // The peer may be gone already.
        if (!nameOf(fd, ::getpeername, remote) || !nameOf(fd, ::getsockname, local) ||
            ::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
            ::close(fd);
            return false;
        }
        setInt(fd, IPPROTO_TCP, TCP_NODELAY, 1);
        if (limits_.socketSendBuffer > 0) setInt(fd, SOL_SOCKET, SO_SNDBUF, limits_.socketSendBuffer);
        if (limits_.socketReceiveBuffer > 0) setInt(fd, SOL_SOCKET, SO_RCVBUF, limits_.socketReceiveBuffer);
        registry_.accept(fd, listener_, remote, local);
        return false;
    }

private:
    const ListenerIndex listener_;
    const ServerLimits& limits_;
    ConnectionRegistry& registry_;
};

class NoFactory final : public poco::TCPServerConnectionFactory {
public:
    poco::TCPServerConnection* createConnection(const poco::StreamSocket&) override {
        PATCHBAY_ASSERT(!"the filter takes every connection");
        return nullptr;
    }
};

}  // namespace

struct Acceptor::Poco {
    poco::ServerSocket socket;
    std::unique_ptr<poco::TCPServer> server;
    int backlog = 0;
    std::uint16_t port = 0;
};

Acceptor::Acceptor(std::unique_ptr<Poco> poco) noexcept : poco_(std::move(poco)) {}

Acceptor::~Acceptor() { stop(); }

Result<std::unique_ptr<Acceptor>> Acceptor::bind(const std::string& host, std::uint16_t port, ListenerIndex listener,
                                                 const ServerLimits& limits, ConnectionRegistry& registry) {
    try {
        auto state = std::make_unique<Poco>();
        // Not SO_REUSEPORT, which the shorter call would add: two brokers must not share a port by accident.
        state->socket.bind(poco::SocketAddress(host, port), true, false);
        state->port = state->socket.address().port();
        state->backlog = limits.backlog;
        state->server = std::make_unique<poco::TCPServer>(new NoFactory, state->socket, new poco::TCPServerParams);
        state->server->setConnectionFilter(new HandOver(listener, limits, registry));
        return std::unique_ptr<Acceptor>(new Acceptor(std::move(state)));
    } catch (const ::Poco::Exception& error) {
        return Status(StatusCode::Io, "cannot listen on " + host + ":" + std::to_string(port) + ": " + error.displayText());
    }
}

std::uint16_t Acceptor::port() const noexcept { return poco_->port; }

Status Acceptor::listen() {
    try {
        poco_->socket.listen(poco_->backlog);
        poco_->server->start();
        return Status::ok();
    } catch (const ::Poco::Exception& error) {
        return {StatusCode::Io, "cannot listen on port " + std::to_string(port()) + ": " + error.displayText()};
    }
}

void Acceptor::stop() noexcept {
    if (!poco_ || !poco_->server) return;
    try {
        poco_->server->stop();
        poco_->server.reset();
        poco_->socket.close();
    } catch (const ::Poco::Exception&) {
        // Stopping what cannot be stopped: the descriptor is closed with the process.
    }
}

}  // namespace patchbay::kernel
