// EarlierDeliveries: what was delivered before a crash, but after the progress was written.
#pragma once

#include "TimerMessage.h"

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace patchbay::plugins::timer {

/// Answers whether a message lies in its queue already, so that a start after a kill delivers nothing twice. Looks at what queues held
/// when it was made, from the time of the first question about them on: questions have to come in the order of the times. Part of
/// Delivery; one thread.
class EarlierDeliveries {
public:
    explicit EarlierDeliveries(service::MessageStore& store) : store_(store), end_(store.stats().maxPhysicalOffset) {}

    /// True once for each copy. `rolled` is the copy's TIMER_ROLL_TIMES. `notBeforeMs`: no copy was stored earlier.
    bool take(std::string_view topic, std::int32_t queueId, const protocol::RecordView& record, const TimerMessage& message,
              std::int32_t rolled, std::int64_t notBeforeMs);

private:
    using Copies = std::unordered_map<std::string, std::int32_t>;   // how many of each

    [[nodiscard]] Copies read(std::string_view topic, std::int32_t queueId, std::int64_t notBeforeMs) const;

    service::MessageStore& store_;
    const std::int64_t end_;
    std::map<std::pair<std::string, std::int32_t>, Copies> queues_;
};

}  // namespace patchbay::plugins::timer
