// ConsumerCore's answers to brokers: offsets set by an administrator (220), progress (221), running info (307).
#include "consumer/ConsumerCore.h"
#include "message/Namespace.h"
#include "patchbay/protocol/json/Body.h"

#include <utility>

namespace patchbay::client {

using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

// Two forms: a map with queues as keys, and a list, which brokers send when a C++ tool asked for the reset.
std::map<MessageQueue, std::int64_t> offsetsIn(std::string_view body) {
    std::map<MessageQueue, std::int64_t> offsets;
    const auto document = json::Document::parse(body);
    if (!document) return offsets;
    const auto table = document->root()["offsetTable"];
    for (const auto& [key, value] : table) {
        auto queue = table.isArray() ? MessageQueue::read(value) : MessageQueue::fromJson(key);
        const auto offset = table.isArray() ? value["offset"].integer() : value.integer();
        if (queue && offset) offsets[*queue] = *offset;
    }
    return offsets;
}

void writeQueue(json::Writer& writer, QueueConsumer& queue, std::int64_t committed, std::int64_t nowMs, MonotonicTime now) {
    const auto ago = [&](MonotonicTime time) {
        return time == MonotonicTime() ? std::int64_t{0} : nowMs - std::chrono::duration_cast<std::chrono::milliseconds>(now - time).count();
    };
    const auto& inbox = queue.inbox();
    writer.beginObject();
    writer.member("cachedMsgCount", static_cast<std::int64_t>(inbox.count()));
    writer.member("cachedMsgMaxOffset", inbox.last());
    writer.member("cachedMsgMinOffset", inbox.first());
    writer.member("cachedMsgSizeInMiB", static_cast<std::int64_t>(inbox.bytes() >> 20));
    writer.member("commitOffset", committed);
    writer.member("droped", queue.isDropped());
    writer.member("lastConsumeTimestamp", ago(queue.lastConsume));
    writer.member("lastLockTimestamp", ago(queue.lockedAt));
    writer.member("lastPullTimestamp", ago(queue.lastPull()));
    writer.member("locked", queue.locked);
    writer.member("transactionMsgCount", 0);
    writer.member("transactionMsgMaxOffset", 0);
    writer.member("transactionMsgMinOffset", 0);
    writer.member("tryUnlockTimes", 0);
    writer.endObject();
}

}  // namespace

void ConsumerCore::serverRequest(Channel& channel, const RemotingCommand& request, protocol::SerializeType type) {
    const auto code = static_cast<RequestCode>(request.code);
    if (code == RequestCode::ResetConsumerClientOffset) return reset(offsetsIn(request.body));
    auto answer = RemotingCommand::response(ResponseCode::Success, request.opaque);
    if (code == RequestCode::GetConsumerStatusFromClient) {
        answer.body = consumerStatus(std::string(request.find("topic").value_or("")));
        return channel.reply(answer, type);
    }
    if (code == RequestCode::GetConsumerRunningInfo) {
        answer.body = runningInfo();
        return channel.reply(answer, type);
    }
    if (sink_ != nullptr && sink_->serverRequest(channel, request, type)) return;
    answer.code = static_cast<std::int32_t>(ResponseCode::RequestCodeNotSupported);
    answer.remark = "this kind of consumer does not support it";
    channel.reply(answer, type);
}

// What is in work may still be finished, but its progress does not count any more: the queues begin anew at the given offsets.
void ConsumerCore::reset(const std::map<MessageQueue, std::int64_t>& offsets) {
    if (kind_.lite) return;
    instance_->log().info("an administrator has set offsets of group " + group_);
    for (const auto& [queue, offset] : offsets) {
        const auto found = queues_.find(queue);
        if (found == queues_.end()) continue;
        const auto consumer = found->second;
        offsets_->freeze(queue, offset);
        dropQueue(consumer, [self = shared_from_this()] { self->rebalanceSoon(); });
    }
}

std::string ConsumerCore::consumerStatus(const std::string& topic) const {
    std::string text;
    json::Writer writer(text);
    writer.beginObject();
    writer.key("messageQueueTable");
    writer.beginObject();
    for (const auto& [queue, consumer] : queues_) {
        const auto offset = offsets_->known(queue);
        if ((!topic.empty() && queue.topic != topic) || offset < 0) continue;
        writer.objectKey(queue.toJson());
        writer.integer(offset);
    }
    writer.endObject();
    writer.endObject();
    return text;
}

std::string ConsumerCore::runningInfo() const {
    std::map<std::string, std::string> properties{
        {"PROP_CLIENT_VERSION", std::to_string(protocol::kVersion)},
        {"PROP_CONSUMER_START_TIMESTAMP", std::to_string(startedMs_)},
        {"PROP_CONSUME_TYPE", std::string(toString(kind_.lite ? protocol::ConsumeType::Actively : protocol::ConsumeType::Passively))},
        {"PROP_CONSUMEORDERLY", kind_.orderly ? "true" : "false"},
        {"PROP_NAMESERVER_ADDR", instance_->options().nameServers},
        {"allocateMessageQueueStrategy", std::string(allocation_->name())},
        {"consumerGroup", group_},
        {"messageModel", isClustering() ? "CLUSTERING" : "BROADCASTING"},
    };
    if (sink_ != nullptr) sink_->describe(properties);
    const auto nowMs = instance_->runtime().clock().wallMs();
    const auto now = instance_->runtime().clock().now();
    std::string text;
    json::Writer writer(text);
    writer.beginObject();
    writer.key("mqPopTable");
    writer.beginObject();
    writer.endObject();
    writer.key("mqTable");
    writer.beginObject();
    for (const auto& [queue, consumer] : queues_) {
        writer.objectKey(queue.toJson());
        writeQueue(writer, *consumer, offsets_->known(queue), nowMs, now);
    }
    writer.endObject();
    writer.key("properties");
    writer.beginObject();
    for (const auto& [name, value] : properties) writer.member(name, value);
    writer.endObject();
    writer.key("statusTable");
    writer.beginObject();
    writer.endObject();
    writer.key("subscriptionSet");
    writer.beginArray();
    for (const auto& [topic, data] : subscriptions_) data.write(writer);
    writer.endArray();
    writer.endObject();
    return text;
}

}  // namespace patchbay::client
