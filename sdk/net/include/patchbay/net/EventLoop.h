// EventLoop: one thread, the descriptors it watches, its timers and the tasks sent to it.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/Slice.h"
#include "patchbay/net/OutboundQueue.h"
#include "patchbay/net/Poller.h"
#include "patchbay/net/ReceiveBuffer.h"
#include "patchbay/net/TimerWheel.h"
#include "patchbay/net/UnfinishedFrames.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::net {

/// Something to be run on a loop; posting it allocates nothing. It belongs to the loop from post() until run() or
/// discard() is called, one of them, once.
class LoopTask {
public:
    virtual void run() noexcept = 0;
    /// Instead of run() when the loop will never turn again: frees what the task owns. On the thread that ends the loop.
    virtual void discard() noexcept = 0;

protected:
    virtual ~LoopTask() = default;

private:
    friend class EventLoop;
    LoopTask* next_ = nullptr;
};

/// Told at the end of each turn, before connections are flushed: the place to finish what a batch of frames shares.
class TurnListener {
public:
    /// True when it wants the next turn at once, without waiting for descriptors.
    virtual bool endOfTurn() noexcept = 0;

protected:
    ~TurnListener() = default;
};

/// Has output to send at the end of a turn.
class Flushable {
public:
    virtual void flush() noexcept = 0;

protected:
    virtual ~Flushable() = default;

private:
    friend class EventLoop;
    bool marked_ = false;
};

struct LoopOptions {
    std::size_t chunkBytes = 256U << 10;
    /// After this many received bytes a turn ends, even when more connections are ready.
    std::size_t turnBytes = 1U << 20;
};

/// A turn: wait for descriptors, let them read and dispatch, run posted tasks and due timers, tell the turn listeners, then
/// flush every connection that has output. So everything that one turn answers leaves in one write per connection.
/// Everything is called on the loop's thread unless it says "any thread". Owned by whoever runs it; outlives its connections.
/// Tasks still queued at stop are run by the last turn; those posted after run() returned are
/// discarded with the loop.
class EventLoop {
public:
    EventLoop(std::uint32_t index, const Clock& clock, const LoopOptions& options, std::unique_ptr<Poller> poller);
    ~EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    /// Turns until stop(). The calling thread is the loop's thread from here on.
    void run();
    /// One turn that waits at most `timeoutMs`; for loops that a test or a simulation drives.
    void turn(int timeoutMs);
    /// Any thread; the current turn is finished.
    void stop() noexcept;

    [[nodiscard]] bool inLoop() const noexcept { return current() == this; }
    /// The loop whose thread this is, or null. Any thread.
    [[nodiscard]] static EventLoop* current() noexcept;

    /// Any thread. In the order of posting per thread; one wake-up for all that is posted until the loop has looked.
    void post(LoopTask& task) noexcept;
    void post(std::function<void()> task);

    TimerWheel::Id after(std::chrono::milliseconds delay, TimerWheel::Callback callback);
    void cancel(TimerWheel::Id id) noexcept { timers_.cancel(id); }

    void addTurnListener(TurnListener& listener) { listeners_.push_back(&listener); }
    /// Another turn follows this one without waiting, for work that came after the turn listeners were asked.
    void turnAgain() noexcept { again_ = true; }
    /// `who` is flushed at the end of this turn, once.
    void markForFlush(Flushable& who) { if (!who.marked_) { who.marked_ = true; toFlush_.push_back(&who); } }
    /// Keeps an object until no event of this turn can reach it any more.
    void releaseAfterTurn(KeepAlive object) { released_.push_back(std::move(object)); }
    /// Counts towards LoopOptions::turnBytes.
    void countReceived(std::size_t bytes) noexcept { received_ += bytes; }

    /// The time at which this turn began.
    [[nodiscard]] MonotonicTime now() const noexcept { return now_; }
    [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
    [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
    [[nodiscard]] Poller& poller() noexcept { return *poller_; }
    [[nodiscard]] ReceiveCursor& cursor() noexcept { return cursor_; }
    [[nodiscard]] OutputBuffers& buffers() noexcept { return buffers_; }
    [[nodiscard]] UnfinishedFrames& unfinished() noexcept { return unfinished_; }

private:
    [[nodiscard]] LoopTask* takePosted() noexcept;
    void runPosted() noexcept;
    void finishBatch() noexcept;
    [[nodiscard]] int waitMs(int timeoutMs) const noexcept;

    const std::uint32_t index_;
    const Clock& clock_;
    const LoopOptions options_;
    const std::unique_ptr<Poller> poller_;

    std::atomic<LoopTask*> posted_{nullptr};  // newest first
    std::atomic<bool> sleeping_{false};       // a poster has to wake the poller
    std::atomic<bool> stopping_{false};

    // Loop thread only.
    MonotonicTime now_;
    TimerWheel timers_;
    ReceiveCursor cursor_;
    OutputBuffers buffers_;
    UnfinishedFrames unfinished_;
    std::vector<TurnListener*> listeners_;
    std::vector<Flushable*> toFlush_;
    std::vector<Flushable*> flushing_;
    std::vector<KeepAlive> released_;
    std::size_t received_ = 0;
    bool again_ = false;
    std::array<ReadyEvent, 128> events_;
};

}  // namespace patchbay::net
