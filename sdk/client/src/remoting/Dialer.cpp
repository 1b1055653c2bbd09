#include "remoting/Dialer.h"

#include "patchbay/net/Tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

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

class TcpDialer final : public Dialer {
public:
    Result<std::unique_ptr<net::Transport>> dial(const SocketAddress& address) override {
        return net::startConnect(address, noticeVanishedPeers);
    }
};

}  // namespace

std::unique_ptr<Dialer> makeTcpDialer() { return std::make_unique<TcpDialer>(); }

}  // namespace patchbay::client
