#include "TimerRewrite.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/PropertyNames.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace patchbay::plugins::timer {

namespace {

using namespace protocol;

/// As Java's parseLong.
std::optional<std::int64_t> parse(std::string_view text) noexcept {
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The time that the properties name, the first of three ways that is there; nothing when it is no number. Far more than any limit
/// is as good as the limit itself.
std::optional<std::int64_t> wishedMs(std::string_view properties, std::int64_t now) noexcept {
    constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max() * std::int64_t{1000};
    const auto fromNow = [now](std::optional<std::int64_t> delay, std::int64_t unit) -> std::optional<std::int64_t> {
        if (!delay) return std::nullopt;
        if (*delay > kFar / unit) return now + kFar;
        return now + std::max(*delay, -kFar / unit) * unit;
    };
    if (const auto text = findProperty(properties, kPropertyTimerDelaySec); !text.empty()) return fromNow(parse(text), 1000);
    if (const auto text = findProperty(properties, kPropertyTimerDelayMs); !text.empty()) return fromNow(parse(text), 1);
    return parse(findProperty(properties, kPropertyTimerDeliverMs));
}

}  // namespace

Status TimerRewrite::tooFar() const {
    return {StatusCode::InvalidArgument, "timer message illegal, the delay time should not be bigger than the max delay " +
            std::to_string(config_.maxDelayMs) + "ms; or if set del msg, the delay time should be bigger than the current time"};
}

service::TimerFigures TimerRewrite::figures() const noexcept {
    service::TimerFigures figures;
    const std::int64_t first = state_.firstDueMs;
    if (first != 0) figures.behindMs = std::max<std::int64_t>(clock_.wallMs() - first, 0);
    figures.unread = std::max<std::int64_t>(state_.topicEnd - state_.next, 0);
    figures.waiting = state_.waiting;
    figures.taken = state_.taken;
    figures.delivered = state_.delivered;
    return figures;
}

Status TimerRewrite::prepare(service::AppendItem& item, std::string& properties) {
    if (!config_.enabled) return {StatusCode::Unavailable, "accurate timer message is not enabled, timerWheelEnable is false"};
    const std::int64_t now = clock_.wallMs();
    const auto deliver = wishedMs(item.properties, now);
    if (!deliver) return tooFar();
    if (*deliver <= now) {
        if (!findProperty(item.properties, kPropertyTimerDelUniqueKey).empty()) return tooFar();
        return Status::ok();
    }
    if (*deliver - now > config_.maxDelayMs) return tooFar();
    if (state_.inMemory.load(std::memory_order_relaxed) >= config_.pendingMax) {
        return {StatusCode::Busy, "timer message is under flow control, max num limit is " + std::to_string(config_.pendingMax) +
                " (timerPendingMax)"};
    }
    // Rounded down, and by a whole step when it needs no rounding: a slot holds what is due after its time.
    const std::int64_t out = (*deliver - 1) / config_.precisionMs * config_.precisionMs;

    // Of several properties of one name the last counts, so what a producer may have put there does no harm.
    constexpr std::size_t kNamesAndNumbers = 96;
    properties.reserve(item.properties.size() + item.brokerProperties.size() + item.topic.size() + kNamesAndNumbers);
    (properties = item.properties) += item.brokerProperties;
    appendProperty(properties, kPropertyTimerOutMs, std::to_string(out));
    appendProperty(properties, kPropertyRealTopic, item.topic);
    appendProperty(properties, kPropertyRealQueueId, std::to_string(item.queueId));

    item.properties = properties;
    item.brokerProperties = {};
    item.topic = kTopicTimer;
    item.queueId = 0;
    return Status::ok();
}

}  // namespace patchbay::plugins::timer
