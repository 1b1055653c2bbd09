#include "Reply.h"

#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/util/Hash.h"

#include <utility>

namespace patchbay::plugins::reply {

using protocol::ResponseCode;

void ReplyFacts::write(protocol::FieldList& fields) const {
    fields.add(protocol::kPropertyMsgRegion, region);
    fields.add(protocol::kPropertyTraceSwitch, traceOn);
}

Reply::Reply(plugin::Request request, const protocol::SendMessageRequest& header, std::int32_t queueId, const ReplyFacts& facts,
             std::function<void()> ended)
    : request_(std::move(request)), facts_(facts), ended_(std::move(ended)), header_(header),
      producerGroup_(header.producerGroup), topic_(header.topic), defaultTopic_(header.defaultTopic), queueId_(queueId),
      bornHost_(request_.peer().remote()), properties_(header.properties), body_(request_.body()) {
    properties_.set(protocol::kPropertyMsgRegion, facts.region);
    properties_.set(protocol::kPropertyTraceSwitch, facts.traceOn ? "true" : "false");
    request_.detach();
    header_.producerGroup = producerGroup_;
    header_.topic = topic_;
    header_.defaultTopic = defaultTopic_;
    header_.properties = {};
}

protocol::RemotingCommand Reply::pushCommand(std::int64_t nowMs) const {
    protocol::Properties properties = properties_;
    properties.set(protocol::kPropertyPushReplyTime, std::to_string(nowMs));
    protocol::FieldList fields;
    fields.add("producerGroup", header_.producerGroup);
    fields.add("topic", header_.topic);
    fields.add("defaultTopic", header_.defaultTopic);
    fields.add("defaultTopicQueueNums", header_.defaultTopicQueueNums);
    fields.add("queueId", queueId_);
    fields.add("sysFlag", header_.sysFlag);
    fields.add("bornTimestamp", header_.bornTimestamp);
    fields.add("flag", header_.flag);
    fields.add("properties", properties.encode());
    fields.add("reconsumeTimes", header_.reconsumeTimes);
    fields.add("unitMode", header_.unitMode);
    fields.add("bornHost", bornHost_.toString());
    fields.add("storeHost", facts_.storeHost.toString());
    fields.add("storeTimestamp", nowMs);
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::PushReplyMessageToClient);
    command.setFields(fields);
    command.body = body_;
    return command;
}

void Reply::pushed(ResponseCode code, std::string remark) {
    code_ = code;
    remark_ = std::move(remark);
}

void Reply::prepareItem() {
    propertiesText_ = properties_.encode();
    service::AppendItem& item = items.emplace_back();
    item.topic = header_.topic;
    item.queueId = queueId_;
    item.body = body_;
    item.properties = propertiesText_;
    item.bornHost = bornHost_;
    item.storeHost = facts_.storeHost;
    item.bornTimestamp = header_.bornTimestamp;
    item.tagsCode = protocol::tagsCode(properties_.get(protocol::kPropertyTags));
    item.flag = header_.flag;
    item.sysFlag = header_.sysFlag;
    item.reconsumeTimes = header_.reconsumeTimes;
    item.waitStored = properties_.get(protocol::kPropertyWaitStoreOk) != "false";
}

void Reply::answer() {
    plugin::Response response(code_, std::move(remark_));
    auto& fields = response.fields();
    facts_.write(fields);
    if (!items.empty() && service::isStored(items.front().status)) {
        char id[protocol::kMessageIdCharsV6];
        const auto& item = items.front();
        fields.add("msgId", std::string_view(id, protocol::writeMessageId(id, item.storeHost, item.physicalOffset)));
        fields.add("queueId", queueId_);
        fields.add("queueOffset", item.queueOffset);
    } else if (code_ == ResponseCode::Success) {
        fields.add("msgId", "0");
        fields.add("queueId", queueId_);
        fields.add("queueOffset", std::int64_t{0});
    }
    std::move(request_).respond(std::move(response));
}

void Reply::finish(std::unique_ptr<Reply> reply) noexcept {
    const auto ended = std::move(reply->ended_);
    reply->answer();
    reply.reset();
    ended();
}

}  // namespace patchbay::plugins::reply
