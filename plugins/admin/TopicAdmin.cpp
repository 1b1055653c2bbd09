#include "TopicAdmin.h"

#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/route/AdminBodies.h"

#include <algorithm>

namespace patchbay::plugins::admin {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

/// "+a=b,-c" as a table whose names keep their sign; nothing when it is not of that form, with the reason.
Result<protocol::Attributes> parseAttributes(std::string_view text) {
    protocol::Attributes attributes;
    while (!text.empty()) {
        const auto comma = text.find(',');
        const std::string_view item = text.substr(0, comma);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
        const auto equals = item.find('=');
        const bool removes = equals == std::string_view::npos;
        const std::string name(item.substr(0, equals));
        if (!name.starts_with(removes ? '-' : '+')) {
            return Status(StatusCode::InvalidArgument, (removes ? "delete attribute format is wrong: " : "add/alter attribute format is wrong: ") + name);
        }
        const std::string value(removes ? std::string_view() : item.substr(equals + 1));
        if (!attributes.emplace(name, value).second) return Status(StatusCode::InvalidArgument, "key duplication: " + name);
    }
    return attributes;
}

}  // namespace

Response TopicAdmin::answer(const plugin::Request& request) {
    switch (static_cast<RequestCode>(request.command().code)) {
        case RequestCode::UpdateAndCreateTopic: return update(request);
        case RequestCode::UpdateAndCreateTopicList: return updateList(request);
        case RequestCode::DeleteTopicInBroker: return remove(request);
        case RequestCode::GetTopicConfig: return get(request);
        case RequestCode::GetTopicStatsInfo: return stats(request);
        case RequestCode::GetAllTopicConfig: return all();
        default: return systemTopics();
    }
}

std::optional<Response> TopicAdmin::refuse(const protocol::TopicConfig& config) const {
    if (const auto valid = protocol::validateTopicName(config.topicName); !valid) {
        return refusal(ResponseCode::InvalidParameter, valid.message());
    }
    if (config_.refuseSystemTopics && services_.topics->isSystem(config.topicName)) {
        return refusal(ResponseCode::InvalidParameter, "The topic[" + config.topicName + "] is conflict with system topic.");
    }
    for (const std::int32_t queues : {config.readQueueNums, config.writeQueueNums}) {
        // Queue ids are 16 bits wide everywhere else, and statistics walk all queues.
        if (queues < 0 || queues > protocol::kTopicQueuesMax) {
            return refusal(ResponseCode::InvalidParameter, "A topic has from 0 to " + std::to_string(protocol::kTopicQueuesMax) + " queues, not " +
                                                               std::to_string(queues) + ".");
        }
    }
    const auto type = config.attributes.find("+message.type");
    if (!config_.mixedTopics && type != config.attributes.end() && type->second == "MIXED") {
        return refusal(ResponseCode::InvalidParameter, "MIXED message type is not supported.");
    }
    return std::nullopt;
}

Response TopicAdmin::update(const plugin::Request& request) {
    const auto header = protocol::CreateTopicRequest::parse(request.command());
    if (!header) return Response(header.error());
    const auto filterType = protocol::parseTopicFilterType(header->topicFilterType);
    if (!filterType) {
        return refusal(ResponseCode::SystemError, "topicFilterType = [" + std::string(header->topicFilterType) + "] value invalid");
    }
    protocol::TopicConfig config;
    config.topicName = header->topic;
    config.readQueueNums = header->readQueueNums;
    config.writeQueueNums = header->writeQueueNums;
    config.perm = static_cast<std::uint32_t>(header->perm);
    config.topicFilterType = *filterType;
    config.topicSysFlag = header->topicSysFlag;
    config.order = header->order;
    auto attributes = parseAttributes(header->attributes);
    if (!attributes) return refusal(ResponseCode::SystemError, attributes.error().message());
    config.attributes = std::move(*attributes);
    if (auto refused = refuse(config)) return std::move(*refused);
    if (const auto stored = services_.topics->put(config); !stored) return refusal(ResponseCode::SystemError, stored.message());
    return doneAsBorn();
}

