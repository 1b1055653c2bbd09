// ConnectionRegistry: all accepted connections, who wants to hear of their end, and the reaping of silent ones.
#pragma once

#include "dispatch/Dispatcher.h"
#include "patchbay/net/Connection.h"
#include "patchbay/net/EventLoopPool.h"
#include "server/ServerConnection.h"
#include "server/ServerContext.h"
#include "server/ServerLimits.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::kernel {

/// Owned by the server; outlives all connections. accept() and the listeners' functions are for any thread; the rest for the
/// loop of the connection or as said.
class ConnectionRegistry {
public:
    ConnectionRegistry(const ServerLimits& limits, const ServerContext& context, net::EventLoopPool& loops,
                       Dispatcher& dispatcher, const std::vector<std::string>& listenerNames);

    /// Takes over a connected, non-blocking descriptor; closes it when there are too many connections.
    void accept(int fd, ListenerIndex listener, const SocketAddress& remote, const SocketAddress& local);
    /// Looks for silent connections from now on; before the loops start.
    void startReaping();
    void closeAll(net::EventLoop& loop, std::string_view reason) noexcept;
    /// Called by a connection, once.
    void ended(ServerConnection& connection, std::string_view reason) noexcept;

    void addListener(plugin::PeerListener& listener);
    void removeListener(plugin::PeerListener& listener) noexcept;

    [[nodiscard]] std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
    /// Bytes that all sockets together have not taken yet.
    [[nodiscard]] std::size_t unsent() const noexcept { return shared_.outboundNow.load(std::memory_order_relaxed); }

    // For its connections.
    [[nodiscard]] std::uint64_t nextId() noexcept { return nextId_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] std::int32_t nextOpaque() noexcept { return nextOpaque_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] net::ConnectionLimits& shared() noexcept { return shared_; }
    [[nodiscard]] const ServerLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] const ServerContext& context() const noexcept { return context_; }
    [[nodiscard]] Dispatcher& dispatcher() noexcept { return dispatcher_; }
    [[nodiscard]] std::string_view listenerName(ListenerIndex index) const noexcept { return listenerNames_[index]; }

private:
    void reap(net::EventLoop& loop);

    const ServerLimits& limits_;
    const ServerContext& context_;
    net::EventLoopPool& loops_;
    Dispatcher& dispatcher_;
    const std::vector<std::string>& listenerNames_;
    net::ConnectionLimits shared_;
    plugin::Counter& accepted_;
    plugin::Counter& refused_;

    std::atomic<std::size_t> count_{0};
    std::atomic<std::uint64_t> nextId_{1};
    std::atomic<std::int32_t> nextOpaque_{1};    // for requests that came without one
    std::atomic<std::uint32_t> nextLoop_{0};

    // Recursive: a listener may remove itself while it is called, and nobody is removed while being called by another thread.
    std::recursive_mutex mutex_;
    std::vector<plugin::PeerListener*> listeners_;          // guarded by mutex_

    std::vector<std::vector<ServerConnection*>> open_;       // by loop, each for its loop's thread; holds a reference
};

}  // namespace patchbay::kernel
