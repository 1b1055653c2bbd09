#include "SendProcessor.h"

#include "PropertyScan.h"

#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/RecallHandle.h"
#include "patchbay/protocol/message/SysFlag.h"
#include "patchbay/protocol/util/Hash.h"

#include <algorithm>
#include <charconv>
#include <unistd.h>

namespace patchbay::plugins::send {

using protocol::ResponseCode;
using service::AppendItem;

namespace {

// Larger turns are appended in several writes, so that one lane neither grows its batch without end nor lets a message wait
// for thousands of others.
constexpr std::size_t kBatchItemsMax = 1024;
constexpr std::size_t kBatchBytesMax = 4U << 20;
// A batch's topic is shorter than others may be: RocketMQ counts its length in a signed byte.
constexpr std::size_t kBatchTopicBytesMax = 127;

bool isTrue(std::string_view text) noexcept {
    constexpr std::string_view kTrue = "true";
    if (text.size() != kTrue.size()) return false;
    for (std::size_t i = 0; i < kTrue.size(); ++i) {
        if ((text[i] | 0x20) != kTrue[i]) return false;
    }
    return true;
}

bool isBlank(std::string_view text) noexcept {
    return std::ranges::all_of(text, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); });
}

/// Nothing for a text that is no number.
std::optional<std::int32_t> parseLevel(std::string_view text) noexcept {
    std::int32_t level = 0;
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return level;
}

Refusal illegal(std::int64_t bodyBytesMax) {
    return {ResponseCode::MessageIllegal, "the message is illegal, maybe msg body or properties length not matched. msg body "
            "length limit " + std::to_string(bodyBytesMax) + "B, msg properties length limit 32KB."};
}

std::string brokerProperties(const plugin::BrokerIdentity& identity, bool traceOn) {
    std::string text;
    protocol::appendProperty(text, protocol::kPropertyMsgRegion, identity.regionId);
    protocol::appendProperty(text, protocol::kPropertyTraceSwitch, traceOn ? "true" : "false");
    protocol::appendProperty(text, protocol::kPropertyCluster, identity.clusterName);
    return text;
}

}  // namespace

SendProcessor::SendProcessor(SendServices services, plugin::PluginContext& context, const SendConfig& config)
    : services_(std::move(services)),
      identity_(context.identity()),
      config_(config),
      facts_{identity_.regionId, config.traceOn, config.bodyBytesMax},
      checks_(*services_.topics, identity_, context.clock()),
      pool_(facts_, context),
      ids_(context.clock(), identity_.storeHost, static_cast<std::uint32_t>(getpid()), 0),
      brokerProperties_(brokerProperties(identity_, config.traceOn)),
      separatedProperties_(protocol::kPropertyEnd + brokerProperties_),
      innerBatches_(services_.store->capabilities().innerBatches),
      lanes_(context.laneCount()) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i].chance = static_cast<std::uint32_t>(i);
}

void SendProcessor::process(plugin::Request request) {
    protocol::SendMessageRequest header;
    if (const auto parsed = protocol::SendMessageRequest::parse(request.command(), header); !parsed) {
        std::move(request).respond(plugin::Response(ResponseCode::SystemError, parsed.message()));
        return;
    }
    LaneState& lane = lanes_[request.lane()];
    if (auto refusal = accept(header, request, lane)) refuse(std::move(request), std::move(*refusal));
    if (lane.batch != nullptr && (lane.batch->items.size() >= kBatchItemsMax || lane.batch->bodyBytes() >= kBatchBytesMax)) {
        submit(lane);
    }
}

void SendProcessor::endOfBatch(plugin::Lane lane) noexcept {
    if (lanes_[lane].batch != nullptr) submit(lanes_[lane]);
}

void SendProcessor::submit(LaneState& lane) noexcept {
    if (lane.batch->items.empty()) {
        // All were refused; the next turn fills it.
        lane.batch->dropTexts();
        return;
    }
    SendBatch* batch = std::exchange(lane.batch, nullptr);
    pool_.submitted(*batch);
    services_.store->append(*batch);
}

