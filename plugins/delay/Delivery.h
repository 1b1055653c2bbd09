// Delivery: brings delayed messages to their topics when they are due.
#pragma once

#include "DelayLevels.h"
#include "LevelQueue.h"

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace patchbay::plugins::delay {

/// Runs all levels on the control executor: one timer, set to the moment at which the first head is due, and none while nothing
/// waits. Owned by the plugin from start() to stop(). Messages are delivered at least once: progress moves after the store has
/// taken them.
class Delivery final : private service::AppendListener, private LevelOwner {
public:
    Delivery(LevelContext context, plugin::Timers& timers, const DelayLevels& levels);
    void start();
    /// Starts no more appends. Any thread.
    void drain() noexcept;
    /// After the timers were cancelled: waits for appends that are on their way and takes over their outcome.
    void stop() noexcept;

private:
    void appended(std::span<const service::AppendedRecord> records) noexcept override;
    void appendStarts() noexcept override;
    void appendEnded() noexcept override;
    void lookSoon() noexcept;
    void post() noexcept;  // with the lock held
    void look();
    void arm(MonotonicTime at);

    const LevelContext context_;
    plugin::Timers& timers_;
    std::vector<std::unique_ptr<LevelQueue>> levels_;  // by queue id

    // Control executor only.
    plugin::TimerId timer_ = 0;
    MonotonicTime timerAt_ = MonotonicTime::max();

    std::mutex mutex_;
    std::condition_variable allEnded_;
    // Guarded by mutex_.
    std::size_t appends_ = 0;
    bool posted_ = false;
    bool running_ = false;
};

}  // namespace patchbay::plugins::delay
