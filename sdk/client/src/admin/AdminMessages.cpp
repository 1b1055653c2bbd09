// Offsets and messages.
#include "admin/AdminImpl.h"
#include "message/MessageData.h"
#include "patchbay/protocol/headers/ConsumerOffset.h"
#include "patchbay/protocol/headers/MessageQuery.h"
#include "patchbay/protocol/headers/PullMessage.h"
#include "patchbay/protocol/json/Body.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>
#include <limits>

namespace patchbay::client {

using protocol::RemotingCommand;
using protocol::RequestCode;

namespace {

constexpr std::int32_t kIdQueryMax = 32;
constexpr std::string_view kPullGroup = "TOOLS_CONSUMER";

RemotingCommand queueCommand(RequestCode code, const MessageQueue& queue) {
    protocol::QueueRequest header;
    header.topic = queue.topic;
    header.queueId = queue.queueId;
    return commandOf(code, header);
}

std::string describe(const MessageQueue& queue) {
    return "queue " + std::to_string(queue.queueId) + " of '" + queue.topic + "' on " + queue.brokerName;
}

/// Body of 222.
struct ResetOffsets {
    std::map<MessageQueue, std::int64_t> offsets;
    static Result<ResetOffsets> fromJson(std::string_view text) {
        auto document = json::Document::parse(text);
        if (!document) return document.error();
        ResetOffsets result;
        for (const auto& [key, value] : document->root()["offsetTable"]) {
            auto queue = MessageQueue::fromJson(key);
            const auto offset = value.integer();
            if (queue && offset) result.offsets[*queue] = *offset;
        }
        return result;
    }
};

}  // namespace

Result<std::int64_t> AdminClient::consumerOffset(std::string_view group, const MessageQueue& queue) {
    const auto address = impl_->home(queue);
    if (!address) return address.error();
    protocol::QueryConsumerOffsetRequest header;
    header.consumerGroup = group;
    header.topic = queue.topic;
    header.queueId = queue.queueId;
    header.setZeroIfNotFound = false;
    return numberOf(impl_->ask(*address, commandOf(RequestCode::QueryConsumerOffset, header)), "offset",
                    "the offset of group '" + std::string(group) + "' in " + describe(queue));
}

Status AdminClient::updateConsumerOffset(std::string_view group, const MessageQueue& queue, std::int64_t offset) {
    const auto address = impl_->home(queue);
    if (!address) return address.error();
    protocol::UpdateConsumerOffsetRequest header;
    header.consumerGroup = group;
    header.topic = queue.topic;
    header.queueId = queue.queueId;
    header.commitOffset = offset;
    return succeeded(impl_->ask(*address, commandOf(RequestCode::UpdateConsumerOffset, header)), "setting an offset in " + describe(queue));
}

Result<std::map<MessageQueue, std::int64_t>> AdminClient::resetOffsets(std::string_view group, std::string_view topic,
                                                                       std::int64_t timestampMs, bool force) {
    const auto addresses = impl_->brokersOf(std::string(topic));
    if (!addresses) return addresses.error();
    auto command = RemotingCommand::request(RequestCode::InvokeBrokerToResetOffset);
    command.set("group", group);
    command.set("topic", topic);
    command.set("queueId", "-1");
    command.set("offset", "-1");
    command.set("timestamp", std::to_string(timestampMs));
    command.set("isForce", force ? "true" : "false");
    std::map<MessageQueue, std::int64_t> all;
    for (const auto& address : *addresses) {
        auto one = bodyOf<ResetOffsets>(impl_->ask(address, command), "resetting the offsets of group '" + std::string(group) + "'");
        if (!one) return one.error();
        all.merge(one->offsets);
    }
    return all;
}

Status AdminClient::cloneOffsets(const std::string& broker, std::string_view fromGroup, std::string_view toGroup, std::string_view topic,
                                 bool offline) {
    auto command = RemotingCommand::request(RequestCode::CloneGroupOffset);
    command.set("srcGroup", fromGroup);
    command.set("destGroup", toGroup);
    command.set("topic", topic);
    command.set("offline", offline ? "true" : "false");
    return succeeded(impl_->ask(broker, std::move(command)), "cloning offsets");
}

Result<std::int64_t> AdminClient::minOffset(const MessageQueue& queue) {
    const auto address = impl_->home(queue);
    if (!address) return address.error();
    return numberOf(impl_->ask(*address, queueCommand(RequestCode::GetMinOffset, queue)), "offset", describe(queue));
}

Result<std::int64_t> AdminClient::maxOffset(const MessageQueue& queue) {
    const auto address = impl_->home(queue);
    if (!address) return address.error();
    return numberOf(impl_->ask(*address, queueCommand(RequestCode::GetMaxOffset, queue)), "offset", describe(queue));
}

Result<std::int64_t> AdminClient::offsetAt(const MessageQueue& queue, std::int64_t timestampMs) {
    const auto address = impl_->home(queue);
    if (!address) return address.error();
    protocol::SearchOffsetRequest header;
    header.topic = queue.topic;
    header.queueId = queue.queueId;
    header.timestamp = timestampMs;
    return numberOf(impl_->ask(*address, commandOf(RequestCode::SearchOffsetByTimestamp, header)), "offset", describe(queue));
}

Result<std::int64_t> AdminClient::earliestStoreTime(const MessageQueue& queue) {
    const auto address = impl_->home(queue);
    if (!address) return address.error();
    return numberOf(impl_->ask(*address, queueCommand(RequestCode::GetEarliestMsgStoretime, queue)), "timestamp", describe(queue));
}

Result<ReceivedMessage> AdminClient::messageByOffsetId(std::string_view topic, std::string_view offsetMessageId) {
    const auto id = protocol::MessageId::parse(offsetMessageId);
    if (!id) return id.error();
    protocol::ViewMessageRequest header;
    header.topic = topic;
    header.offset = id->physicalOffset;
    const auto answer = impl_->ask(id->storeHost.toString(), commandOf(RequestCode::ViewMessageById, header));
    if (auto status = succeeded(answer, "message " + std::string(offsetMessageId)); !status) return status;
    auto messages = decodeMessages(answer->body, impl_->nameOf(std::string(topic), id->storeHost.toString()));
    if (!messages) return messages.error();
    if (messages->empty()) return Status(StatusCode::NotFound, "no message has the id " + std::string(offsetMessageId));
    return std::move(messages->front());
}

namespace {

Status addMessages(const Result<RemotingCommand>& answer, std::string_view brokerName, std::vector<ReceivedMessage>& into) {
    if (!answer) return answer.error();
    if (answer->code == static_cast<std::int32_t>(protocol::ResponseCode::QueryNotFound)) return Status::ok();
    if (auto status = succeeded(answer, "looking for messages"); !status) return status;
    auto messages = decodeMessages(answer->body, brokerName);
    if (!messages) return messages.error();
    std::move(messages->begin(), messages->end(), std::back_inserter(into));
    return Status::ok();
}

bool hasKey(const ReceivedMessage& message, std::string_view key) {
    const auto keys = " " + std::string(message.keys()) + " ";
    return keys.find(" " + std::string(key) + " ") != std::string::npos;
}

}  // namespace

Result<ReceivedMessage> AdminClient::messageById(std::string_view topic, std::string_view id) {
    const auto brokers = impl_->namedBrokersOf(std::string(topic));
    if (!brokers) return brokers.error();
    protocol::QueryMessageRequest header;
    header.topic = topic;
    header.key = id;
    header.maxNum = kIdQueryMax;
    header.endTimestamp = std::numeric_limits<std::int64_t>::max();
    header.uniqueKey = true;
    std::vector<ReceivedMessage> found;
    for (const auto& broker : *brokers) {
        const auto answer = impl_->ask(broker.address, commandOf(RequestCode::QueryMessage, header));
        if (auto status = addMessages(answer, broker.name, found); !status) return status;
    }
    // Broker indexes go by hash, so others may be among them.
    for (auto& message : found) {
        if (message.id() == id) return std::move(message);
    }
    return Status(StatusCode::NotFound, "topic '" + std::string(topic) + "' has no message with the id " + std::string(id));
}

Result<std::vector<ReceivedMessage>> AdminClient::messagesByKey(std::string_view topic, std::string_view key, std::int32_t maxNumber,
                                                                std::int64_t beginMs, std::int64_t endMs) {
    const auto brokers = impl_->namedBrokersOf(std::string(topic));
    if (!brokers) return brokers.error();
    protocol::QueryMessageRequest header;
    header.topic = topic;
    header.key = key;
    header.maxNum = maxNumber;
    header.beginTimestamp = beginMs;
    header.endTimestamp = endMs;
    std::vector<ReceivedMessage> found;
    for (const auto& broker : *brokers) {
        const auto answer = impl_->ask(broker.address, commandOf(RequestCode::QueryMessage, header));
        if (auto status = addMessages(answer, broker.name, found); !status) return status;
    }
    std::erase_if(found, [&](const ReceivedMessage& message) { return message.topic() != topic || !hasKey(message, key); });
    return found;
}

Result<std::vector<ReceivedMessage>> AdminClient::messagesAt(const MessageQueue& queue, std::int64_t offset, std::int32_t maxNumber) {
    const auto address = impl_->home(queue);
    if (!address) return address.error();
    protocol::PullMessageRequest header;
    header.consumerGroup = kPullGroup;
    header.topic = queue.topic;
    header.queueId = queue.queueId;
    header.queueOffset = offset;
    header.maxMsgNums = maxNumber;
    header.sysFlag = protocol::kPullFlagSubscription;
    header.subscription = protocol::kSubscribeAll;
    header.expressionType = protocol::kExpressionTypeTag;
    const auto answer = impl_->ask(*address, commandOf(RequestCode::PullMessage, header));
    if (!answer) return answer.error();
    const auto code = static_cast<protocol::ResponseCode>(answer->code);
    if (code == protocol::ResponseCode::PullNotFound || code == protocol::ResponseCode::PullRetryImmediately) return std::vector<ReceivedMessage>();
    if (code == protocol::ResponseCode::PullOffsetMoved) {
        return Status(StatusCode::OutOfRange, "offset " + std::to_string(offset) + " is outside " + describe(queue) + "; see minOffset() and maxOffset()");
    }
    if (auto status = succeeded(answer, "reading " + describe(queue)); !status) return status;
    return decodeMessages(answer->body, queue.brokerName);
}

Result<DirectConsumption> AdminClient::consumeDirectly(std::string_view group, std::string_view clientId, std::string_view topic,
                                                       std::string_view offsetMessageId) {
    const auto id = protocol::MessageId::parse(offsetMessageId);
    if (!id) return id.error();
    auto command = RemotingCommand::request(RequestCode::ConsumeMessageDirectly);
    command.set("consumerGroup", group);
    command.set("clientId", clientId);
    command.set("topic", topic);
    command.set("msgId", offsetMessageId);
    const auto answer = impl_->ask(id->storeHost.toString(), std::move(command), std::chrono::seconds(12));
    if (auto status = succeeded(answer, "having '" + std::string(clientId) + "' consume a message"); !status) return status;
    auto document = json::Document::parse(answer->body);
    if (!document) return document.error();
    const auto root = document->root();
    DirectConsumption result;
    result.result = root["consumeResult"].text().value_or("");
    result.remark = root["remark"].text().value_or("");
    result.spent = std::chrono::milliseconds(root["spentTimeMills"].integer().value_or(0));
    return result;
}

}  // namespace patchbay::client
