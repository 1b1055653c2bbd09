#include "server/ServerConnection.h"

#include "dispatch/LaneContext.h"
#include "patchbay/net/Preface.h"
#include "server/ConnectionRegistry.h"

#include <exception>
#include <utility>

namespace patchbay::kernel {

using plugin::LogLevel;

namespace {

bool sameMachine(const SocketAddress& remote, const SocketAddress& local) noexcept {
    return remote.isLoopback() || remote.sameHost(local);
}

}  // namespace

ServerConnection::ServerConnection(ConnectionRegistry& registry, net::EventLoop& loop, ListenerIndex listener,
                                   SocketAddress remote, SocketAddress local)
    : RequestOrigin(loop, listener), net::Connection(loop, registry.shared()), registry_(registry), id_(registry.nextId()),
      local_(local), remote_(remote), fromHere_(sameMachine(remote, local)) {}

std::string_view ServerConnection::listener() const noexcept { return registry_.listenerName(listenerIndex); }

KeepAlive ServerConnection::self() noexcept { return KeepAlive(Ref<ServerConnection>::share(this)); }

std::int64_t ServerConnection::preface(std::string_view bytes) noexcept {
    const auto preface = net::readPreface(bytes);
    switch (preface.kind) {
        case net::Preface::Kind::NeedMore: return -1;
        case net::Preface::Kind::Frames: return 0;
        case net::Preface::Kind::Proxy:
            if (preface.source) {
                remote_ = *preface.source;
                fromHere_ = fromHere_ && sameMachine(remote_, local_);
            }
            return static_cast<std::int64_t>(preface.bytes);
        default: undecodable({StatusCode::Corrupt, std::string(net::guessCause(preface.kind))}); return -1;
    }
}

bool ServerConnection::received(std::span<char> frame, net::ReceiveChunk& chunk) noexcept {
    auto& dispatcher = registry_.dispatcher();
    auto& request = dispatcher.fresh(*this, chunk);
    if (const auto status = protocol::CommandView::decode(frame, request.view); !status) [[unlikely]] {
        dispatcher.drop(request);
        undecodable(status);
        return false;
    }
    auto& command = request.view;
    const bool binary = command.serializeType == protocol::SerializeType::Binary;
    if (binary != binary_.load(std::memory_order_relaxed)) binary_.store(binary, std::memory_order_relaxed);
    if (command.isResponse()) {
        if (calls_) calls_->answered(command);
        dispatcher.drop(request);
        return true;
    }
    if (!command.hasOpaque) command.opaque = registry_.nextOpaque();
    if (inFlight_.fetch_add(1, std::memory_order_seq_cst) >= registry_.limits().inFlightMax) throttle();
    dispatcher.enter(request);
    return isOpen();
}

void ServerConnection::throttle() noexcept {
    if (throttled_.exchange(true, std::memory_order_seq_cst)) return;
    pauseReading(true);
    // They may all have left before the flag was up.
    if (inFlight_.load(std::memory_order_seq_cst) <= registry_.limits().inFlightMax / 2) {
        throttled_.store(false, std::memory_order_seq_cst);
        pauseReading(false);
    }
}

void ServerConnection::requestLeft() noexcept {
    const auto left = inFlight_.fetch_sub(1, std::memory_order_seq_cst) - 1;
    if (!throttled_.load(std::memory_order_seq_cst) || left > registry_.limits().inFlightMax / 2) return;
    if (!throttled_.exchange(false, std::memory_order_seq_cst)) return;
    if (loop().inLoop()) return pauseReading(false);
    // By the time it runs there may be too many again.
    loop().post([me = Ref<ServerConnection>::share(this)] {
        if (!me->throttled_.load(std::memory_order_seq_cst)) me->pauseReading(false);
    });
}

void ServerConnection::holdBack(ServerRequest& request) noexcept {
    heldBack_.add(request);
    loop().markForFlush(*this);  // there may be room by now
}

void ServerConnection::releasedLeft() noexcept {
    if (!loop().inLoop()) return loop().post([me = Ref<ServerConnection>::share(this)] { me->releasedLeft(); });
    --released_;
    if (!heldBack_.empty()) loop().markForFlush(*this);
}

void ServerConnection::flush() noexcept {
    net::Connection::flush();
    if (!heldBack_.empty()) [[unlikely]] releaseSome();
}

// A few at a time, because those that find it crowded again come back. When there is no room something is on its way to be sent,
// and when enough are released they leave: a flush follows both.
void ServerConnection::releaseSome() noexcept {
    while (!heldBack_.empty() && released_ < kReleasedMax && hasRoom()) {
        ++released_;
        registry_.dispatcher().release(heldBack_.takeFirst());
    }
}

void ServerConnection::undecodable(const Status& why) noexcept {
    const bool crowded = why.code() == StatusCode::Busy;
    registry_.context().log.limited(
        LogLevel::Warn, crowded ? "connection closed: too much unfinished input (serverUnfinishedTotalMax)" : "connection closed: undecodable input",
        {{"peer", remote_.toString()}, {"listener", listener()}, {"cause", why.message()}});
    net::Connection::close(crowded ? "too much unfinished input" : "undecodable input");
}

void ServerConnection::closed(std::string_view reason) noexcept {
    if (calls_) calls_->failAll({StatusCode::Cancelled, "the connection to " + remote_.toString() + " was closed"});
    while (!heldBack_.empty()) registry_.dispatcher().forget(heldBack_.takeFirst());
    registry_.ended(*this, reason);
}

void ServerConnection::close(std::string_view reason) noexcept {
    if (loop().inLoop()) return closeAfterFlush(reason);
    loop().post([me = Ref<ServerConnection>::share(this), text = std::string(reason)] { me->closeAfterFlush(text); });
}

Result<std::string> ServerConnection::encodeRequest(protocol::RemotingCommand& command, std::int32_t flag) {
    command.flag = flag;
    command.opaque = nextOpaque_.fetch_add(1, std::memory_order_relaxed);
    const bool binary = binary_.load(std::memory_order_relaxed);
    return command.encode(binary ? protocol::SerializeType::Binary : protocol::SerializeType::Json);
}

Status ServerConnection::crowded() const { return {StatusCode::Busy, "the send buffer of " + remote_.toString() + " is over its limit"}; }

void ServerConnection::send(std::string frame) {
    if (!isOpen()) return;
    auto slice = Slice::own(std::move(frame));
    addPiece(slice.bytes, std::move(slice.keep));
    wrote();
}

Status ServerConnection::push(protocol::RemotingCommand command) noexcept {
    if (!isOpen()) return {StatusCode::Unavailable, "the connection to " + remote_.toString() + " is closed"};
    if (backlog() >= registry_.limits().outboundHigh) {
        return crowded();
    }
    auto frame = encodeRequest(command, protocol::kFlagOneway);
    if (!frame) return frame.error();
    if (loop().inLoop()) {
        send(std::move(*frame));
    } else {
        loop().post([me = Ref<ServerConnection>::share(this), text = std::move(*frame)]() mutable { me->send(std::move(text)); });
    }
    return Status::ok();
}

namespace {

/// A callback given from within a processor belongs to that plugin, which must not end before it: not while it waits, nor while it
/// runs, nor while what it captured is destroyed.
plugin::InvokeDone withLease(plugin::InvokeDone done) {
    const auto* const lane = LaneContext::current();
    if (lane == nullptr || lane->caller == nullptr) return done;
    struct Leased {
        Ref<Generation> generation;  // destroyed after `done`
        plugin::InvokeDone done;
        void operator()(Result<protocol::RemotingCommand> result) const { done(std::move(result)); }
    };
    return Leased{Ref<Generation>::share(lane->caller), std::move(done)};
}

}  // namespace

void ServerConnection::invoke(protocol::RemotingCommand command, std::chrono::milliseconds timeout,
                              plugin::InvokeDone done) noexcept {
    const auto& post = registry_.context().post;
    done = withLease(std::move(done));
    if (isOpen() && backlog() >= registry_.limits().outboundHigh) return PendingCalls::refuse(post, std::move(done), crowded());
    auto frame = encodeRequest(command, 0);
    if (!frame) return PendingCalls::refuse(post, std::move(done), frame.error());
    auto start = [me = Ref<ServerConnection>::share(this), text = std::move(*frame), opaque = command.opaque, timeout,
                  then = std::move(done)]() mutable {
        if (!me->isOpen()) {
            return PendingCalls::refuse(me->registry_.context().post, std::move(then),
                                        {StatusCode::Cancelled, "the connection is closed"});
        }
        if (!me->calls_) me->calls_ = std::make_unique<PendingCalls>(me->loop(), me->registry_.context().post);
        me->calls_->add(opaque, timeout, std::move(then));
        me->send(std::move(text));
    };
    if (loop().inLoop()) start();
    else loop().post(std::move(start));
}

}  // namespace patchbay::kernel