std::optional<Refusal> SendProcessor::accept(const protocol::SendMessageRequest& header, plugin::Request& request,
                                             LaneState& lane) {
    const std::int32_t inFlightMax = config_.inFlightMax.load(std::memory_order_relaxed);
    if (pool_.inFlight() >= inFlightMax) {
        return Refusal{ResponseCode::SystemBusy, "[OVERLOAD]system busy, start flow control for a while, " +
                       std::to_string(pool_.inFlight()) + " messages wait for their flush, the oldest for " +
                       std::to_string(pool_.oldestWait().count()) + "ms, limit sendThreadPoolQueueCapacity " + std::to_string(inFlightMax)};
    }
    service::TopicFacts facts;
    if (auto refusal = checks_.topic(header, config_, request.peer(), facts)) return refusal;

    AppendItem item;
    if (auto refusal = checks_.queue(header, facts, request.peer(), lane.chance++, item.queueId)) return refusal;
    item.topic = header.topic;
    item.bornHost = request.peer().remote();
    item.storeHost = identity_.storeHost;
    item.bornTimestamp = header.bornTimestamp;
    item.flag = header.flag;
    item.sysFlag = header.sysFlag | (facts.multiTag ? protocol::kSysFlagMultiTags : 0);
    item.reconsumeTimes = header.reconsumeTimes;
    // Only the broker makes inner batches, of what was sent as a batch.
    if ((item.sysFlag & protocol::kSysFlagInnerBatch) != 0) return illegal(config_.bodyBytesMax);

    if (lane.batch == nullptr) lane.batch = pool_.take();
    if (!header.batch) return addSingle(header, request, *lane.batch, item, facts.compacted);
    return addMany(header, request, *lane.batch, item, facts.batchQueues && innerBatches_);
}

std::optional<Refusal> SendProcessor::addSingle(const protocol::SendMessageRequest& header, plugin::Request& request,
                                                SendBatch& batch, AppendItem item, bool needsKey) {
    item.body = request.body();
    if (item.body.empty()) return Refusal{ResponseCode::SystemError, "the message body is empty"};
    item.properties = header.properties;
    if (services_.retry && protocol::isRetryTopic(item.topic)) {
        if (auto refusal = judgeRetry(header, request, batch, item)) return refusal;
    }
    PropertyScan scan = PropertyScan::of(item.properties);
    if (scan.needsRebuild) {
        item.properties = batch.keepText(cleanProperties(item.properties));
        scan = PropertyScan::of(item.properties);
    }
    if (needsKey && isBlank(scan.keys)) return Refusal{ResponseCode::MessageIllegal, "Required message key is missing"};
    if (scan.innerNum) return illegal(config_.bodyBytesMax);

    const bool separated = protocol::needsPropertySeparator(item.properties);
    item.brokerProperties = separated ? separatedProperties_ : brokerProperties_;
    std::string_view uniqueKey = scan.uniqueKey;
    if (uniqueKey.empty()) {
        uniqueKey = batch.keepText(ids_.next());
        std::string own(item.brokerProperties);
        protocol::appendProperty(own, protocol::kPropertyUniqueKey, uniqueKey);
        item.brokerProperties = batch.keepText(std::move(own));
    }
    item.tagsCode = protocol::tagsCode(scan.tags);
    item.waitStored = scan.waitStored;
    const std::int32_t queueId = item.queueId;
    // Consumers before RocketMQ 4.6.1 leave the mark on what they send back, and nobody would ever commit that.
    const bool sentBack = header.reconsumeTimes > 0 && protocol::isRetryTopic(header.topic);
    if (isTrue(scan.transaction) && !sentBack) {
        // A delay of a transactional message begins when it is committed.
        if (auto refusal = prepareHalf(item, batch)) return refusal;
    } else if (!scan.delayLevel.empty() || scan.timer) {
        if (auto refusal = schedule(item, scan, batch)) return refusal;
    }
    batch.items.push_back(item);
    batch.countBody(item.body.size());
    batch.add(std::move(request), 1, uniqueKey, false, queueId, recallHandle(header, item, uniqueKey, batch));
    return std::nullopt;
}

