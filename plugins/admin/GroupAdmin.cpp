#include "GroupAdmin.h"

#include "patchbay/protocol/Language.h"
#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/route/AdminBodies.h"

#include <algorithm>
#include <set>

namespace patchbay::plugins::admin {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

std::vector<protocol::ClientConnection> connections(const std::vector<service::ClientInfo>& clients) {
    std::vector<protocol::ClientConnection> set;
    set.reserve(clients.size());
    for (const auto& client : clients) {
        set.push_back({client.peer->remote().toString(), client.clientId,
                       std::string(protocol::toString(static_cast<protocol::Language>(client.language))), client.version});
    }
    return set;
}

}  // namespace

Response GroupAdmin::answer(const plugin::Request& request) {
    switch (static_cast<RequestCode>(request.command().code)) {
        case RequestCode::UpdateAndCreateSubscriptiongroup: return update(request);
        case RequestCode::UpdateAndCreateSubscriptiongroupList: return updateList(request);
        case RequestCode::GetAllSubscriptiongroupConfig: return withBody(services_.groups->toJson());
        case RequestCode::DeleteSubscriptiongroup: return remove(request);
        case RequestCode::GetSubscriptiongroupConfig: return get(request);
        case RequestCode::GetConsumerConnectionList: return consumers(request);
        case RequestCode::GetProducerConnectionList: return producers(request);
        case RequestCode::QueryTopicConsumeByWho: return groupsOfTopic(request);
        default: return topicsOfGroup(request);
    }
}

Response GroupAdmin::update(const plugin::Request& request) {
    const auto config = protocol::SubscriptionGroupConfig::fromJson(request.body());
    if (!config) return refusal(ResponseCode::SystemError, config.error().message());
    return put(*config);
}

Response GroupAdmin::put(const protocol::SubscriptionGroupConfig& config) {
    // RocketMQ 5.3.3 takes any name here and refuses it on every other way; later releases refuse it here too, with this code.
    if (service::GroupFacts known; !services_.groups->find(config.groupName, known)) {
        if (const auto valid = protocol::validateGroupName(config.groupName); !valid) {
            return refusal(ResponseCode::InvalidParameter, valid.message());
        }
    }
    if (const auto stored = services_.groups->put(config); !stored) return refusal(ResponseCode::SystemError, stored.message());
    services_.clients->notifyChanged(config.groupName);
    return Response(ResponseCode::Success);
}

Response GroupAdmin::updateList(const plugin::Request& request) {
    const auto list = protocol::SubscriptionGroupList::fromJson(request.body());
    if (!list) return refusal(ResponseCode::SystemError, list.error().message());
    for (const auto& config : list->groupConfigList) {
        if (Response done = put(config); done.code != ResponseCode::Success) return done;
    }
    return Response(ResponseCode::Success);
}

Response GroupAdmin::remove(const plugin::Request& request) {
    const auto header = protocol::DeleteSubscriptionGroupRequest::parse(request.command());
    if (!header) return Response(header.error());
    const Status removed = services_.groups->remove(header->groupName);
    if (!removed && removed.code() != StatusCode::NotFound) return Response(removed);
    if (header->cleanOffset) services_.offsets->removeGroup(header->groupName);
    return Response(ResponseCode::Success);
}

Response GroupAdmin::get(const plugin::Request& request) const {
    const auto header = protocol::GroupRequest::parse(request.command());
    if (!header) return Response(header.error());
    service::GroupFacts facts;
    if (!services_.groups->findOrCreate(header->group, facts)) {
        return refusal(ResponseCode::SubscriptionGroupNotExist, "No group in this broker");
    }
    const auto config = services_.groups->get(header->group);
    return config ? withBody(config->toJson()) : refusal(ResponseCode::SubscriptionGroupNotExist, "No group in this broker");
}

Response GroupAdmin::consumers(const plugin::Request& request) const {
    if (auto refused = withoutField(request, {"consumerGroup"})) return std::move(*refused);
    const std::string group(fieldOf(request, "consumerGroup"));
    const auto state = services_.clients->group(group);
    if (!state.online) {
        return refusal(ResponseCode::ConsumerNotOnline, "the consumer group[" + group + "] not online");
    }
    protocol::ConsumerConnection body;
    body.connectionSet = connections(services_.clients->consumers(group));
    for (auto& subscription : services_.clients->subscriptions(group)) {
        std::string topic = subscription.topic;
        body.subscriptionTable.emplace(std::move(topic), std::move(subscription));
    }
    body.consumeType = static_cast<protocol::ConsumeType>(state.consumeType);
    body.messageModel = static_cast<protocol::MessageModel>(state.model);
    body.consumeFromWhere = static_cast<protocol::ConsumeFromWhere>(state.consumeFromWhere);
    return withBody(body.toJson());
}

Response GroupAdmin::producers(const plugin::Request& request) const {
    if (auto refused = withoutField(request, {"producerGroup"})) return std::move(*refused);
    const std::string group(fieldOf(request, "producerGroup"));
    const auto clients = services_.clients->producers(group);
    if (clients.empty()) return refusal(ResponseCode::SystemError, "the producer group[" + group + "] not exist");
    return withBody(protocol::ProducerConnection{connections(clients)}.toJson());
}

Response GroupAdmin::groupsOfTopic(const plugin::Request& request) const {
    if (auto refused = withoutField(request, {"topic"})) return std::move(*refused);
    const std::string_view topic = fieldOf(request, "topic");
    std::set<std::string> groups;
    for (auto& group : services_.clients->groupsOf(topic)) groups.insert(std::move(group));
    for (auto& group : services_.offsets->groupsOf(topic)) groups.insert(std::move(group));
    return withBody(protocol::GroupList{{groups.begin(), groups.end()}}.toJson());
}

Response GroupAdmin::topicsOfGroup(const plugin::Request& request) const {
    if (auto refused = withoutField(request, {"group"})) return std::move(*refused);
    return withBody(protocol::TopicList{services_.offsets->topicsOf(fieldOf(request, "group")), identity_.address()}.toJson());
}

}  // namespace patchbay::plugins::admin
