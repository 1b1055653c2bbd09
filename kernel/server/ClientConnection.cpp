#include "server/ClientConnection.h"

#include "patchbay/net/Tcp.h"
#include "server/OutboundConnections.h"

#include <utility>

namespace patchbay::kernel {

namespace {

constexpr std::chrono::seconds kConnectTime{3};

}  // namespace

ClientConnection::ClientConnection(OutboundConnections& owner, net::EventLoop& loop, net::ConnectionLimits& limits,
                                   std::string hostPort)
    : net::Connection(loop, limits), owner_(owner), hostPort_(std::move(hostPort)), calls_(loop, owner.context().post) {}

void ClientConnection::call(protocol::RemotingCommand& command, std::chrono::milliseconds timeout, plugin::InvokeDone done) {
    command.flag &= protocol::kFlagOneway;
    command.opaque = static_cast<std::int32_t>(nextOpaque_++);
    const auto frame = command.encode(protocol::SerializeType::Json);
    if (!frame) return PendingCalls::refuse(owner_.context().post, std::move(done), frame.error());
    if (command.isOneway()) {
        owner_.context().post([done = std::move(done)]() mutable { done(protocol::RemotingCommand()); });
    } else {
        calls_.add(command.opaque, timeout, std::move(done));
    }
    if (!connected_) {
        unsent_.push_back({command.opaque, command.isOneway(), *frame});
        return;
    }
    writer().append(*frame);
    wrote();
}

void ClientConnection::connectTo(const SocketAddress& address) {
    if (ended_) return;
    auto transport = net::startConnect(address);
    if (!transport) return fail({transport.error().code(), hostPort_ + ": " + transport.error().message()});
    // Also when it succeeded at once: the poller will say so.
    open(std::move(*transport), true);
    loop().after(kConnectTime, [me = Ref<ClientConnection>::share(this)] {
        if (!me->connected_) me->fail({StatusCode::Unavailable, "connect to " + me->hostPort_ + ": not within 3 s"});
    });
}

void ClientConnection::connected() noexcept {
    connected_ = true;
    for (const Unsent& one : std::exchange(unsent_, {})) {
        // Who asked was told meanwhile that there is no answer, and may ask again.
        if (one.oneway || calls_.waitsFor(one.opaque)) writer().append(one.frame);
    }
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