std::string_view SendProcessor::recallHandle(const protocol::SendMessageRequest& header, const AppendItem& item,
                                             std::string_view uniqueKey, SendBatch& batch) const {
    if (item.topic != protocol::kTopicTimer || protocol::isRetryTopic(header.topic)) return {};
    const std::string_view out = protocol::findProperty(item.properties, protocol::kPropertyTimerOutMs);
    protocol::RecallHandle handle{std::string(header.topic), identity_.brokerName, 0, std::string(uniqueKey)};
    if (std::from_chars(out.data(), out.data() + out.size(), handle.deliverMs).ec != std::errc()) return {};
    ++handle.deliverMs;
    return batch.keepText(handle.encode());
}

std::optional<Refusal> SendProcessor::prepareHalf(AppendItem& item, SendBatch& batch) {
    if (config_.rejectTransactions || !services_.transactions) {
        return Refusal{ResponseCode::NoPermission,
                       "the broker[" + identity_.brokerIp + "] sending transaction message is forbidden"};
    }
    std::string properties;
    services_.transactions->prepare(item, properties);
    item.properties = batch.keepText(std::move(properties));
    item.brokerProperties = {};
    return std::nullopt;
}

std::optional<Refusal> SendProcessor::judgeRetry(const protocol::SendMessageRequest& header, const plugin::Request& request,
                                                 SendBatch& batch, AppendItem& item) {
    auto verdict = services_.retry->judge({header.topic, header.reconsumeTimes, header.maxReconsumeTimes, request.command().version});
    if (verdict.code != ResponseCode::Success) return Refusal{verdict.code, std::move(verdict.remark)};
    if (verdict.deadLetterTopic.empty()) return std::nullopt;
    item.topic = batch.keepText(std::move(verdict.deadLetterTopic));
    item.queueId = 0;
    protocol::Properties properties(item.properties);
    properties.set(protocol::kPropertyDelayLevel, "-1");
    item.properties = batch.keepText(properties.encode());
    return std::nullopt;
}

std::optional<Refusal> SendProcessor::schedule(AppendItem& item, const PropertyScan& scan, SendBatch& batch) {
    if (!scan.delayLevel.empty()) {
        const auto level = parseLevel(scan.delayLevel);
        if (!level) {
            return Refusal{ResponseCode::SystemError, "property DELAY is no number: \"" + std::string(scan.delayLevel) + "\"", false};
        }
        if (*level <= 0 && !scan.timer) return std::nullopt;
    }
    if (!services_.delay) {
        return Refusal{ResponseCode::MessageIllegal,
                       "delayed messages are not enabled on this broker: no plugin provides patchbay.DelaySchedule"};
    }
    std::string properties;
    const Status prepared = services_.delay->prepare(item, properties);
    if (!prepared) {
        const bool wish = prepared.code() == StatusCode::InvalidArgument;
        return Refusal{wish ? ResponseCode::MessageIllegal : ResponseCode::SystemError, prepared.message()};
    }
    if (!properties.empty()) {
        item.properties = batch.keepText(std::move(properties));
        item.brokerProperties = {};
    }
    return std::nullopt;
}

