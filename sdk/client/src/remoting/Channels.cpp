#include "remoting/Channels.h"

#include "patchbay/net/Tcp.h"

#include <algorithm>
#include <utility>

namespace patchbay::client {

namespace {

constexpr std::chrono::milliseconds kBackoffMin{100};
constexpr std::chrono::milliseconds kBackoffMax{5000};
// Answers to pulls with large messages are larger than the frames that servers accept.
constexpr std::size_t kAnswerBytesMax = 256U << 20;

}  // namespace

Channels::Channels(Runtime& runtime, std::unique_ptr<Dialer> dialer, std::chrono::milliseconds connectTimeout,
                   ChannelListener& listener)
    : runtime_(runtime), dialer_(std::move(dialer)), connectTimeout_(connectTimeout), listener_(listener) {
    limits_.frameBytesMax = kAnswerBytesMax;
    // The producer's own limits of messages in flight, one-way ones too, bound what waits here; answers have to be read all the same.
    limits_.outboundHigh = SIZE_MAX;
    limits_.outboundTotalMax = SIZE_MAX;
}

void Channels::closeAll() {
    closing_ = true;
    for (const auto& [address, channel] : std::exchange(channels_, {})) retired_.push_back(channel);
    for (const auto& channel : std::exchange(retired_, {})) {
        channel->orphan();
        channel->fail({StatusCode::Cancelled, "the client was closed"});
    }
}

void Channels::send(const std::string& address, Frame frame, MonotonicTime deadline, CallPtr call) {
    auto channel = channelTo(address);
    if (!channel) return failCall(std::move(call), channel.error());
    (*channel)->send(std::move(frame), deadline, std::move(call));
}

void Channels::sendOneway(const std::string& address, Frame frame, std::shared_ptr<void> place) {
    if (auto channel = channelTo(address)) (*channel)->sendOneway(std::move(frame), std::move(place));
}

bool Channels::isConnected(const std::string& address) const {
    const auto found = channels_.find(address);
    return found != channels_.end() && found->second->isConnected();
}

Result<Ref<Channel>> Channels::channelTo(const std::string& address) {
    if (closing_) return Status(StatusCode::Cancelled, "the client was closed");
    if (const auto found = channels_.find(address); found != channels_.end()) return found->second;
    if (const auto found = backoff_.find(address); found != backoff_.end()) {
        const auto left = found->second.until - runtime_.clock().now();
        if (left.count() > 0) {
            const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
            return Status(StatusCode::Unavailable, found->second.why + "; tried again in " + std::to_string(ms) + " ms");
        }
    }
    auto channel = Ref<Channel>::adopt(new Channel(*this, runtime_.loop(), limits_, address));
    channels_.emplace(address, channel);
    begin(channel);
    return channel;
}

// In a task of its own, so that a failure finds the call that needed the channel.
void Channels::begin(const Ref<Channel>& channel) {
    auto& loop = runtime_.loop();
    if (const auto address = SocketAddress::parse(channel->address())) {
        loop.post([channel, to = *address] { channel->connectTo(to); });
    } else {
        runtime_.resolver().post([&loop, channel] {
            loop.post([channel, to = net::lookUp(channel->address())] {
                if (to) channel->connectTo(*to);
                else channel->fail(to.error());
            });
        });
    }
    loop.after(connectTimeout_, [channel] {
        if (!channel->isConnected()) channel->fail({StatusCode::Unavailable, channel->address() + ": " + channel->missing()});
    });
}

void Channels::connected(Channel& channel) {
    backoff_.erase(channel.address());
    listener_.connected(channel.address());
}

void Channels::ended(Channel& channel, bool refused, std::string_view why) {
    const auto found = channels_.find(channel.address());
    if (found == channels_.end() || found->second.get() != &channel) {
        std::erase_if(retired_, [&](const auto& one) { return one.get() == &channel; });
        return;
    }
    auto keep = std::move(found->second);
    channels_.erase(found);
    if (channel.isRetired()) retired_.push_back(std::move(keep));
    if (refused) {
        auto& backoff = backoff_[channel.address()];
        backoff.wait = std::clamp(backoff.wait * 2, kBackoffMin, kBackoffMax);
        backoff.until = runtime_.clock().now() + backoff.wait;
        backoff.why = why;
    }
    listener_.disconnected(channel.address(), why);
}

void Channels::closeExcept(const std::function<bool(const std::string&)>& wanted) {
    std::vector<Ref<Channel>> unwanted;
    for (const auto& [address, channel] : channels_) {
        if (!wanted(address) && channel->idle()) unwanted.push_back(channel);
    }
    for (const auto& channel : unwanted) channel->fail({StatusCode::Cancelled, "not needed any more"});
    std::erase_if(backoff_, [&](const auto& entry) { return !wanted(entry.first) && entry.second.until < runtime_.clock().now(); });
}

}  // namespace patchbay::client
