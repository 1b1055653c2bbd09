// Delivery: brings delayed messages to their topics when they are due.
#pragma once

#include "DelayLevels.h"
#include "LevelQueue.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace patchbay::plugins::delay {

/// Runs all levels on the control executor: one timer, set to the moment at which the first head is due, and none while nothing
/// waits. What is due is appended together, whatever its levels, and while there is much of it not at every millisecond: each append
/// costs as much as some messages. Owned by the plugin from start() to stop(). At most one append is on its way. Messages are delivered
/// at least once: progress moves after the store has taken them.
class Delivery final : private service::AppendListener, private service::AppendBatch {
public:
    Delivery(LevelContext context, plugin::Timers& timers, const DelayLevels& levels);
    void start();
    /// Starts no more appends. Any thread.
    void drain() noexcept;
    /// After the timers were cancelled: waits for appends that are on their way and takes over their outcome.
    void stop() noexcept;

private:
    void appended(std::span<const service::AppendedRecord> records) noexcept override;
    void done() noexcept override;
    void lookSoon() noexcept;
    void post() noexcept;  // with the lock held
    void look();
    void settle();
    /// False when there is nothing to append; then `again` is when to look.
    bool gather(MonotonicTime& again);
    /// Whether the append has ended already.
    bool submit();
    void arm(MonotonicTime at);

    const LevelContext context_;
    plugin::Timers& timers_;
    std::vector<std::unique_ptr<LevelQueue>> levels_;  // by queue id

    // Control executor only.
    plugin::TimerId timer_ = 0;
    MonotonicTime timerAt_ = MonotonicTime::max();
    MonotonicTime notBefore_{};          // no append earlier
    std::vector<std::size_t> shares_;    // how many items are of each level
    bool inFlight_ = false;
    bool full_ = false;                  // more may be due than was appended

    std::atomic<bool> ended_{false};
    std::mutex mutex_;
    std::condition_variable allEnded_;
    // Guarded by mutex_.
    bool appending_ = false;
    bool lookWhenDone_ = false;  // look() does not wait for the append any more
    bool posted_ = false;
    bool running_ = false;
};

}  // namespace patchbay::plugins::delay
