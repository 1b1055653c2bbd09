#include "SendBackProcessor.h"

#include "RetryRules.h"

#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/Hash.h"

#include <algorithm>
#include <cstdint>

namespace patchbay::plugins::retry {

using namespace protocol;

namespace {

constexpr std::int32_t kFirstRetryLevel = 3;
constexpr auto kReadWrite = static_cast<std::int32_t>(kPermRead | kPermWrite);

/// The properties of the copy, but for the delay level.
Properties copiedProperties(const RecordView& message) {
    Properties properties(message.properties);
    // Of several returns the first topic and the first id count.
    if (!properties.has(kPropertyRetryTopic)) properties.set(kPropertyRetryTopic, message.topic);
    if (!properties.has(kPropertyOriginMessageId)) {
        properties.set(kPropertyOriginMessageId, MessageId{message.storeHost(), message.physicalOffset}.toString());
    }
    properties.set(kPropertyWaitStoreOk, "false");
    return properties;
}

// What the schedule adds of its own: the real topic and queue, and their names.
constexpr std::size_t kScheduleBytesMax = 512;

bool hasRoom(const Properties& properties) {
    return properties.encode().size() + kScheduleBytesMax <= kRecordPropertiesBytesMax;
}

/// What tells the message and its way; the user's own are left out.
Properties withoutUsersOwn(const Properties& all) {
    Properties kept;
    for (const auto name : {kPropertyUniqueKey, kPropertyTags, kPropertyRetryTopic, kPropertyOriginMessageId, kPropertyWaitStoreOk}) {
        kept.set(name, all.get(name));
    }
    return kept;
}

/// Numbers of a message are what its producer wrote.
std::int32_t sum(std::int32_t a, std::int32_t b) noexcept {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{a} + b, INT32_MIN, INT32_MAX));
}

service::AppendItem copyOf(const RecordView& message, const SocketAddress& storeHost) {
    service::AppendItem item;
    item.body = message.body;
    item.bornHost = message.bornHost();
    item.storeHost = storeHost;
    item.bornTimestamp = message.bornTimestamp;
    item.tagsCode = tagsCode(findProperty(message.properties, kPropertyTags));
    item.flag = message.flag;
    item.sysFlag = message.sysFlag;
    item.reconsumeTimes = sum(message.reconsumeTimes, 1);
    item.waitStored = false;
    return item;
}

}  // namespace

SendBackProcessor::SendBackProcessor(RetryServices services, plugin::PluginContext& context,
                                     const std::atomic<std::uint32_t>& permission)
    : services_(std::move(services)),
      identity_(context.identity()),
      permission_(permission),
      log_(context.log()),
      retries_(context.metrics().counter("retry_messages_total", "Messages that consumers sent back for a retry.")),
      deadLetters_(context.metrics().counter("retry_dead_letters_total", "Messages that were sent back for the last time.")) {}

void SendBackProcessor::process(plugin::Request request) {
    const auto header = ConsumerSendMsgBackRequest::parse(request.command());
    if (!header) return std::move(request).respond(ResponseCode::SystemError, header.error().message());
    if (identity_.brokerId != 0) {
        return std::move(request).respond(ResponseCode::SystemError, "no master available along with " + identity_.brokerIp);
    }
    service::GroupFacts group;
    if (!services_.groups->findOrCreate(header->group, group)) {
        return std::move(request).respond(ResponseCode::SubscriptionGroupNotExist, noSuchGroup(header->group));
    }
    auto back = std::make_unique<SendBack>(inFlight_);
    back->topic = retryTopic(header->group);
    auto answer = check(*header, group, back->topic);
    if (!answer) {
        back->request = std::move(request);
        answer = fill(*back, *header, group);
        if (!answer) return submit(std::move(back));
        request = std::move(back->request);
    }
    std::move(request).respond(answer->code, std::move(answer->remark));
}

