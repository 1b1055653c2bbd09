// QueueConsumer: pulls the messages of one queue.
#pragma once

#include "consumer/Inbox.h"
#include "patchbay/client/Message.h"
#include "patchbay/protocol/headers/PullMessage.h"
#include "remoting/Call.h"
#include "remoting/FrameBuilder.h"
#include "runtime/LoopTimer.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace patchbay::client {

class ConsumerCore;

/// One question is with the broker, or a timer waits for the next, or the inbox is full and is being emptied, or all is paused. Loop thread,
/// except isDropped(). Dropped once, for good; what is in work then is nobody's any more.
class QueueConsumer final : public std::enable_shared_from_this<QueueConsumer> {
public:
    QueueConsumer(ConsumerCore& core, MessageQueue queue, std::int64_t offset);

    void pull();
    void drop() noexcept;
    [[nodiscard]] bool isDropped() const noexcept { return dropped_.load(std::memory_order_acquire); }
    /// Messages were taken out of the inbox, or a pause ended.
    void drained();
    /// Begins anew there; what is here is forgotten.
    void seek(std::int64_t offset);

    [[nodiscard]] const MessageQueue& queue() const noexcept { return queue_; }
    [[nodiscard]] Inbox& inbox() noexcept { return inbox_; }
    [[nodiscard]] std::int64_t nextOffset() const noexcept { return next_; }
    [[nodiscard]] MonotonicTime lastPull() const noexcept { return lastPull_; }
    [[nodiscard]] MonotonicTime startedAt() const noexcept { return startedAt_; }

    // For what keeps order and locks.
    bool working = false;
    bool suspended = false;
    bool locked = false;
    bool paused = false;
    MonotonicTime lockedAt{};
    MonotonicTime lastConsume{};
    std::function<void()> whenIdle;  ///< called when the listener at work has come back

private:
    [[nodiscard]] bool isFull() const;
    void later(std::chrono::milliseconds delay);
    [[nodiscard]] Result<Frame> request();
    void answered(std::uint64_t turn, const Status& status, const protocol::CommandView* answer);
    void found(const protocol::PullMessageResponse& header, std::string_view body);
    void nothing(const protocol::PullMessageResponse& header);
    void failed(const Status& why, std::int32_t code);

    ConsumerCore& core_;
    const MessageQueue queue_;
    Inbox inbox_;
    std::int64_t next_;
    std::int64_t brokerId_ = 0;  // where to ask next, as the broker suggests
    std::uint64_t turn_ = 0;     // answers to questions of an earlier turn are ignored
    LoopTimer timer_;
    MonotonicTime lastPull_{};
    const MonotonicTime startedAt_;
    bool asking_ = false;
    std::atomic<bool> dropped_{false};
};

using QueuePtr = std::shared_ptr<QueueConsumer>;

}  // namespace patchbay::client
