// LevelQueue: delivers the messages of one delay level, in order.
#pragma once

#include "DelayProgress.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Runtime.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/MessageStore.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace patchbay::plugins::delay {

/// What all levels share; outlives them.
struct LevelContext {
    service::MessageStore& store;
    DelayProgress& progress;
    const Clock& clock;
    plugin::Logger& log;
    plugin::Counter& delivered;
    plugin::Counter& undeliverable;
};

/// One queue of SCHEDULE_TOPIC_XXXX. Owned by Delivery, used on the control executor except where noted. A refused message is tried
/// again until the store takes it; one that no store could ever take is logged, counted and passed over. Messages that were stored are
/// not appended again because others beside them were refused.
class LevelQueue {
public:
    LevelQueue(const LevelContext& context, std::int32_t level, std::int64_t delayMs);

    /// Adds what is to be appended now; its outcome has to be brought to settle() before the next call. Answers when to call again when
    /// nothing was added; max() when only a message can change something.
    MonotonicTime gather(std::vector<service::AppendItem>& into);
    /// Takes over the outcome of what gather() added last.
    void settle(std::span<const service::AppendItem> items, const Status& failure);
    /// Whether more than gather() added may be due.
    [[nodiscard]] bool isFull() const noexcept { return full_; }

    /// Any thread. True when the level slept with nothing in its queue; whoever gets that answer must see to a step().
    bool wake() noexcept { return idle_.exchange(false, std::memory_order_acq_rel); }

private:
    enum class Fate : std::uint8_t { Deliver, PassOver };

    MonotonicTime lookAtHead();
    [[nodiscard]] std::int64_t waitMs(std::int64_t storeTimestamp);
    void readDue();
    /// The store lists the queue and yet finds none: what it holds is not known, so progress must not go back to its beginning.
    [[nodiscard]] bool isUnreadable() const;
    void takePiece(std::string_view piece, bool& due);
    Fate rebuild(const protocol::RecordView& record, service::AppendItem& item);
    void advanceTo(std::int64_t offset);
    /// False when there is something to read after all.
    bool sleep();

    const LevelContext& context_;
    const std::int32_t level_;
    const std::int32_t queueId_;
    const std::int64_t delayMs_;

    std::int64_t next_;              // the first message that is neither delivered nor in `items_`
    std::int64_t headAt_ = -1;       // the message whose store time is known
    std::int64_t headMs_ = 0;
    std::int64_t clockAheadMs_ = 0;  // how far the wall clock was set back since the head was stored
    MonotonicTime notBefore_{};      // nothing can be done earlier
    std::vector<service::AppendItem> items_;  // due and not stored
    service::ReadResult read_;       // what the views of `items_` point into
    std::int32_t readMax_;           // messages at once; near to what was due lately, because a look at more is in vain
    bool full_ = false;
    std::atomic<bool> idle_{false};
};

}  // namespace patchbay::plugins::delay
