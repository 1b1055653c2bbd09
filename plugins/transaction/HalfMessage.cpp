#include "HalfMessage.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/SysFlag.h"
#include "patchbay/protocol/util/Hash.h"

#include <charconv>
#include <limits>

namespace patchbay::plugins::transaction {

namespace {

using namespace protocol;

template <typename T>
std::optional<T> parse(std::string_view text) noexcept {
    T value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

HalfMessage HalfMessage::of(const RecordView& record) noexcept {
    HalfMessage half;
    half.record = record;
    // The check sum of the record it was read from would be wrong in any other.
    auto& properties = half.record.properties;
    if (properties.size() >= kPropertyCrcBytes && properties.substr(properties.size() - kPropertyCrcBytes).starts_with(kPropertyCrc32)) {
        properties.remove_suffix(kPropertyCrcBytes);
    }
    PropertyReader reader(properties);
    std::string_view name;
    std::string_view value;
    while (reader.next(name, value)) {
        if (name == kPropertyRealTopic) half.realTopic = value;
        else if (name == kPropertyRealQueueId) half.realQueueId = parse<std::int32_t>(value).value_or(-1);
        else if (name == kPropertyProducerGroup) half.group = value;
        else if (name == kPropertyUniqueKey) half.uniqueKey = value;
        else if (name == kPropertyTags) half.tags = value;
        else if (name == kPropertyCheckImmunityTime) half.immunity = value;
        else if (name == kPropertyDelayLevel) half.delayLevel = value;
        else if (name == kPropertyWaitStoreOk) half.waitStored = value != "false";
        else if (name == kPropertyTransactionCheckTimes) { half.checks = parse<std::int32_t>(value).value_or(0); half.copied = true; }
        else if (name == kPropertyPreparedQueueOffset) half.copied = half.preparedOffset = true;
        else if (name == kPropertyTimerDelaySec || name == kPropertyTimerDelayMs || name == kPropertyTimerDeliverMs) half.timed = true;
    }
    return half;
}

std::string HalfMessage::key() const {
    std::string text(group);
    text += kPropertyNameEnd;
    text += uniqueKey;
    return text;
}

std::optional<std::int64_t> HalfMessage::immunityMs(std::int64_t otherwise) const noexcept {
    if (immunity.empty()) return std::nullopt;
    const auto seconds = parse<std::int64_t>(immunity);
    constexpr std::int64_t kSecondsMax = std::numeric_limits<std::int64_t>::max() / 1000;
    if (!seconds || *seconds > kSecondsMax || *seconds < -kSecondsMax) return otherwise;
    return *seconds * 1000;
}

service::AppendItem HalfMessage::item(std::string_view topic, std::int32_t queueId, std::string_view properties) const noexcept {
    service::AppendItem item;
    item.topic = topic;
    item.queueId = queueId;
    item.body = record.body;
    item.properties = properties;
    item.bornHost = record.bornHost();
    item.storeHost = record.storeHost();
    item.bornTimestamp = record.bornTimestamp;
    item.tagsCode = tagsCode(tags);
    item.flag = record.flag;
    item.sysFlag = withTransactionType(record.sysFlag, kSysFlagNotTransactional);
    item.reconsumeTimes = record.reconsumeTimes;
    item.waitStored = waitStored;
    return item;
}

void makeHalf(service::AppendItem& item, std::string& properties) {
    properties.reserve(item.properties.size() + item.brokerProperties.size() + item.topic.size() + 128);
    properties = item.properties;
    properties += item.brokerProperties;
    // Appended, not replaced: of several properties of one name the last counts.
    const std::string uniqueKey(findProperty(properties, kPropertyUniqueKey));
    if (!uniqueKey.empty()) appendProperty(properties, kPropertyTransactionId, uniqueKey);
    appendProperty(properties, kPropertyRealTopic, item.topic);
    appendProperty(properties, kPropertyRealQueueId, std::to_string(item.queueId));
    item.properties = properties;
    item.brokerProperties = {};
    item.topic = kTopicTransHalf;
    item.queueId = kQueueId;
    item.sysFlag = withTransactionType(item.sysFlag, kSysFlagNotTransactional);
}

}  // namespace patchbay::plugins::transaction
