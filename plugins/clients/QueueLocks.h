// QueueLocks: which client of a group may consume a queue in order.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/service/QueueLocks.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::clients {

/// Locks by group and queue, and the QueueLocks service. Memory only; a restart frees all, as a lock does that nobody refreshes.
/// A connection that ends keeps its locks: its client may still be at work on what it has. Owned by the plugin, from init() to its
/// destruction. Any thread. Never fails.
class QueueLocks final : public service::QueueLocks {
public:
    QueueLocks(const Clock& clock, std::chrono::milliseconds life, std::size_t capacity) : clock_(clock), life_(life), capacity_(capacity) {}

    /// Takes or refreshes what is free, expired or the client's own; those queues, in the order asked for. `full` tells that some were
    /// free, but no further lock is allowed.
    std::vector<protocol::MessageQueue> lock(const protocol::LockBatchRequest& request, bool& full);
    /// Frees what is the client's own.
    void unlock(const protocol::LockBatchRequest& request);
    [[nodiscard]] bool anyHeld(std::string_view group) const override;
    [[nodiscard]] std::vector<service::QueueLock> held(std::string_view group) const override;
    /// Drops locks that have expired.
    void expire();

private:
    struct Held {
        std::string clientId;
        MonotonicTime refreshed{};
    };
    using Group = std::map<protocol::MessageQueue, Held>;

    const Clock& clock_;
    const std::chrono::milliseconds life_;
    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::map<std::string, Group, std::less<>> groups_;  // guarded by mutex_
    std::size_t size_ = 0;                              // of all groups; guarded by mutex_
};

}  // namespace patchbay::plugins::clients