std::optional<Refusal> SendProcessor::addMany(const protocol::SendMessageRequest& header, plugin::Request& request,
                                              SendBatch& batch, const AppendItem& pattern, bool together) {
    if (header.topic.size() > kBatchTopicBytesMax) {
        return Refusal{ResponseCode::MessageIllegal, "message topic length too long " + std::to_string(header.topic.size())};
    }
    if (protocol::isRetryTopic(header.topic)) {
        return Refusal{ResponseCode::MessageIllegal, "batch request does not support retry group " + std::string(header.topic)};
    }
    const PropertyScan shared = PropertyScan::of(header.properties);
    const auto delay = parseLevel(shared.delayLevel).value_or(0);
    if (protocol::transactionType(pattern.sysFlag) != protocol::kSysFlagNotTransactional || delay > 0 || shared.timer || shared.innerNum) {
        return illegal(config_.bodyBytesMax);
    }
    if (static_cast<std::int64_t>(request.body().size()) > config_.bodyBytesMax) {
        return Refusal{ResponseCode::SystemError, "message body size exceeded: the batch has " + std::to_string(request.body().size()) +
                       " bytes, maxMessageSize is " + std::to_string(config_.bodyBytesMax), false};
    }
    const auto count = protocol::countBatch(request.body());
    if (!count || *count == 0 || *count > UINT16_MAX) {
        return Refusal{ResponseCode::SystemError, !count ? "the batch does not divide into whole messages"
                       : *count == 0 ? "the batch is empty" : "a batch holds at most 65535 messages", false};
    }
    if (together && !shared.uniqueKey.empty() && *count <= INT16_MAX) {
        addTogether(header, request, batch, pattern, shared, *count);
        return std::nullopt;
    }
    // Consumers answer requests by the cluster that they find in the message, so each message of a batch gets what the
    // batch has: its own properties, and the broker's.
    std::string common = cleanProperties(header.properties) + brokerProperties_;
    const std::string_view plain = batch.keepText(common);
    const std::string_view separated = batch.keepText(protocol::kPropertyEnd + std::move(common));

    const std::size_t first = batch.items.size();
    protocol::BatchReader reader(request.body());
    protocol::BatchEntry entry;
    bool waits = true;
    while (reader.next(entry)) {
        AppendItem& item = batch.items.emplace_back(pattern);
        item.flag = entry.flag;
        item.body = entry.body;
        item.properties = entry.properties;
        const PropertyScan scan = PropertyScan::of(entry.properties);
        if (scan.innerNum) {
            batch.items.resize(first);
            return illegal(config_.bodyBytesMax);
        }
        const auto wish = parseLevel(scan.delayLevel).value_or(0);
        if (wish > 0 || scan.timer || isTrue(scan.transaction) || item.body.empty()) {
            batch.items.resize(first);
            return Refusal{ResponseCode::MessageIllegal, "a message of a batch can be neither delayed, nor transactional, nor empty"};
        }
        const bool another = batch.items.size() > first + 1 && scan.waitStored != waits;
        waits = scan.waitStored;
        if (another) {
            batch.items.resize(first);
            return Refusal{ResponseCode::MessageIllegal, "the messages of a batch differ in WAIT: they wait for the store together or not at all"};
        }
        item.brokerProperties = protocol::needsPropertySeparator(item.properties) ? separated : plain;
        item.tagsCode = protocol::tagsCode(scan.tags);
        item.waitStored = shared.waitStored;
        item.groupSize = 1;
    }
    batch.items[first].groupSize = static_cast<std::uint16_t>(*count);
    batch.countBody(request.body().size());
    batch.add(std::move(request), *count, shared.uniqueKey, true, pattern.queueId);
    return std::nullopt;
}

void SendProcessor::addTogether(const protocol::SendMessageRequest& header, plugin::Request& request, SendBatch& batch, AppendItem item,
                                const PropertyScan& shared, std::uint32_t count) {
    std::string properties = cleanProperties(header.properties);
    protocol::appendProperty(properties, protocol::kPropertyInnerNum, std::to_string(count));
    item.sysFlag |= protocol::kSysFlagInnerBatch | protocol::kSysFlagNeedUnwrap;
    item.body = request.body();
    item.properties = batch.keepText(std::move(properties));
    item.brokerProperties = brokerProperties_;
    item.tagsCode = protocol::tagsCode(shared.tags);
    item.waitStored = shared.waitStored;
    batch.items.push_back(item);
    batch.countBody(item.body.size());
    batch.add(std::move(request), 1, shared.uniqueKey, true, item.queueId);
}

void SendProcessor::refuse(plugin::Request request, Refusal refusal) {
    if (request.command().isOneway()) pool_.untold(request, refusal.remark);
    plugin::Response response(refusal.code, std::move(refusal.remark));
    if (refusal.withFields) facts_.write(response.fields());
    std::move(request).respond(std::move(response));
}

}  // namespace patchbay::plugins::send