std::optional<SendBackProcessor::Answer> SendBackProcessor::check(const ConsumerSendMsgBackRequest& header,
                                                                  const service::GroupFacts& group,
                                                                  const std::string& retryTopic) const {
    if (!isWriteable(permission_.load(std::memory_order_relaxed))) {
        return Answer{ResponseCode::NoPermission, "the broker[" + identity_.brokerIp + "] sending message is forbidden"};
    }
    // Retries are switched off for the group: the message counts as handled.
    if (group.retryQueueNums <= 0) return Answer{ResponseCode::Success, {}};
    const auto topic = services_.topics->createIfMissing(retryTopic, group.retryQueueNums, kReadWrite,
                                                         header.unitMode ? kTopicSysFlagUnitSub : 0);
    if (!topic) return Answer{ResponseCode::SystemError, "topic[" + retryTopic + "] not exist"};
    if (!isWriteable(static_cast<std::uint32_t>(topic->perm))) {
        return Answer{ResponseCode::NoPermission, "the topic[" + retryTopic + "] sending message is forbidden"};
    }
    return std::nullopt;
}

std::optional<SendBackProcessor::Answer> SendBackProcessor::fill(SendBack& back, const ConsumerSendMsgBackRequest& header,
                                                                 const service::GroupFacts& group) {
    auto found = services_.store->at(header.offset);
    RecordView message;
    if (!found || RecordView::parse(found->bytes, message, RecordCheck::Layout) != RecordStatus::Message) {
        return Answer{ResponseCode::SystemError, "look message by offset failed, " + std::to_string(header.offset)};
    }
    back.record = std::move(*found);
    service::AppendItem item = copyOf(message, identity_.storeHost);
    Properties properties = copiedProperties(message);
    const std::int32_t limit = retriesMax(group, header.maxReconsumeTimes, back.request.command().version);
    // A message that is full up to the brim cannot carry what a retry adds; refused, it would be tried for ever by its consumer.
    const bool full = !hasRoom(properties);
    const bool last = message.reconsumeTimes >= limit || header.delayLevel < 0 || full;
    if (full) {
        properties = withoutUsersOwn(properties);
        log_.limited(plugin::LogLevel::Warn, "a message is too full of properties to be retried and becomes a dead letter without them",
                     {{"group", header.group}, {"topic", message.topic}, {"offset", header.offset}});
    }
    if (last) {
        back.topic = dlqTopic(header.group);
        if (!haveDeadLetterTopic(*services_.topics, back.topic)) {
            return Answer{ResponseCode::SystemError, "topic[" + back.topic + "] not exist"};
        }
        properties.set(kPropertyDelayLevel, "0");
    } else {
        const auto queues = static_cast<std::uint32_t>(group.retryQueueNums);
        item.queueId = static_cast<std::int32_t>(turn_.fetch_add(1, std::memory_order_relaxed) % queues);
        const std::int32_t level = header.delayLevel > 0 ? header.delayLevel : sum(kFirstRetryLevel, message.reconsumeTimes);
        properties.set(kPropertyDelayLevel, std::to_string(level));
    }
    // The producer may have written any name there.
    service::TopicFacts origin;
    if (services_.traffic && services_.topics->find(properties.get(kPropertyRetryTopic), origin)) {
        back.traffic = &*services_.traffic;
        back.statsKey = std::string(properties.get(kPropertyRetryTopic)) + "@" + std::string(header.group);
    }
    item.topic = back.topic;
    back.properties = properties.encode();
    item.properties = back.properties;
    if (std::string scheduled; !last) {
        if (const Status prepared = services_.delay->prepare(item, scheduled); !prepared) {
            return Answer{ResponseCode::SystemError, prepared.message()};
        }
        if (!scheduled.empty()) {
            back.properties = std::move(scheduled);
            item.properties = back.properties;
        }
    }
    (last ? deadLetters_ : retries_).add();
    back.items.push_back(item);
    return std::nullopt;
}

void SendBackProcessor::submit(std::unique_ptr<SendBack> back) {
    inFlight_.begin();
    // The batch destroys itself when the store is done with it.
    services_.store->append(*back.release());
}

}  // namespace patchbay::plugins::retry
