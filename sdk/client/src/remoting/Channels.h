// Channels: one connection for each server address of a client.
#pragma once

#include "patchbay/net/Connection.h"
#include "remoting/Channel.h"
#include "remoting/Dialer.h"
#include "runtime/Runtime.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// What a client does when its connections bring news. Loop thread.
class ChannelListener {
public:
    virtual void connected(const std::string& address) = 0;
    virtual void disconnected(const std::string& address, std::string_view why) = 0;
    /// The view is valid during the call. Answer with channel.reply(), now or later.
    virtual void serverRequest(Channel& channel, const protocol::CommandView& request) = 0;

protected:
    ~ChannelListener() = default;
};

/// Connects when something is to be sent. After a failed attempt, calls to that address fail at once until its back-off (100 ms, doubled
/// to at most 5 s) has passed, so that callers can turn to another server. Loop thread only; destroyed there, which closes all.
class Channels {
public:
    Channels(Runtime& runtime, std::unique_ptr<Dialer> dialer, std::chrono::milliseconds connectTimeout, ChannelListener& listener);
    ~Channels() { closeAll(); }
    Channels(const Channels&) = delete;
    Channels& operator=(const Channels&) = delete;

    void send(const std::string& address, Frame frame, MonotonicTime deadline, CallPtr call);
    /// See Channel.
    void sendOneway(const std::string& address, Frame frame, std::shared_ptr<void> place = {});
    [[nodiscard]] bool isConnected(const std::string& address) const;
    /// Fails all calls with Cancelled, and later ones too: who is told so must not try again.
    void closeAll();
    /// Closes what nobody wants any more.
    void closeExcept(const std::function<bool(const std::string&)>& wanted);

    // For its channels.
    void connected(Channel& channel);
    /// `refused`: it never came to be.
    void ended(Channel& channel, bool refused, std::string_view why = {});
    void serverRequest(Channel& channel, const protocol::CommandView& request) { listener_.serverRequest(channel, request); }
    [[nodiscard]] Dialer& dialer() noexcept { return *dialer_; }

private:
    struct Backoff {
        std::chrono::milliseconds wait{0};
        MonotonicTime until;
        std::string why;
    };
    [[nodiscard]] Result<Ref<Channel>> channelTo(const std::string& address);
    void begin(const Ref<Channel>& channel);

    Runtime& runtime_;
    const std::unique_ptr<Dialer> dialer_;
    const std::chrono::milliseconds connectTimeout_;
    ChannelListener& listener_;
    net::ConnectionLimits limits_;
    std::map<std::string, Ref<Channel>, std::less<>> channels_;
    std::map<std::string, Backoff, std::less<>> backoff_;
    bool closing_ = false;
    std::vector<Ref<Channel>> retired_;  // waiting for their last answers
};

}  // namespace patchbay::client
