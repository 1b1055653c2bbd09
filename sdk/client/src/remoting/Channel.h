// Channel: one connection to one server, with the questions that wait for its answers.
#pragma once

#include "patchbay/base/SocketAddress.h"
#include "patchbay/net/Connection.h"
#include "remoting/Call.h"
#include "remoting/FrameBuilder.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace patchbay::client {

class Channels;

/// Loop thread only. What is sent before it is connected waits here. Every call ends: answered, at its deadline, or with the channel.
/// It ends once and is not opened again. After a go-away it takes no new calls (retired) and closes when the last one has ended.
class Channel final : public RefCounted, public net::Connection {
public:
    Channel(Channels& owner, net::EventLoop& loop, net::ConnectionLimits& limits, std::string address);

    void send(Frame frame, MonotonicTime deadline, CallPtr call);
    /// `place` is let go when the socket has taken the frame, or the frame is lost.
    void sendOneway(Frame frame, std::shared_ptr<void> place);
    /// Answers a request of the server. Silently dropped when the channel has ended.
    void reply(const protocol::RemotingCommand& answer, protocol::SerializeType type);
    void connectTo(const SocketAddress& address);
    /// Ends it, whether it was open yet or not; all its calls fail with `why`.
    void fail(const Status& why) noexcept;
    void retire();
    /// Calls no owner any more; it is being destroyed.
    void orphan() noexcept { owner_ = nullptr; }

    [[nodiscard]] const std::string& address() const noexcept { return address_; }
    [[nodiscard]] bool idle() const noexcept { return pending_.empty(); }
    [[nodiscard]] bool isRetired() const noexcept { return retired_ && !ended_; }
    /// And its transport is ready: what is sent is under way, and not waiting for a handshake.
    [[nodiscard]] bool isConnected() const noexcept { return ready_ && isOpen(); }
    /// While it is not: what is missing.
    [[nodiscard]] std::string missing() const;

private:
    struct Pending {
        CallPtr call;
        MonotonicTime deadline;
    };
    struct Unsent {
        Frame frame;
        std::shared_ptr<void> place;
    };
    struct Unflushed {
        std::uint64_t end;  // of written_
        std::shared_ptr<void> place;
    };
    // Below this a frame is copied into the connection's buffer; a larger one is sent from where it is.
    static constexpr std::size_t kCopyMax = 8U << 10;

    KeepAlive self() noexcept override { return KeepAlive(Ref<Channel>::share(this)); }
    bool received(std::span<char> frame, net::ReceiveChunk& chunk) noexcept override;
    std::int64_t preface(std::string_view) noexcept override { return 0; }
    void connected() noexcept override;
    void undecodable(const Status& why) noexcept override;
    void closed(std::string_view reason) noexcept override;
    void flush() noexcept override;
    void write(Frame frame, std::shared_ptr<void> place = {});
    void answered(const protocol::CommandView& answer);
    void expireAt(MonotonicTime deadline);
    void expire();
    void closeIfDone();
    void noteReady() noexcept;

    Channels* owner_;
    const std::string address_;
    std::unordered_map<std::int32_t, Pending> pending_;
    std::vector<Unsent> unsent_;
    std::deque<Unflushed> unflushed_;
    std::uint64_t written_ = 0;  // bytes, from the beginning
    MonotonicTime nextExpiry_ = MonotonicTime::max();
    net::TimerWheel::Id expiryTimer_ = 0;
    bool connected_ = false;  // frames may be written
    bool ready_ = false;      // they reach the server
    bool retired_ = false;
    bool ended_ = false;
};

}  // namespace patchbay::client
