#include "patchbay/net/Tcp.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace patchbay::net {

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
    sockaddr_storage storage{};
    std::memcpy(&storage, found.ai_addr, found.ai_addrlen);
    return net::addressOf(storage);
}

}  // namespace

SocketAddress addressOf(const sockaddr_storage& from) noexcept {
    if (from.ss_family == AF_INET6) {
        sockaddr_in6 v6;
        std::memcpy(&v6, &from, sizeof v6);
        std::array<std::uint8_t, 16> ip;
        std::memcpy(ip.data(), &v6.sin6_addr, ip.size());
        if (!IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) return SocketAddress::v6(ip, ntohs(v6.sin6_port));
        return SocketAddress::v4({ip[12], ip[13], ip[14], ip[15]}, ntohs(v6.sin6_port));
    }
    sockaddr_in v4;
    std::memcpy(&v4, &from, sizeof v4);
    std::array<std::uint8_t, 4> ip;
    std::memcpy(ip.data(), &v4.sin_addr, ip.size());
    return SocketAddress::v4(ip, ntohs(v4.sin_port));
}

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

Result<std::unique_ptr<Transport>> startConnect(const SocketAddress& address, void (*prepare)(int fd) noexcept) {
    sockaddr_storage to{};
    const auto size = fill(to, address);
    const int fd = ::socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return Status(StatusCode::Unavailable, std::string("no socket: ") + std::strerror(errno));
    auto transport = makePlainTransport(fd);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (prepare != nullptr) prepare(fd);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), size) != 0 && errno != EINPROGRESS) {
        return Status(StatusCode::Unavailable, std::string("connect: ") + std::strerror(errno));
    }
    return transport;
}

}  // namespace patchbay::net
