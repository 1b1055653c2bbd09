// QueueLocks: which client of a group consumes a queue in order.
#pragma once

#include "patchbay/plugin/Services.h"
#include "patchbay/protocol/route/MessageQueue.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::service {

struct QueueLock {
    protocol::MessageQueue queue;
    std::string clientId;
    std::int64_t ageMs = 0;   ///< since it was last refreshed
};

/// Thread-safe. Locks are taken and freed by clients (LOCK_BATCH_MQ, UNLOCK_BATCH_MQ); here one can only look.
class QueueLocks {
public:
    static constexpr plugin::ServiceId kId{"patchbay.QueueLocks", 1};
    virtual ~QueueLocks();

    /// Whether a lock of the group is in force.
    [[nodiscard]] virtual bool anyHeld(std::string_view group) const = 0;
    /// The locks of the group that are in force.
    [[nodiscard]] virtual std::vector<QueueLock> held(std::string_view group) const = 0;
};

}  // namespace patchbay::service
