#include "message/Outgoing.h"

#include "message/Namespace.h"
#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/Compression.h"

#include <algorithm>
#include <array>
#include <utility>

namespace patchbay::client {

namespace {

using protocol::appendProperty;

constexpr std::array kReserved{
    protocol::kPropertyKeys, protocol::kPropertyTags, protocol::kPropertyWaitStoreOk, protocol::kPropertyDelayLevel,
    protocol::kPropertyRetryTopic, protocol::kPropertyRealTopic, protocol::kPropertyRealQueueId, protocol::kPropertyTransactionPrepared,
    protocol::kPropertyProducerGroup, protocol::kPropertyMinOffset, protocol::kPropertyMaxOffset, protocol::kPropertyOriginMessageId,
    protocol::kPropertyReconsumeTime, protocol::kPropertyMaxReconsumeTimes, protocol::kPropertyMsgRegion, protocol::kPropertyTraceSwitch,
    protocol::kPropertyUniqueKey, protocol::kPropertyExtendUniqueInfo, protocol::kPropertyConsumeStartTime,
    protocol::kPropertyInstanceId, protocol::kPropertyCorrelationId, protocol::kPropertyReplyToClient, protocol::kPropertyTtl,
    protocol::kPropertyArriveTime, protocol::kPropertyPushReplyTime, protocol::kPropertyCluster, protocol::kPropertyMessageType,
    protocol::kPropertyPopCk, protocol::kPropertyTransactionId, protocol::kPropertyTransactionCheckTimes,
    protocol::kPropertyTimerDelaySec, protocol::kPropertyTimerDelayMs, protocol::kPropertyTimerDeliverMs,
    protocol::kPropertyTimerOutMs, protocol::kPropertyTimerEnqueueMs, protocol::kPropertyTimerDequeueMs, protocol::kPropertyTimerRollTimes,
    protocol::kPropertyInnerNum, protocol::kPropertyInnerBase, protocol::kPropertyFirstPopTime, protocol::kPropertyDlqOriginTopic,
    protocol::kPropertyDlqOriginMessageId,
};

Status broken(std::string text) { return {StatusCode::InvalidArgument, std::move(text)}; }

bool hasSeparator(std::string_view text) {
    return text.find(protocol::kPropertyNameEnd) != std::string_view::npos || text.find(protocol::kPropertyEnd) != std::string_view::npos;
}

std::int64_t msOf(std::chrono::system_clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

Status checkDelay(const Message& message) {
    const int given = (message.delayLevel ? 1 : 0) + (message.delay ? 1 : 0) + (message.deliverAt ? 1 : 0);
    if (given > 1) return broken("give at most one of delayLevel, delay and deliverAt");
    if (message.delayLevel && *message.delayLevel < 1) return broken("delayLevel begins with 1; leave it out for no delay");
    if (message.delay && message.delay->count() < 0) return broken("delay is negative");
    return Status::ok();
}

std::string join(const std::vector<std::string>& keys) {
    std::string text;
    for (const auto& key : keys) text.append(text.empty() ? "" : " ").append(key);
    return text;
}

}  // namespace

std::vector<std::string> splitIds(std::string_view joined, std::size_t count) {
    std::vector<std::string> words;
    words.reserve(count);
    for (auto end = joined.find(','); end != std::string_view::npos; end = joined.find(',')) {
        words.emplace_back(joined.substr(0, end));
        joined.remove_prefix(end + 1);
    }
    words.emplace_back(joined);
    return words.size() == count ? words : std::vector<std::string>(count);
}

bool isReservedProperty(std::string_view name) noexcept { return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end(); }

Status Outfitter::check(const Message& message) const {
    if (auto status = protocol::validateTopicName(message.topic); !status) return status;
    if (protocol::isForbiddenToSend(message.topic)) return broken("topic '" + message.topic + "' belongs to the broker; nobody may send to it");
    if (message.body.empty()) return broken("the body is empty; brokers take no message without one");
    if (message.body.size() > options_.messageBytesMax) {
        return broken("the body has " + std::to_string(message.body.size()) + " bytes, more than messageBytesMax (" +
                      std::to_string(options_.messageBytesMax) + "); the broker has a limit of its own, maxMessageSize");
    }
    if (hasSeparator(message.tags)) return broken("tags contain byte 1 or 2");
    for (const auto& key : message.keys) {
        if (key.empty() || hasSeparator(key) || key.find(' ') != std::string::npos) return broken("a key is empty, or has a blank or byte 1 or 2");
    }
    for (const auto& [name, value] : message.properties) {
        if (name.empty() || value.empty()) return broken("property '" + name + "' has no name or no value");
        if (hasSeparator(name) || hasSeparator(value)) return broken("property '" + name + "' contains byte 1 or 2");
        if (isReservedProperty(name)) return broken("the protocol uses the property '" + name + "' itself; choose another name");
    }
    return checkDelay(message);
}

std::string Outfitter::propertiesOf(const Message& message, std::string_view id, std::string_view more) const {
    std::string text;
    text.reserve(96 + more.size());
    for (const auto& [name, value] : message.properties) appendProperty(text, name, value);
    if (!message.keys.empty()) appendProperty(text, protocol::kPropertyKeys, join(message.keys));
    appendProperty(text, protocol::kPropertyUniqueKey, id);
    appendProperty(text, protocol::kPropertyWaitStoreOk, message.waitForStore ? "true" : "false");
    if (!message.tags.empty()) appendProperty(text, protocol::kPropertyTags, message.tags);
    if (message.delayLevel) appendProperty(text, protocol::kPropertyDelayLevel, std::to_string(*message.delayLevel));
    if (message.delay) appendProperty(text, protocol::kPropertyTimerDelayMs, std::to_string(message.delay->count()));
    if (message.deliverAt) appendProperty(text, protocol::kPropertyTimerDeliverMs, std::to_string(msOf(*message.deliverAt)));
    if (!options_.client.nameSpace.empty()) appendProperty(text, protocol::kPropertyInstanceId, options_.client.nameSpace);
    text.append(more);
    return text;
}

Status Outfitter::pack(Outgoing& out) const {
    if (options_.compression == Compression::None || out.body.size() < options_.compressFrom) return Status::ok();
    const auto type = options_.compression == Compression::Lz4    ? protocol::CompressionType::Lz4
                      : options_.compression == Compression::Zstd ? protocol::CompressionType::Zstd
                                                                  : protocol::CompressionType::Zlib;
    auto packed = protocol::compress(type, out.body, options_.compressionLevel);
    if (!packed) return packed.error();
    // Random bytes grow by it; then they go as they are.
    if (packed->size() >= out.body.size()) return Status::ok();
    out.body = std::move(*packed);
    out.sysFlag |= protocol::kSysFlagCompressed | protocol::compressionFlag(type);
    return Status::ok();
}

Result<Outgoing> Outfitter::one(Message message, std::string_view more) const {
    if (auto status = check(message); !status) return status;
    Outgoing out;
    out.topic = withNamespace(options_.client.nameSpace, message.topic);
    out.plainBytes = message.body.size();
    out.id = ids_.next();
    out.keys = join(message.keys);
    out.flag = message.flag;
    out.bornMs = clock_.wallMs();
    out.delayed = message.delayLevel || message.delay || message.deliverAt;
    out.properties = propertiesOf(message, out.id, more);
    if (out.properties.size() > protocol::kRecordPropertiesBytesMax) return broken("keys, tags and properties together have more than 32767 bytes");
    out.tags = std::move(message.tags);
    out.body = std::move(message.body);
    if (auto status = pack(out); !status) return status;
    return out;
}

Outgoing Outfitter::emptyBatch(const Message& first) const {
    Outgoing out;
    out.code = protocol::RequestCode::SendBatchMessage;
    out.batch = true;
    out.topic = withNamespace(options_.client.nameSpace, first.topic);
    out.bornMs = clock_.wallMs();
    // No id: brokers write these behind each message's own properties, where the last one of a name counts.
    appendProperty(out.properties, protocol::kPropertyWaitStoreOk, first.waitForStore ? "true" : "false");
    return out;
}

Status Outfitter::append(const Message& message, Outgoing& batch) const {
    if (auto status = check(message); !status) return status;
    if (message.delayLevel || message.delay || message.deliverAt) return broken("messages of a batch cannot be delayed");
    const auto id = ids_.next();
    const auto properties = propertiesOf(message, id, {});
    if (properties.size() > protocol::kRecordPropertiesBytesMax) return broken("keys, tags and properties together have more than 32767 bytes");
    batch.id.append(batch.id.empty() ? "" : ",").append(id);
    protocol::appendBatchEntry(batch.body, {message.flag, message.body, properties});
    batch.plainBytes += message.body.size();
    return Status::ok();
}

Result<Outgoing> Outfitter::batch(std::span<const Message> messages) const {
    if (messages.empty()) return broken("the batch is empty");
    const auto& first = messages.front();
    if (protocol::isRetryTopic(first.topic)) return broken("a batch cannot go to a retry topic");
    auto out = emptyBatch(first);
    for (const auto& message : messages) {
        if (message.topic != first.topic) return broken("all messages of a batch go to one topic");
        if (message.waitForStore != first.waitForStore) return broken("waitForStore differs among the messages of the batch");
        if (auto status = append(message, out); !status) return status;
    }
    if (out.body.size() > options_.messageBytesMax) {
        return broken("the batch has " + std::to_string(out.body.size()) + " bytes, more than messageBytesMax; send it in parts");
    }
    return out;
}

}  // namespace patchbay::client
