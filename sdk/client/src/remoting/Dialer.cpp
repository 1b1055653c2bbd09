#include "remoting/Dialer.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace patchbay::client {

namespace {

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

SocketAddress addressOf(const addrinfo& found) noexcept {
    if (found.ai_family == AF_INET) {
        sockaddr_in v4;
        std::memcpy(&v4, found.ai_addr, sizeof v4);
        std::array<std::uint8_t, 4> ip;
        std::memcpy(ip.data(), &v4.sin_addr, ip.size());
        return SocketAddress::v4(ip, ntohs(v4.sin_port));
    }
    sockaddr_in6 v6;
    std::memcpy(&v6, found.ai_addr, sizeof v6);
    std::array<std::uint8_t, 16> ip;
    std::memcpy(ip.data(), &v6.sin6_addr, ip.size());
    return SocketAddress::v6(ip, ntohs(v6.sin6_port));
}

// A peer that vanished without a word is noticed after some 20 s, not after the hours that the system takes by itself.
void noticeVanishedPeers(int fd) noexcept {
    const int on = 1;
    const int idleSeconds = 10;
    const int intervalSeconds = 3;
    const int probes = 3;
    const int unackedMs = 15'000;
    ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idleSeconds, sizeof idleSeconds);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &intervalSeconds, sizeof intervalSeconds);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unackedMs, sizeof unackedMs);
}

class TcpDialer final : public Dialer {
public:
    Result<std::unique_ptr<net::Transport>> dial(const SocketAddress& address) override {
        sockaddr_storage to{};
        const auto size = fill(to, address);
        const int fd = ::socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0) return Status(StatusCode::Unavailable, std::string("no socket: ") + std::strerror(errno));
        auto transport = net::makePlainTransport(fd);
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        noticeVanishedPeers(fd);
        if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), size) != 0 && errno != EINPROGRESS) {
            return Status(StatusCode::Unavailable, std::string("connect: ") + std::strerror(errno));
        }
        return transport;
    }
};

}  // namespace

std::unique_ptr<Dialer> makeTcpDialer() { return std::make_unique<TcpDialer>(); }

Result<SocketAddress> lookUp(const std::string& hostPort) {
    if (auto address = SocketAddress::parse(hostPort)) return address;
    const auto colon = hostPort.rfind(':');
    if (colon == std::string::npos) {
        return Status(StatusCode::InvalidArgument, "'" + hostPort + "' is no address; write host:port");
    }
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
        if (one->ai_family == AF_INET) return addressOf(*one);
    }
    return addressOf(*found);
}

}  // namespace patchbay::client
