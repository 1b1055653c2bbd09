#include "server/ClientConnection.h"

#include "server/OutboundConnections.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace patchbay::kernel {

namespace {

constexpr std::chrono::seconds kConnectTime{3};

socklen_t fill(sockaddr_storage& to, const SocketAddress& address) noexcept {
    const auto ip = address.ipBytes();
    if (address.isV6()) {
        sockaddr_in6 v6{};
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(address.port());
        std::memcpy(&v6.sin6_addr, ip.data(), ip.size());
        std::memcpy(&to, &v6, sizeof v6);
        return sizeof v6;
    }
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port());
    std::memcpy(&v4.sin_addr, ip.data(), ip.size());
    std::memcpy(&to, &v4, sizeof v4);
    return sizeof v4;
}

}  // namespace

ClientConnection::ClientConnection(OutboundConnections& owner, net::EventLoop& loop, net::ConnectionLimits& limits,
                                   std::string hostPort)
    : net::Connection(loop, limits), owner_(owner), hostPort_(std::move(hostPort)), calls_(loop, owner.context().post) {}

void ClientConnection::call(protocol::RemotingCommand& command, std::chrono::milliseconds timeout, plugin::InvokeDone done) {
    command.flag = 0;
    command.opaque = static_cast<std::int32_t>(nextOpaque_++);
    const auto frame = command.encode(protocol::SerializeType::Json);
    if (!frame) return PendingCalls::refuse(owner_.context().post, std::move(done), frame.error());
    calls_.add(command.opaque, timeout, std::move(done));
    if (!connected_) {
        unsent_ += *frame;
        return;
    }
    writer().append(*frame);
    wrote();
}

void ClientConnection::connectTo(const SocketAddress& address) {
    if (ended_) return;
    sockaddr_storage to{};
    const auto size = fill(to, address);
    const int fd = ::socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return fail({StatusCode::Unavailable, std::string("no socket: ") + std::strerror(errno)});
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto transport = net::makePlainTransport(fd);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), size) != 0 && errno != EINPROGRESS) {
        return fail({StatusCode::Unavailable, "connect to " + hostPort_ + ": " + std::strerror(errno)});
    }
    // Also when it succeeded at once: the poller will say so.
    open(std::move(transport), true);
    loop().after(kConnectTime, [me = Ref<ClientConnection>::share(this)] {
        if (!me->connected_) me->fail({StatusCode::Unavailable, "connect to " + me->hostPort_ + ": not within 3 s"});
    });
}

void ClientConnection::connected() noexcept {
    connected_ = true;
    writer().append(std::exchange(unsent_, {}));
    wrote();
}

bool ClientConnection::received(std::span<char> frame, net::ReceiveChunk&) noexcept {
    protocol::CommandView command;
    if (const auto status = protocol::CommandView::decode(frame, command); !status) {
        undecodable(status);
        return false;
    }
    if (command.isResponse()) calls_.answered(command);
    else if (!command.isOneway()) refuse(command);
    return isOpen();
}

// There are no processors on this side; a peer that waits for an answer is told so at once.
void ClientConnection::refuse(const protocol::CommandView& request) {
    auto answer = protocol::RemotingCommand::response(protocol::ResponseCode::RequestCodeNotSupported, request.opaque);
    answer.remark = " request type " + std::to_string(request.code) + " not supported";
    writer().append(*answer.encode(request.serializeType));
    wrote();
}

void ClientConnection::undecodable(const Status& why) noexcept {
    owner_.context().log.limited(plugin::LogLevel::Warn, "server sends undecodable answers",
                                 {{"server", hostPort_}, {"cause", why.message()}});
    close("undecodable input");
}

void ClientConnection::fail(const Status& why) noexcept {
    if (std::exchange(ended_, true)) return;
    const auto keep = Ref<ClientConnection>::share(this);
    owner_.ended(*this);
    calls_.failAll(why);
    close(why.message());
}

void ClientConnection::closed(std::string_view reason) noexcept {
    fail({connected_ ? StatusCode::Cancelled : StatusCode::Unavailable, hostPort_ + ": " + std::string(reason)});
}

}  // namespace patchbay::kernel
