// Connection: one non-blocking stream of frames, in both directions, on one loop.
#pragma once

#include "patchbay/net/EventLoop.h"
#include "patchbay/net/FrameReader.h"
#include "patchbay/net/OutboundQueue.h"
#include "patchbay/net/Transport.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::net {

/// Limits that many connections share. All are read on loops; outboundNow and unfinishedNow are sums over all connections.
struct ConnectionLimits {
    std::size_t frameBytesMax = 16U << 20;
    std::size_t readBudget = 256U << 10;       ///< bytes per connection and turn
    std::size_t outboundHigh = 4U << 20;       ///< queued bytes at which a connection is no longer read, nor served what was read already
    std::size_t outboundLow = 1U << 20;        ///< queued bytes at which it is read again
    std::size_t outboundTotalMax = 256U << 20; ///< beyond this sum, no connection with queued bytes is read; looked at in steps of kNoteStep
    std::size_t unfinishedTotalMax = 256U << 20; ///< memory for frames that have not come whole; beyond this sum, those that began first are closed
    std::atomic<std::size_t> outboundNow{0};
    std::atomic<std::size_t> unfinishedNow{0};
};

/// Base of accepted and of outgoing connections; both are counted objects and keep themselves alive through self().
/// All functions are for the loop's thread, except those that say "any thread". A failure or the peer's end closes it:
/// closed() is called once, its output is dropped.
class Connection : private Pollable, private FrameSink, private FrameHolder, public Flushable {
public:
    Connection(EventLoop& loop, ConnectionLimits& limits) noexcept;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] EventLoop& loop() const noexcept { return loop_; }
    /// Starts watching. `connecting`: wait until the connect() under way has ended, then connected() is called.
    void open(std::unique_ptr<Transport> transport, bool connecting = false);
    /// Any thread; a snapshot.
    [[nodiscard]] bool isOpen() const noexcept { return open_.load(std::memory_order_acquire); }
    /// Connected, and what the transport agrees with the peer is agreed.
    [[nodiscard]] bool established() const noexcept { return isOpen() && !connecting_ && transport_->established(); }
    /// Any thread; a snapshot of the bytes that the socket has not taken, a step (kNoteStep) or a turn ago.
    [[nodiscard]] std::size_t backlog() const noexcept { return backlog_.load(std::memory_order_relaxed); }
    /// Any thread: so many bytes of output that was made elsewhere are on their way to the loop. They count like queued ones.
    void promise(std::size_t bytes) noexcept;
    /// They have been written (or the connection was closed meanwhile).
    void arrived(std::size_t bytes) noexcept;
    /// Any thread; a snapshot: nothing more should be made ready to be sent now. Never true of a connection with nothing to send.
    [[nodiscard]] bool isCrowded() const noexcept { return isOver(limits_.outboundHigh); }
    /// Any thread; the same: it has sent so much that more may be made ready. Whatever ends isCrowded() is followed by a flush().
    [[nodiscard]] bool hasRoom() const noexcept { return !isOver(limits_.outboundLow + 1); }
    /// Closes at once; what is queued is lost.
    void close(std::string_view reason) noexcept;
    /// Closes when what is queued has been sent; nothing is read any more.
    void closeAfterFlush(std::string_view reason) noexcept;

    /// The buffer to append a frame to. Follow with wrote().
    [[nodiscard]] protocol::ByteWriter& writer() { return outbound_.writer(loop_.buffers()); }
    void wrote() { outbound_.appended(); loop_.markForFlush(*this); }
    /// A part of a frame that stays where it is (see OutboundQueue). Follow with wrote().
    void addPiece(std::string_view bytes, KeepAlive keep) { outbound_.addPiece(loop_.buffers(), bytes, std::move(keep)); }
    void flush() noexcept override;

    /// Reading stops while any reason to pause exists.
    void pauseReading(bool pause) noexcept;
    /// The turn in which bytes last moved in either direction.
    [[nodiscard]] MonotonicTime lastActive() const noexcept { return lastActive_; }

protected:
    virtual ~Connection();
    /// A reference that keeps this object.
    virtual KeepAlive self() noexcept = 0;
    /// A whole frame without its length word, inside `chunk`. False after it closed the connection.
    virtual bool received(std::span<char> frame, ReceiveChunk& chunk) noexcept = 0;
    virtual void connected() noexcept {}
    /// The first bytes, whatever they are: answers how many to skip, or -1 for "more are needed". It may close.
    virtual std::int64_t preface(std::string_view bytes) noexcept = 0;
    /// The stream cannot be cut into frames any further, or (Busy) there is no memory for the rest of its frame: closes, and says
    /// so where it is heard.
    virtual void undecodable(const Status& why) noexcept = 0;
    /// Once. Not reachable by the loop any more when the turn has ended.
    virtual void closed(std::string_view reason) noexcept = 0;

private:
    /// What the queue grows by before the shared sum learns of it, so that most answers need not touch it.
    static constexpr std::size_t kNoteStep = 64U << 10;
    /// Less memory than this for an unfinished frame is not counted, so that streams of small messages touch no shared sum.
    static constexpr std::size_t kUnfinishedMin = 4U << 10;
    enum Pause : std::uint8_t { kByOwner = 1, kByBacklog = 2, kClosing = 4 };

    void ready(std::uint32_t readiness) noexcept override;
    Then frame(std::span<char> bytes, ReceiveChunk& chunk) noexcept override;
    void giveUp() noexcept override;
    void read() noexcept;
    void readBudget();
    /// False when the connection was closed over it.
    bool handOut() noexcept;
    void resumeSoon() noexcept;
    bool passPreface() noexcept;
    void finishConnect() noexcept;
    [[nodiscard]] bool isOver(std::size_t mark) const noexcept;
    void setInterest() noexcept;
    void noteBacklog(std::size_t bytes) noexcept;
    void noteUnfinished(std::size_t bytes) noexcept;
    void setPause(Pause why, bool on) noexcept;

    EventLoop& loop_;
    ConnectionLimits& limits_;
    std::atomic<bool> open_{false};
    std::atomic<std::size_t> backlog_{0};
    std::atomic<std::size_t> promised_{0};  // in the shared sum too

    // Loop thread only.
    std::unique_ptr<Transport> transport_;
    FrameReader reader_;
    OutboundQueue outbound_;
    MonotonicTime lastActive_{};
    std::size_t unfinished_ = 0;  // what noteUnfinished() has counted; in the loop's list while it is not 0
    std::uint32_t interest_ = 0;
    std::uint8_t paused_ = 0;
    bool prefaceDone_ = false;
    bool connecting_ = false;
    bool resuming_ = false;      // a task that goes on with held frames is on its way
    bool unread_ = false;        // the transport has bytes that the poller does not see
    std::string closeReason_;
};

}  // namespace patchbay::net
