#include "server/ConnectionRegistry.h"

#include <algorithm>
#include <memory>
#include <unistd.h>
#include <utility>

namespace patchbay::kernel {

using plugin::LogLevel;

ConnectionRegistry::ConnectionRegistry(const ServerLimits& limits, const ServerContext& context, net::EventLoopPool& loops,
                                       Dispatcher& dispatcher, const std::vector<std::string>& listenerNames)
    : limits_(limits), context_(context), loops_(loops), dispatcher_(dispatcher), listenerNames_(listenerNames),
      accepted_(context.metrics.counter("patchbay_connections_accepted_total", "Connections accepted on all listeners.")),
      refused_(context.metrics.counter("patchbay_connections_refused_total", "Connections closed because there were too many.")),
      open_(loops.size()) {
    shared_.frameBytesMax = limits.frameBytesMax;
    shared_.readBudget = limits.readBudget;
    shared_.outboundHigh = limits.outboundHigh;
    shared_.outboundLow = limits.outboundLow;
    shared_.outboundTotalMax = limits.outboundTotalMax;
    shared_.unfinishedTotalMax = limits.unfinishedTotalMax;
}

void ConnectionRegistry::accept(int fd, ListenerIndex listener, const SocketAddress& remote, const SocketAddress& local) {
    auto transport = net::makePlainTransport(fd);
    if (count_.fetch_add(1, std::memory_order_relaxed) >= limits_.connectionsMax) {
        count_.fetch_sub(1, std::memory_order_relaxed);
        refused_.add();
        context_.log.limited(LogLevel::Warn, "connection refused: too many connections",
                             {{"peer", remote.toString()}, {"serverConnectionsMax", limits_.connectionsMax}});
        return;
    }
    accepted_.add();
    auto& loop = loops_.loop(nextLoop_.fetch_add(1, std::memory_order_relaxed) % loops_.size());
    auto connection = Ref<ServerConnection>::adopt(new ServerConnection(*this, loop, listener, remote, local));
    // A task that can be copied cannot own a transport, and one that never runs must not lose it.
    auto handed = std::make_shared<std::unique_ptr<net::Transport>>(std::move(transport));
    loop.post([this, connection = std::move(connection), handed = std::move(handed)]() mutable {
        auto& open = open_[connection->originLoop.index()];
        connection->place = open.size();
        auto* const started = connection.release();
        open.push_back(started);
        started->open(std::move(*handed));
    });
}

void ConnectionRegistry::ended(ServerConnection& connection, std::string_view reason) noexcept {
    auto& open = open_[connection.originLoop.index()];
    open[connection.place] = open.back();
    open[connection.place]->place = connection.place;
    open.pop_back();
    count_.fetch_sub(1, std::memory_order_relaxed);
    if (context_.log.enabled(LogLevel::Debug)) {
        context_.log.debug("connection ended", {{"peer", connection.remote().toString()},
                                                {"listener", connection.listener()}, {"reason", reason}});
    }
    {
        const std::lock_guard lock(mutex_);
        const auto told = listeners_;
        for (auto* listener : told) {
            if (std::find(listeners_.begin(), listeners_.end(), listener) != listeners_.end()) listener->peerClosed(connection);
        }
    }
    connection.unref();  // the list's; the loop keeps it to the end of the turn
}

void ConnectionRegistry::closeAll(net::EventLoop& loop, std::string_view reason) noexcept {
    auto& open = open_[loop.index()];
    while (!open.empty()) open.back()->net::Connection::close(reason);
}

void ConnectionRegistry::startReaping() {
    for (std::uint32_t i = 0; i < loops_.size(); ++i) {
        loops_.loop(i).post([this, &loop = loops_.loop(i)] { reap(loop); });
    }
}

// One timer for a whole loop: a connection is closed within a twelfth of the limit after it.
void ConnectionRegistry::reap(net::EventLoop& loop) {
    const auto& open = open_[loop.index()];
    for (std::size_t i = open.size(); i-- > 0;) {
        if (i < open.size() && loop.now() - open[i]->lastActive() > limits_.idle) open[i]->net::Connection::close("idle");
    }
    loop.after(std::max(limits_.idle / 12, std::chrono::milliseconds(1)), [this, &loop] { reap(loop); });
}

void ConnectionRegistry::addListener(plugin::PeerListener& listener) {
    const std::lock_guard lock(mutex_);
    listeners_.push_back(&listener);
}

void ConnectionRegistry::removeListener(plugin::PeerListener& listener) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(listeners_, &listener);
}

}  // namespace patchbay::kernel