Response TopicAdmin::updateList(const plugin::Request& request) {
    auto list = protocol::TopicConfigList::fromJson(request.body());
    if (!list) return refusal(ResponseCode::SystemError, list.error().message());
    for (const auto& config : list->topicConfigList) {
        if (auto refused = refuse(config)) return std::move(*refused);
        // RocketMQ ends the whole call at the first topic that is what it should be already; so do we, because a tool that
        // sends such a list expects the same topics afterwards from every broker.
        if (const auto stored = services_.topics->get(config.topicName); stored && *stored == config) {
            return doneAsBorn();
        }
    }
    if (const auto stored = services_.topics->putAll(std::move(list->topicConfigList)); !stored) {
        return refusal(ResponseCode::SystemError, stored.message());
    }
    return doneAsBorn();
}

Response TopicAdmin::remove(const plugin::Request& request) {
    const auto header = protocol::TopicRequest::parse(request.command());
    if (!header) return Response(header.error());
    const std::string topic(header->topic);
    if (std::ranges::all_of(topic, [](char c) { return c == ' '; })) {
        return refusal(ResponseCode::InvalidParameter, "The specified topic is blank.");
    }
    if (services_.topics->isSystem(topic)) {
        return refusal(ResponseCode::InvalidParameter, "The topic[" + topic + "] is conflict with system topic.");
    }
    const Status removed = services_.topics->remove(topic);
    if (!removed && removed.code() != StatusCode::NotFound) return Response(removed);
    // On disk before the queues begin at 0 again, so that a kill in between cannot leave old offsets to a new topic.
    services_.offsets->removeTopic(topic);
    if (const auto persisted = services_.offsets->persist(); !persisted) return Response(persisted);
    if (const auto deleted = services_.store->deleteTopic(topic); !deleted && deleted.code() != StatusCode::NotFound) {
        return Response(deleted);
    }
    return Response(ResponseCode::Success);
}

Response TopicAdmin::get(const plugin::Request& request) const {
    const auto header = protocol::TopicRequest::parse(request.command());
    if (!header) return Response(header.error());
    const auto config = services_.topics->get(header->topic);
    if (!config) {
        return refusal(ResponseCode::TopicNotExist, "No topic in this broker. topic: " + std::string(header->topic));
    }
    return withBody(config->toJson());
}

Response TopicAdmin::stats(const plugin::Request& request) const {
    const auto header = protocol::TopicRequest::parse(request.command());
    if (!header) return Response(header.error());
    const auto config = services_.topics->get(header->topic);
    if (!config) return refusal(ResponseCode::TopicNotExist, "topic[" + std::string(header->topic) + "] not exist");
    protocol::TopicStatsTable table;
    for (std::int32_t queue = 0; queue < std::max(config->writeQueueNums, config->readQueueNums); ++queue) {
        const auto range = services_.store->range(header->topic, queue);
        protocol::TopicStatsTable::Entry entry{range.min, range.max, 0};
        if (range.max > range.min) {
            entry.lastUpdateTimestamp = services_.store->storeTimeAt(header->topic, queue, range.max - 1).value_or(0);
        }
        table.offsetTable.emplace(protocol::MessageQueue{config->topicName, identity_.brokerName, queue}, entry);
    }
    if (services_.traffic) {
        if (const auto rate = services_.traffic->find("TOPIC_PUT_NUMS", header->topic)) table.topicPutTps = rate->minute.tps;
    }
    return withBody(table.toJson());
}

Response TopicAdmin::all() const {
    protocol::TopicConfigSerializeWrapper wrapper;
    wrapper.dataVersion = services_.topics->dataVersion();
    for (auto& config : services_.topics->all()) {
        std::string name = config.topicName;
        wrapper.topicConfigTable.emplace(std::move(name), std::move(config));
    }
    Response response = withBody(wrapper.toJson());
    response.fields().markPresent();
    return response;
}

Response TopicAdmin::systemTopics() const { return withBody(protocol::TopicList{services_.topics->systemTopics(), {}}.toJson()); }

}  // namespace patchbay::plugins::admin
