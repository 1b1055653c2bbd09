#include "server/Server.h"

#include "server/Acceptor.h"
#include "server/ConnectionRegistry.h"
#include "server/OutboundConnections.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace patchbay::kernel {

namespace {

net::LoopOptions loopOptions(const ServerLimits& limits) {
    net::LoopOptions options;
    options.chunkBytes = limits.receiveChunk;
    return options;
}

}  // namespace

Server::Server(const ServerLimits& limits, ServerContext context)
    : limits_(limits), context_(std::move(context)),
      loops_(limits.ioThreads == 0 ? net::defaultLoopCount() : limits.ioThreads, context_.clock, loopOptions(limits)),
      executors_(loops_.size(), limits.executorThreadsMax, context_.clock, limits.executorQueueBytesMax),
      dispatcher_(loops_, executors_, context_.clock, context_.log, context_.metrics),
      registry_(std::make_unique<ConnectionRegistry>(limits_, context_, loops_, dispatcher_, names_)),
      outbound_(std::make_unique<OutboundConnections>(loops_.loop(0), limits_, context_)) {
    dispatcher_.nameListeners(names_);
    dispatcher_.limit({limits.holdRequestsMax, limits.holdBytesMax, limits.hold}, {limits.heldBackMax, limits.heldBackBytesMax}, limits.slowCall);
}

Server::~Server() {
    closeListeners();
    closeConnections();
    stop();
}

Result<std::uint16_t> Server::bind(const ListenerOptions& options) {
    auto acceptor = Acceptor::bind(options.host, options.port, static_cast<ListenerIndex>(acceptors_.size()), limits_, *registry_);
    if (!acceptor) return acceptor.error();
    names_.push_back(options.name);
    acceptors_.push_back(std::move(*acceptor));
    return acceptors_.back()->port();
}

void Server::start() {
    registry_->startReaping();
    loops_.loop(0).post([this] { outbound_->startReaping(); });
    loops_.start();
    started_ = true;
}

Status Server::listen() {
    for (auto& acceptor : acceptors_) {
        if (auto status = acceptor->listen(); !status) return status;
    }
    return Status::ok();
}

void Server::accept(int fd, ListenerIndex listener, const SocketAddress& remote, const SocketAddress& local) {
    registry_->accept(fd, listener, remote, local);
}

void Server::closeListeners() noexcept {
    for (auto& acceptor : acceptors_) acceptor->stop();
}

bool Server::flush(std::chrono::milliseconds deadline) noexcept {
    if (!started_ || stopped_) return true;
    const auto end = context_.clock.now() + deadline;
    std::mutex pause;
    std::condition_variable never;
    while (true) {
        const bool quiet = dispatcher_.active() == 0;
        // The first may run in the turn that gave the last answer, before it is written; the second comes after that turn.
        loops_.onEach([](net::EventLoop&) {});
        loops_.onEach([](net::EventLoop&) {});
        if (quiet && registry_->unsent() == 0) return true;
        if (context_.clock.now() >= end) return false;
        // Nobody says when the last answer is on its way: this happens once in the life of a process.
        std::unique_lock lock(pause);
        context_.clock.wait(never, lock, context_.clock.now() + std::chrono::milliseconds(1));
    }
}

void Server::closeConnections() noexcept {
    if (!started_ || stopped_) return;
    loops_.onEach([this](net::EventLoop& loop) {
        registry_->closeAll(loop, "the broker is stopping");
        if (loop.index() == 0) outbound_->closeAll();
    });
}

void Server::stop() noexcept {
    if (std::exchange(stopped_, true)) return;
    executors_.stop();
    loops_.stop();
}

plugin::RemotingInvoker& Server::remoting() noexcept { return *outbound_; }

std::size_t Server::connectionCount() const noexcept { return registry_->count(); }

void Server::addPeerListener(plugin::PeerListener& listener) { registry_->addListener(listener); }

void Server::removePeerListener(plugin::PeerListener& listener) noexcept { registry_->removeListener(listener); }

}  // namespace patchbay::kernel
