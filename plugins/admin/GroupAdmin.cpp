#include "GroupAdmin.h"

#include "patchbay/protocol/Language.h"
#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/route/SubscriptionGroupConfig.h"

#include <algorithm>
#include <set>

namespace patchbay::plugins::admin {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

std::vector<protocol::ClientConnection> connections(const std::vector<service::ClientInfo>& clients) {
    std::vector<protocol::ClientConnection> set;
    for (const auto& client : clients) {
        set.push_back({client.peer->remote().toString(), client.clientId,
                       std::string(protocol::toString(static_cast<protocol::Language>(client.language))), client.version});
    }
    return set;
}

std::string text(const plugin::Request& request, std::string_view field) {
    return std::string(request.command().find(field).value_or(std::string_view()));
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
        case RequestCode::GetConsumeStats: return consumeStats(request);
        case RequestCode::QueryTopicConsumeByWho: return groupsOfTopic(request);
        default: return topicsOfGroup(request);
    }
}

Response GroupAdmin::update(const plugin::Request& request) {
    const auto config = protocol::SubscriptionGroupConfig::fromJson(request.body());
    if (!config) return Response(config.error());
    if (const auto stored = services_.groups->put(*config); !stored) return refusal(ResponseCode::SystemError, stored.message());
    services_.clients->notifyChanged(config->groupName);
    return Response(ResponseCode::Success);
}

Response GroupAdmin::updateList(const plugin::Request& request) {
    const auto list = protocol::SubscriptionGroupList::fromJson(request.body());
    if (!list) return Response(list.error());
    for (const auto& config : list->groupConfigList) {
        if (const auto stored = services_.groups->put(config); !stored) return refusal(ResponseCode::SystemError, stored.message());
        services_.clients->notifyChanged(config.groupName);
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
    const std::string group = text(request, "consumerGroup");
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
    const std::string group = text(request, "producerGroup");
    const auto clients = services_.clients->producers(group);
    if (clients.empty()) return refusal(ResponseCode::SystemError, "the producer group[" + group + "] not exist");
    return withBody(protocol::ProducerConnection{connections(clients)}.toJson());
}

std::vector<std::string> GroupAdmin::wantedTopics(std::string_view group, std::string_view topic, std::string_view list) const {
    std::vector<std::string> topics;
    if (!list.empty()) {
        while (!list.empty()) {
            const auto end = list.find(';');
            if (end != 0) topics.emplace_back(list.substr(0, end));
            list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
        }
        return topics;
    }
    if (!topic.empty()) {
        topics.emplace_back(topic);
    } else {
        topics = services_.offsets->topicsOf(group);
    }
    if (services_.clients->group(group).online) {
        std::erase_if(topics, [this, group](const std::string& name) { return !services_.clients->subscription(group, name); });
    }
    return topics;
}

void GroupAdmin::addQueues(protocol::ConsumeStats& stats, std::string_view group, const std::string& topic) const {
    service::TopicFacts facts;
    if (!services_.topics->find(topic, facts)) return;
    for (std::int32_t queue = 0; queue < facts.readQueueNums; ++queue) {
        protocol::ConsumeStats::Entry entry;
        entry.brokerOffset = std::max<std::int64_t>(services_.store->range(topic, queue).max, 0);
        entry.consumerOffset = std::max<std::int64_t>(services_.offsets->query(group, topic, queue), 0);
        entry.pullOffset = std::max(entry.consumerOffset, services_.offsets->queryPull(group, topic, queue));
        if (entry.consumerOffset > 0) {
            entry.lastTimestamp = services_.store->storeTimeAt(topic, queue, entry.consumerOffset - 1).value_or(0);
        }
        stats.offsetTable.emplace(protocol::MessageQueue{topic, identity_.brokerName, queue}, entry);
    }
}

Response GroupAdmin::consumeStats(const plugin::Request& request) const {
    const auto header = protocol::GetConsumeStatsRequest::parse(request.command());
    if (!header) return Response(header.error());
    protocol::ConsumeStats stats;
    for (const auto& topic : wantedTopics(header->consumerGroup, header->topic, header->topicList)) {
        addQueues(stats, header->consumerGroup, topic);
    }
    return withBody(stats.toJson());
}

Response GroupAdmin::groupsOfTopic(const plugin::Request& request) const {
    const std::string topic = text(request, "topic");
    std::set<std::string> groups;
    for (auto& group : services_.clients->groupsOf(topic)) groups.insert(std::move(group));
    for (auto& group : services_.offsets->groupsOf(topic)) groups.insert(std::move(group));
    return withBody(protocol::GroupList{{groups.begin(), groups.end()}}.toJson());
}

Response GroupAdmin::topicsOfGroup(const plugin::Request& request) const {
    return withBody(protocol::TopicList{services_.offsets->topicsOf(text(request, "group")), identity_.address()}.toJson());
}

}  // namespace patchbay::plugins::admin
