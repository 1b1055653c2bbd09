// Delivery: brings delayed messages to their topics when they are due.
#pragma once

#include "LevelQueue.h"

#include "patchbay/protocol/message/DelayLevels.h"
#include "patchbay/service/AppendLoop.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace patchbay::plugins::delay {

/// Runs all levels on the control executor: one timer, set to the moment at which the first head is due, and none while nothing
/// waits. What is due is appended together, whatever its levels, and while there is much of it not at every millisecond: each append
/// costs as much as some messages. Owned by the plugin from start() to stop(). At most one append is on its way. Messages are delivered
/// at least once: progress moves after the store has taken them.
class Delivery final : private service::AppendListener {
public:
    Delivery(LevelContext context, plugin::Timers& timers, const protocol::DelayLevels& levels);
    void start();
    /// Starts no more appends. Any thread.
    void drain() noexcept;
    /// After the timers were cancelled: waits for appends that are on their way and takes over their outcome.
    void stop() noexcept;

private:
    void appended(std::span<const service::AppendedRecord> records) noexcept override;
    void look();
    void settle();
    /// False when there is nothing to append; then `again` is when to look.
    bool gather(MonotonicTime& again);
    void lookAt(MonotonicTime at) { loop_.lookAt(at, context_.clock.now()); }

    const LevelContext context_;
    service::AppendLoop loop_;
    std::vector<std::unique_ptr<LevelQueue>> levels_;  // by queue id

    // Control executor only.
    MonotonicTime notBefore_{};          // no append earlier
    std::vector<std::size_t> shares_;    // how many items are of each level
    bool full_ = false;                  // more may be due than was appended
};

}  // namespace patchbay::plugins::delay
