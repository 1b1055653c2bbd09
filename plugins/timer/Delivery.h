// Delivery: brings timed messages to their topics when their time has come.
#pragma once

#include "EarlierDeliveries.h"
#include "PendingTimers.h"
#include "Recalls.h"
#include "TimerConfig.h"
#include "TimerCounts.h"
#include "TimerFiles.h"
#include "TimerMessage.h"
#include "TimerProgress.h"
#include "TimerRewrite.h"

#include "patchbay/base/Clock.h"
#include "patchbay/base/Slice.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Runtime.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/AppendLoop.h"
#include "patchbay/service/MessageStore.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace patchbay::plugins::timer {

/// What it works with; outlives it.
struct DeliveryContext {
    service::MessageStore& store;
    Recalls& recalls;
    TimerRewrite& rewrite;
    TimerFiles* files;     ///< null where all that waits is kept in memory
    TimerCounts* counts;   ///< with files only
    const TimerConfig& config;
    plugin::Timers& timers;
    const Clock& clock;
    plugin::Logger& log;
    plugin::Counter& delivered;
    plugin::Counter& recalled;
    plugin::Counter& rolled;
    plugin::Counter& undeliverable;
};

/// Reads the timer topic, keeps for each message when it has to be looked at, and hands over what is due, in the order of the times.
/// With timer files every message gets its unit there, and only what is due within the next seconds is in memory as well.
/// Runs on the control executor with one timer, set to the next time, and none while nothing waits. Messages are delivered at least
/// once: the mark moves after the store has taken them. After a start the topic is read from the mark on before anything is delivered,
/// so that no recall is missed. Owned by the plugin from start() to stop(). At most one append is on its way.
class Delivery final : private service::AppendListener {
public:
    Delivery(const DeliveryContext& context, const TimerMark& from);
    void start();
    /// Starts no more appends. Any thread.
    void drain() noexcept;
    /// After the timers were cancelled: waits for the append that is on its way and takes over its outcome.
    void stop() noexcept;
    /// How far it has come; what it was made with until the topic was read. Control executor, or after stop().
    [[nodiscard]] TimerMark mark() const;
    /// False once it was stopped. Control executor.
    [[nodiscard]] bool isRunning() const noexcept { return !left_; }
    /// Nothing waits.
    [[nodiscard]] bool isDone() const noexcept { return caughtUp_ && pending_.empty() && firing_.empty() && inFiles_ == 0; }

private:
    void appended(std::span<const service::AppendedRecord> records) noexcept override;

    void look();
    void arm();
    /// True when there may be more at once.
    bool takeNew();
    void takeRecords(std::string_view piece);
    void takeOne(const protocol::RecordView& record);
    /// False when the unit of a message with that time keeps it until its slot is loaded.
    bool link(const protocol::RecordView& record, const TimerMessage& message, PendingTimer timer, bool rolls);
    bool writeUnits();
    void loadSlots();
    [[nodiscard]] MonotonicTime nextLoad() const;
    bool loadSlot(std::int64_t slotMs);
    std::optional<PendingTimer> loadUnit(std::int64_t slotMs, const protocol::RecordView& record);
    void moveRead();
    /// Before a stop: the files say exactly what still waits.
    void leave();
    Status leaveSlots();
    void showFigures();
    void goOnAt(std::int64_t offset);
    /// The store lists the topic and yet finds none: what it holds is not known.
    [[nodiscard]] bool isUnreadable(const service::ReadResult& read) const;
    bool sleep();

    void fire();
    void gather();
    /// Answers its bytes.
    std::int64_t buildKept(const Slice& slice, const PendingTimer& timer);
    /// Neighbours in the topic. How many of them were dealt with: the rest cannot be read now.
    std::size_t readRun(std::span<const PendingTimer> all);
    /// Nothing was found, but that may change.
    [[nodiscard]] bool isPassing(const service::ReadResult& read) const;
    void build(const protocol::RecordView& record, const PendingTimer& timer);
    bool isDelivered(const protocol::RecordView& record, const TimerMessage& message, const PendingTimer& timer, bool rolls);
    void buildCopyToWaitOn(const protocol::RecordView& record, std::int64_t dueMs, const TimerMessage& message);
    void passOver(std::string_view why, const PendingTimer& timer);
    void settle();
    void finishBatch();

    const DeliveryContext context_;
    const TimerMark from_;
    service::AppendLoop loop_;

    // Control executor only.
    PendingTimers pending_;
    std::vector<PendingTimer> firing_;         // whose messages are in `items`, or passed over
    std::deque<service::ReadResult> reads_;    // what the views of `items` point into
    std::deque<Slice> slices_;                 // and these
    std::deque<std::string> texts_;
    std::unordered_map<std::int64_t, Slice> loaded_;  // records of `pending_` that loading them has read
    service::ReadResult read_;
    std::optional<EarlierDeliveries> earlier_; // while messages are handed over that were due before the start
    std::int64_t startedMs_ = 0;
    std::int64_t readMs_ = 0;                  // with files: slots before it are done with
    std::int64_t loadedUntil_ = 0;             // with files: what waits in slots before it is in `pending_`
    std::int64_t inFiles_ = 0;                 // how many wait in later ones
    std::int64_t next_;                        // the first message of the topic that was not read
    bool caughtUp_ = false;
    bool left_ = false;                        // stopped
    MonotonicTime notBefore_{};                // no delivery earlier
    MonotonicTime readAgain_ = MonotonicTime::max();

    std::atomic<bool> idle_{false};
};

}  // namespace patchbay::plugins::timer
