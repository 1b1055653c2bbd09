#include "remoting/Channel.h"

#include "remoting/Channels.h"

#include <algorithm>
#include <utility>

namespace patchbay::client {

namespace {

// Two expiries are at least this far apart, so that looking through all pending calls stays cheap.
constexpr std::chrono::milliseconds kExpiryStep{10};

class OwnedFrame final : public RefCounted {
public:
    explicit OwnedFrame(protocol::ByteWriter frame) : bytes(std::move(frame)) {}
    const protocol::ByteWriter bytes;
};

}  // namespace

Channel::Channel(Channels& owner, net::EventLoop& loop, net::ConnectionLimits& limits, std::string address)
    : net::Connection(loop, limits), owner_(&owner), address_(std::move(address)) {}

void Channel::send(Frame frame, MonotonicTime deadline, CallPtr call) {
    if (ended_) return failCall(std::move(call), {StatusCode::Unavailable, address_ + ": connection ended"});
    pending_.insert_or_assign(frame.opaque, Pending{std::move(call), deadline});
    expireAt(deadline);
    write(std::move(frame));
}

void Channel::sendOneway(Frame frame, std::shared_ptr<void> place) {
    if (!ended_) write(std::move(frame), std::move(place));
}

void Channel::reply(const protocol::RemotingCommand& answer, protocol::SerializeType type) {
    if (ended_) return;
    auto frame = answer.encode(type);
    if (!frame) return;
    writer().append(*frame);
    written_ += frame->size();
    wrote();
}

void Channel::write(Frame frame, std::shared_ptr<void> place) {
    if (!connected_) {
        unsent_.push_back({std::move(frame), std::move(place)});
        return;
    }
    written_ += frame.bytes.size();
    if (place) unflushed_.push_back({written_, std::move(place)});
    if (frame.bytes.size() <= kCopyMax) {
        writer().append(frame.bytes.view());
    } else {
        auto owned = Ref<OwnedFrame>::adopt(new OwnedFrame(std::move(frame.bytes)));
        const auto view = owned->bytes.view();
        addPiece(view, KeepAlive(std::move(owned)));
    }
    wrote();
}

// What the socket has not taken is behind all that it has.
void Channel::flush() noexcept {
    net::Connection::flush();
    const auto taken = written_ - backlog();
    while (!unflushed_.empty() && unflushed_.front().end <= taken) unflushed_.pop_front();
    noteReady();
}

void Channel::connectTo(const SocketAddress& address) {
    if (ended_ || owner_ == nullptr) return;
    auto transport = owner_->dialer().dial(address, address_);
    if (!transport) return fail({transport.error().code(), address_ + ": " + transport.error().message()});
    open(std::move(*transport), true);
}

void Channel::connected() noexcept {
    connected_ = true;
    for (auto& unsent : std::exchange(unsent_, {})) write(std::move(unsent.frame), std::move(unsent.place));
    noteReady();
}

// A handshake goes on with what is sent, so it ends in a flush.
void Channel::noteReady() noexcept {
    if (ready_ || !established()) return;
    ready_ = true;
    if (owner_ != nullptr) owner_->connected(*this);
}

std::string Channel::missing() const {
    return connected_ ? "no end of the handshake in time; check that the server talks TLS, as this client does"
                      : "no connection in time; check that the server runs and can be reached";
}

bool Channel::received(std::span<char> frame, net::ReceiveChunk&) noexcept {
    protocol::CommandView command;
    if (const auto status = protocol::CommandView::decode(frame, command); !status) {
        undecodable(status);
        return false;
    }
    if (command.isResponse()) answered(command);
    else if (owner_ != nullptr) owner_->serverRequest(*this, command);
    return isOpen();
}

void Channel::answered(const protocol::CommandView& answer) {
    auto node = pending_.extract(answer.opaque);
    if (node.empty()) return;  // it came after its deadline
    if (answer.code == static_cast<std::int32_t>(protocol::ResponseCode::GoAway)) retire();
    auto call = std::move(node.mapped().call);
    answerCall(std::move(call), answer);
    closeIfDone();
}

void Channel::retire() {
    if (std::exchange(retired_, true)) return;
    if (owner_ != nullptr) owner_->ended(*this, false);
}

void Channel::closeIfDone() {
    if (retired_ && pending_.empty() && !ended_) fail({StatusCode::Unavailable, address_ + ": the server asked to reconnect"});
}

// One timer for all calls: it is set to the nearest deadline that it knows, and looks again then.
void Channel::expireAt(MonotonicTime deadline) {
    if (deadline >= nextExpiry_) return;
    nextExpiry_ = deadline;
    loop().cancel(expiryTimer_);
    const auto wait = std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - loop().clock().now()), std::chrono::milliseconds(1));
    expiryTimer_ = loop().after(wait, [this, keep = self()] { expire(); });
}

void Channel::expire() {
    const auto now = loop().now();
    std::vector<CallPtr> late;
    auto next = MonotonicTime::max();
    for (auto one = pending_.begin(); one != pending_.end();) {
        if (one->second.deadline <= now) {
            late.push_back(std::move(one->second.call));
            one = pending_.erase(one);
        } else {
            next = std::min(next, one->second.deadline);
            ++one;
        }
    }
    nextExpiry_ = MonotonicTime::max();
    if (next != MonotonicTime::max()) expireAt(std::max(next, now + kExpiryStep));
    const Status why(StatusCode::DeadlineExceeded,
                     ready_ ? address_ + ": no answer in time; the request may still have been carried out" : address_ + ": " + missing());
    for (auto& call : late) failCall(std::move(call), why);
    closeIfDone();
}

void Channel::undecodable(const Status& why) noexcept {
    fail({StatusCode::Corrupt, address_ + ": sends what is no frame of this protocol: " + why.message()});
}

void Channel::fail(const Status& why) noexcept {
    if (std::exchange(ended_, true)) return;
    const auto keep = self();
    loop().cancel(expiryTimer_);
    unsent_.clear();
    unflushed_.clear();
    if (owner_ != nullptr) owner_->ended(*this, !ready_, why.message());
    auto pending = std::exchange(pending_, {});
    for (auto& [opaque, waiting] : pending) waiting.call->failed(std::move(waiting.call), why);
    close(why.message());
}

void Channel::closed(std::string_view reason) noexcept {
    fail({StatusCode::Unavailable, address_ + ": " + std::string(reason)});
}

}  // namespace patchbay::client
