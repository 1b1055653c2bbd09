#include "DelayRewrite.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>
#include <charconv>

namespace patchbay::plugins::delay {

namespace {

using namespace protocol;

Result<std::int32_t> levelOf(std::string_view text) {
    if (text.empty()) return 0;
    std::int32_t level = 0;
    const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), level);
    if (error != std::errc() || end != digits.data() + digits.size()) {
        return Status(StatusCode::InvalidArgument, "property DELAY is no number: \"" + std::string(text) + "\"");
    }
    return level;
}

bool asksForTime(std::string_view properties) noexcept {
    if (!findProperty(properties, kPropertyTimerOutMs).empty()) return false;
    return !findProperty(properties, kPropertyTimerDelaySec).empty() || !findProperty(properties, kPropertyTimerDelayMs).empty() ||
           !findProperty(properties, kPropertyTimerDeliverMs).empty();
}

/// What has to be changed and not only added to.
bool isPlain(std::string_view properties) noexcept {
    PropertyReader reader(properties);
    for (std::string_view name, value; reader.next(name, value);) {
        if (name == kPropertyTimerDeliverMs || name == kPropertyTimerDelaySec || name == kPropertyTimerDelayMs ||
            name == kPropertyRealTopic || name == kPropertyRealQueueId) {
            return false;
        }
    }
    return true;
}

void write(const service::AppendItem& item, bool levelStays, std::int32_t level, std::string& properties) {
    if (levelStays && isPlain(item.properties) && isPlain(item.brokerProperties)) {
        constexpr std::size_t kNamesAndNumbers = 48;
        properties.reserve(item.properties.size() + item.brokerProperties.size() + item.topic.size() + kNamesAndNumbers);
        (properties = item.properties) += item.brokerProperties;
        if (needsPropertySeparator(properties)) properties += kPropertyEnd;
        appendProperty(properties, kPropertyRealTopic, item.topic);
        appendProperty(properties, kPropertyRealQueueId, std::to_string(item.queueId));
        return;
    }
    Properties changed(item.properties);
    const Properties brokers(item.brokerProperties);
    for (const auto& [name, value] : brokers.entries()) changed.set(name, value);
    // A level wins over a time.
    for (const auto name : {kPropertyTimerDeliverMs, kPropertyTimerDelaySec, kPropertyTimerDelayMs}) changed.remove(name);
    changed.set(kPropertyDelayLevel, std::to_string(level));
    changed.set(kPropertyRealTopic, item.topic);
    changed.set(kPropertyRealQueueId, std::to_string(item.queueId));
    properties = changed.encode();
}

}  // namespace

Status DelayRewrite::prepare(service::AppendItem& item, std::string& properties) {
    const std::int32_t type = transactionType(item.sysFlag);
    if (type != kSysFlagNotTransactional && type != kSysFlagCommit) return Status::ok();
    const auto wish = levelOf(findProperty(item.properties, kPropertyDelayLevel));
    if (!wish) return wish.error();
    if (*wish <= 0) {
        if (!asksForTime(item.properties)) return Status::ok();
        if (timers_ != nullptr) return timers_->prepare(item, properties);
        return {StatusCode::Unavailable, "accurate timer message is not enabled, timerWheelEnable is false"};
    }
    const std::int32_t level = std::min(*wish, levels_.max());

    write(item, *wish == level, level, properties);

    item.properties = properties;
    item.brokerProperties = {};
    item.topic = kTopicSchedule;
    item.queueId = level - 1;
    // A store in RocketMQ's files takes the store time instead, when it is known.
    item.tagsCode = clock_.wallMs() + levels_.delayMs(level);
    return Status::ok();
}

std::vector<service::DelayLevelProgress> DelayRewrite::progress() const {
    std::vector<service::DelayLevelProgress> all;
    for (std::int32_t level = 1; level <= levels_.max(); ++level) {
        all.push_back({level, {std::string(kTopicSchedule), level - 1}, progress_.at(level)});
    }
    return all;
}

}  // namespace patchbay::plugins::delay
