#include "TimerMessage.h"

#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/PropertyNames.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace patchbay::plugins::timer {

namespace {

using namespace protocol;

template <typename T>
std::optional<T> number(std::string_view text) noexcept {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

TimerMessage TimerMessage::of(std::string_view properties) noexcept {
    TimerMessage message;
    std::optional<std::int64_t> seconds;
    std::optional<std::int64_t> millis;
    PropertyReader reader(properties);
    std::string_view name;
    std::string_view value;
    while (reader.next(name, value)) {
        // Names differ in their first letter often enough.
        switch (name.front()) {
            case 'R':
                if (name == kPropertyRealTopic) message.realTopic = value;
                else if (name == kPropertyRealQueueId) message.realQueue = number<std::int32_t>(value);
                break;
            case 'U':
                if (name == kPropertyUniqueKey) message.uniqueKey = value;
                break;
            case 'T':
                if (name == kPropertyTimerOutMs) message.outMs = number<std::int64_t>(value);
                else if (name == kPropertyTimerDelaySec) seconds = number<std::int64_t>(value);
                else if (name == kPropertyTimerDelayMs) millis = number<std::int64_t>(value);
                else if (name == kPropertyTimerDeliverMs) message.deliverMs = number<std::int64_t>(value);
                else if (name == kPropertyTimerRollTimes) message.rolled = number<std::int32_t>(value).value_or(0);
                else if (name == kPropertyTimerDelUniqueKey) message.recalledKey = value;
                break;
            default: break;
        }
    }
    if (seconds && *seconds <= std::numeric_limits<std::int32_t>::max()) {
        message.delayMs = *seconds * 1000;
    } else {
        message.delayMs = millis;
    }
    return message;
}

std::int64_t TimerMessage::dueMs(std::int64_t storeTimestamp) const noexcept {
    const std::int64_t earliest = *outMs + 1;
    const std::int64_t latest = *outMs + kSlotMsMax;
    if (delayMs) {
        // A copy that was stored anew tells nothing by its store time.
        if (rolled > 0 || *delayMs > latest - storeTimestamp) return latest;
        return std::max(storeTimestamp + *delayMs, earliest);
    }
    return deliverMs ? std::clamp(*deliverMs, earliest, latest) : latest;
}

std::string TimerMessage::recallKeyOf(std::string_view topic, std::string_view uniqueKey) {
    std::string key(topic);
    key += '+';
    key += uniqueKey;
    return key;
}

std::int64_t wakeMs(std::int64_t dueMs, std::int64_t storeTimestamp, std::int64_t rollAfterMs) noexcept {
    const std::int64_t beyond = dueMs - storeTimestamp - rollAfterMs;
    if (beyond < 0) return dueMs;
    // As RocketMQ: rather two halves than a whole and a little.
    return storeTimestamp + (beyond < rollAfterMs / 3 ? std::max<std::int64_t>(rollAfterMs / 2, 1) : rollAfterMs);
}

}  // namespace patchbay::plugins::timer
