// FlowControl: which queues a push consumer does not pull because it has enough of them already.
#pragma once

#include "patchbay/protocol/json/Value.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchbay::patchctl {

/// A queue that a member has in hand.
struct CachedQueue {
    std::string broker;
    std::string topic;
    std::int64_t queueId = 0;
    std::int64_t messages = 0;
    std::int64_t mebibytes = 0;
    std::int64_t lastConsumeMs = 0;   ///< wall clock of the member; 0 = never
    std::string limit;                ///< which of the member's limits is exceeded; empty: it pulls on
};

/// What the answer to GET_CONSUMER_RUNNING_INFO (307) says of queues that hold messages. The limits are the member's own where it names
/// them, as Java clients do, and else those that clients have by default.
[[nodiscard]] std::vector<CachedQueue> cachedQueues(const json::Value& runningInfo);

}  // namespace patchbay::patchctl
