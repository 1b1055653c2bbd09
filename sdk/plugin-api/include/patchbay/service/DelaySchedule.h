// DelaySchedule: messages that are to be delivered later.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchbay::service {

/// How far a delay level has come, for operators.
struct DelayLevelProgress {
    std::int32_t level = 0;
    QueueKey queue;               ///< where its messages wait; the store knows how many there are
    std::int64_t delivered = 0;   ///< offset behind the last of them that was delivered
};

/// Thread-safe. Without a provider a message that asks for a delay is refused, never delivered at once.
class DelaySchedule {
public:
    static constexpr plugin::ServiceId kId{"patchbay.DelaySchedule", 1};
    virtual ~DelaySchedule();

    /// Called for an item whose properties ask for a delay level or a delivery time. Turns it into an item of the schedule:
    /// topic (static text of the provider), queue, tags code and properties (written to `properties`, which outlives the
    /// item) change. Leaves it alone when it is due already.
    /// InvalidArgument with RocketMQ's text: the wish is out of bounds. Unavailable: the kind of delay is switched off.
    virtual Status prepare(AppendItem& item, std::string& properties) = 0;
    /// Every level, by number.
    [[nodiscard]] virtual std::vector<DelayLevelProgress> progress() const;
};

}  // namespace patchbay::service
