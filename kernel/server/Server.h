// Server: loops, listeners, executors and the dispatcher between them, with one start and one stop.
#pragma once

#include "dispatch/Dispatcher.h"
#include "dispatch/Executors.h"
#include "patchbay/base/Clock.h"
#include "patchbay/base/Result.h"
#include "patchbay/net/EventLoopPool.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Peer.h"
#include "patchbay/plugin/Runtime.h"
#include "server/ServerContext.h"
#include "server/ServerLimits.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::kernel {

class Acceptor;
class ConnectionRegistry;
class OutboundConnections;

struct ListenerOptions {
    std::string name;                  ///< "broker", "namesrv", "admin"; ListenerIndex is the order of declaration
    std::string host = "0.0.0.0";      ///< numeric
    std::uint16_t port = 0;            ///< 0 = any
};

/// The order of calls, all on the control thread:
///   bind() for every listener · start() · publish() · listen()
///   closeListeners() · refuse() · (plugins drain) · flush() · closeConnections() · (plugins stop) · stop()
/// publish() may be called any number of times in between. Owned by the application.
class Server {
public:
    Server(const ServerLimits& limits, ServerContext context);
    ~Server();  ///< does what is left of the stop

    /// Binds, without listening yet; answers the real port. Io when the address is taken or not ours.
    Result<std::uint16_t> bind(const ListenerOptions& options);
    /// Starts the loops.
    void start();
    void publish(Ref<RouteTable> table) { dispatcher_.publish(std::move(table)); }
    /// From here on clients are served.
    Status listen();
    /// Serves a connected stream socket that was accepted elsewhere; takes it over. Any thread, from start() to closeConnections().
    void accept(int fd, ListenerIndex listener, const SocketAddress& remote, const SocketAddress& local);

    /// Takes up to 250 ms.
    void closeListeners() noexcept;
    void refuse() noexcept { dispatcher_.refuse(); }
    /// Waits until nothing is in work or queued for sending. False when `deadline` came first.
    bool flush(std::chrono::milliseconds deadline) noexcept;
    /// Closes all connections, in and out; peer listeners are told before it returns.
    void closeConnections() noexcept;
    /// Joins executors and loops.
    void stop() noexcept;

    [[nodiscard]] const std::vector<std::string>& listenerNames() const noexcept { return names_; }
    [[nodiscard]] plugin::Lane laneCount() const noexcept { return executors_.laneCount(); }
    [[nodiscard]] Executors& executors() noexcept { return executors_; }
    [[nodiscard]] Dispatcher& dispatcher() noexcept { return dispatcher_; }
    /// Any thread, from start() to stop().
    [[nodiscard]] plugin::RemotingInvoker& remoting() noexcept;
    [[nodiscard]] std::size_t connectionCount() const noexcept;
    /// Any thread. removePeerListener() returns after a running call of the listener has ended, unless called from within it.
    void addPeerListener(plugin::PeerListener& listener);
    void removePeerListener(plugin::PeerListener& listener) noexcept;

private:
    const ServerLimits limits_;
    const ServerContext context_;
    net::EventLoopPool loops_;
    Executors executors_;
    Dispatcher dispatcher_;
    std::unique_ptr<ConnectionRegistry> registry_;
    std::unique_ptr<OutboundConnections> outbound_;
    std::vector<std::string> names_;
    std::vector<std::unique_ptr<Acceptor>> acceptors_;
    bool started_ = false;
    bool stopped_ = false;
};

}  // namespace patchbay::kernel
