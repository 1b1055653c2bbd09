#include "remoting/Dialer.h"

#include "patchbay/net/Tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <utility>

namespace patchbay::client {

namespace {

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

std::string_view hostIn(std::string_view hostPort) {
    auto host = hostPort.substr(0, hostPort.rfind(':'));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return host;
}

class TcpDialer final : public Dialer {
public:
    explicit TcpDialer(SecurityPtr security) : security_(std::move(security)) {}
    Result<std::unique_ptr<net::Transport>> dial(const SocketAddress& address, std::string_view server) override {
        auto plain = net::startConnect(address, noticeVanishedPeers);
        if (!plain || !security_) return plain;
        auto secured = security_->wrap(std::move(*plain), hostIn(server));
        if (!secured) return Status(StatusCode::Unavailable, "no memory for a TLS connection");
        return secured;
    }

private:
    const SecurityPtr security_;
};

}  // namespace

std::unique_ptr<Dialer> makeTcpDialer(SecurityPtr security) { return std::make_unique<TcpDialer>(std::move(security)); }

}  // namespace patchbay::client
