// Upkeep: writes consume queues in the background, makes them durable and moves the checkpoint.
#pragma once

#include "Checkpoint.h"
#include "ConsumeQueue.h"
#include "StoreConfig.h"
#include "StoreState.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace patchbay::mmapstore {

/// Purpose: what the append path leaves undone. Every queue with unwritten or unsynced units is on a list; busy ones are
/// written every interval, all of them when they hold too much memory, when nothing arrives any more, and after the
/// thorough interval. Then they are synced, and the checkpoint may say so.
/// Owned by the store. One thread, which sleeps while the list is empty.
/// Failure: a queue that cannot be written stays on the list; messages are refused until it can (their units would be lost).
class Upkeep {
public:
    struct Parts {
        FileSystem& files;
        const Layout& layout;
        const StoreTunables& tunables;
        const Clock& clock;
        plugin::Logger& log;
        StoreState& state;
        QueueEnvironment& queues;
        std::function<Status()> flushLog;  ///< makes the log durable
    };
    explicit Upkeep(Parts parts) noexcept : p_(std::move(parts)) {}
    ~Upkeep() { stopThread(); }

    void start(const Checkpoint& checkpoint);
    /// Writes and syncs everything, for a few seconds at most. The Status says whether all of it was done; if not, the next
    /// start has to look at the log from the checkpoint on.
    Status stop() noexcept;

    /// A queue got its first unit since it was written and synced. Any thread.
    void add(Ref<ConsumeQueue> queue);
    /// After every append: wakes the thread early when the tails have grown too much.
    void appended() noexcept {
        if (p_.queues.tailBytes.load(std::memory_order_relaxed) > kTailBytesMax && !poked_.exchange(true)) poke();
    }
    /// Everything appended before is durable and the checkpoint says so. Any thread; waits.
    Status thorough();
    /// After messages were refused: tries to write again; true when that worked. Any thread.
    bool retry();
    /// Messages are about to be stored with times before that of the checkpoint: it must not call them safe.
    /// Only a Java broker that opened the directory after a crash would believe it, so this wakes the thread and waits for nothing.
    void clockWentBack(std::int64_t nowMs) noexcept;
    /// A file of the key index that ends at this time is full and durable.
    void indexCompleted(std::int64_t timeMs);
    /// All tails are written to the page cache.
    Status writeAll();

private:
    static constexpr std::int64_t kTailBytesMax = 4 << 20;
    static constexpr std::size_t kBusyUnits = 64;
    static constexpr std::chrono::seconds kStopMax{4};
    static constexpr std::size_t kSyncTogetherFrom = 64;  ///< queues from which one sync of all costs less than theirs

    void stopThread() noexcept;
    void lowerCheckpoint();
    void poke() noexcept;
    void run();
    Status turn(std::int64_t appendedBefore);
    Status writeTails(std::size_t unitsMin);
    /// Writes the queues and makes them durable; those with which that failed are on the list again.
    Status finish(const std::vector<Ref<ConsumeQueue>>& queues);
    Status syncTogether(const std::vector<Ref<ConsumeQueue>>& queues);
    [[nodiscard]] bool isLate() const noexcept { return p_.clock.now() > deadline_.load(); }
    void report(const Status& status);
    Status writeCheckpoint();

    const Parts p_;
    std::atomic<bool> poked_{false};
    std::atomic<std::int64_t> lowerTo_{-1};  // times of the checkpoint have to be at most this; -1: nothing to do
    std::atomic<MonotonicTime> deadline_{MonotonicTime::max()};
    std::mutex turnMutex_;               // one turn at a time
    Checkpoint checkpoint_;              // guarded by turnMutex_
    MonotonicTime lastThorough_{};       // guarded by turnMutex_

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Ref<ConsumeQueue>> dirty_;  // guarded by mutex_
    bool stopping_ = false;                 // guarded by mutex_
    std::thread thread_;
};

}  // namespace patchbay::mmapstore
