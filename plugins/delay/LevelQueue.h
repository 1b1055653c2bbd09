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

namespace patchbay::plugins::delay {

/// Told by its levels of their appends.
class LevelOwner {
public:
    virtual void appendStarts() noexcept = 0;
    /// On a thread of the store, or inside append(). The level is not touched by the store any more.
    virtual void appendEnded() noexcept = 0;

protected:
    ~LevelOwner() = default;
};

/// What all levels share; outlives them.
struct LevelContext {
    service::MessageStore& store;
    DelayProgress& progress;
    const Clock& clock;
    plugin::Logger& log;
    plugin::Counter& delivered;
    plugin::Counter& undeliverable;
};

/// One queue of SCHEDULE_TOPIC_XXXX. Owned by Delivery, used on the control executor except where noted. At most one append is
/// on its way. A refused message is tried again until the store takes it; one that no store could ever take is logged,
/// counted and passed over. Messages that were stored are not appended again because others of their batch were refused.
class LevelQueue final : public service::AppendBatch {
public:
    LevelQueue(const LevelContext& context, LevelOwner& owner, std::int32_t level, std::int64_t delayMs);

    /// Does what can be done now: settles an append that has ended, hands over what is due. Answers when to call again;
    /// max() when only a message or the end of an append can change something.
    MonotonicTime step();
    /// Takes over the outcome of an append that has ended, without starting another.
    void settle();

    /// Any thread. True when the level slept with nothing in its queue; whoever gets that answer must see to a step().
    bool wake() noexcept { return idle_.exchange(false, std::memory_order_acq_rel); }
    /// On a thread of the store.
    void done() noexcept override;

private:
    enum class Fate : std::uint8_t { Deliver, PassOver };

    MonotonicTime lookAtHead();
    [[nodiscard]] std::int64_t waitMs(std::int64_t storeTimestamp);
    void readDue();
    /// The store lists the queue and yet finds none: what it holds is not known, so progress must not go back to its beginning.
    [[nodiscard]] bool isUnreadable() const;
    void takePiece(std::string_view piece, bool& due);
    Fate rebuild(const protocol::RecordView& record, service::AppendItem& item);
    void submit();
    void advanceTo(std::int64_t offset);
    /// False when there is something to read after all.
    bool sleep();

    const LevelContext& context_;
    LevelOwner& owner_;
    const std::int32_t level_;
    const std::int32_t queueId_;
    const std::int64_t delayMs_;

    std::int64_t next_;              // the first message that is neither delivered nor in `items`
    std::int64_t clockAheadMs_ = 0;  // how far the wall clock was set back since the head was stored
    MonotonicTime notBefore_{};      // nothing can be done earlier, unless an append ends
    service::ReadResult read_;       // what the views of `items` point into
    bool inFlight_ = false;
    std::atomic<bool> ended_{false};
    std::atomic<bool> idle_{false};
};

}  // namespace patchbay::plugins::delay
