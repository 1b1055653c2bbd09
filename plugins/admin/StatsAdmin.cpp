#include "StatsAdmin.h"

#include "patchbay/protocol/Language.h"
#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/json/Writer.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace patchbay::plugins::admin {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> names;
    while (!list.empty()) {
        const auto end = list.find(';');
        if (end != 0) names.emplace_back(list.substr(0, end));
        list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
    }
    return names;
}

/// "2026-11-29#17:29:27:025", local time.
std::string localTime(std::int64_t wallMs) {
    // -1, which stands for no time, is the last millisecond before the epoch to RocketMQ, too.
    const auto ms = static_cast<int>((wallMs % 1000 + 1000) % 1000);
    const std::time_t seconds = (wallMs - ms) / 1000;
    std::tm local{};
    localtime_r(&seconds, &local);
    char text[96];
    std::snprintf(text, sizeof text, "%04d-%02d-%02d#%02d:%02d:%02d:%03d", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
                  local.tm_hour, local.tm_min, local.tm_sec, ms);
    return text;
}

}  // namespace

Response StatsAdmin::answer(const plugin::Request& request) {
    switch (static_cast<RequestCode>(request.command().code)) {
        case RequestCode::GetConsumeStats: return consumeStats(request);
        case RequestCode::GetBrokerConsumeStats: return brokerConsumeStats(request);
        case RequestCode::QueryConsumeTimeSpan: return timeSpan(request);
        case RequestCode::GetAllProducerInfo: return allProducers();
        case RequestCode::QuerySubscriptionByConsumer: return subscription(request);
        default: return allOffsets();
    }
}

void StatsAdmin::dropUnsubscribed(std::string_view group, std::vector<std::string>& topics) const {
    if (!services_.clients->group(group).online) return;
    std::erase_if(topics, [this, group](const std::string& name) { return !services_.clients->subscription(group, name); });
}

std::vector<std::string> StatsAdmin::topicsOf(std::string_view group) const {
    std::vector<std::string> topics = services_.offsets->topicsOf(group);
    dropUnsubscribed(group, topics);
    return topics;
}

void StatsAdmin::addQueues(protocol::ConsumeStats& stats, std::string_view group, const std::string& topic, std::int32_t queues) const {
    for (std::int32_t queue = 0; queue < queues; ++queue) {
        protocol::ConsumeStats::Entry entry;
        entry.brokerOffset = std::max<std::int64_t>(services_.store->range(topic, queue).max, 0);
        entry.consumerOffset = std::max<std::int64_t>(services_.offsets->query(group, topic, queue), 0);
        entry.pullOffset = std::max(entry.consumerOffset, services_.offsets->queryPull(group, topic, queue));
        if (entry.consumerOffset > 0) {
            entry.lastTimestamp = services_.store->storeTimeAt(topic, queue, entry.consumerOffset - 1).value_or(0);
        }
        stats.offsetTable.emplace(protocol::MessageQueue{topic, identity_.brokerName, queue}, entry);
    }
    if (!services_.traffic) return;
    if (const auto rate = services_.traffic->find("GROUP_GET_NUMS", topic + "@" + std::string(group))) {
        stats.consumeTps += rate->minute.tps;
    }
}

Response StatsAdmin::consumeStats(const plugin::Request& request) const {
    const auto header = protocol::GetConsumeStatsRequest::parse(request.command());
    if (!header) return Response(header.error());
    std::vector<std::string> topics;
    if (!header->topicList.empty()) {
        topics = split(header->topicList);
    } else if (!header->topic.empty()) {
        topics.emplace_back(header->topic);
        dropUnsubscribed(header->consumerGroup, topics);
    } else {
        topics = topicsOf(header->consumerGroup);
    }
    protocol::ConsumeStats stats;
    for (const auto& topic : topics) {
        service::TopicFacts facts;
        if (services_.topics->find(topic, facts)) addQueues(stats, header->consumerGroup, topic, facts.readQueueNums);
    }
    return withBody(stats.toJson());
}

Response StatsAdmin::brokerConsumeStats(const plugin::Request& request) const {
    const bool orderedOnly = fieldOf(request, "isOrder") == "true";
    std::int64_t behind = 0;
    std::int64_t inFlight = 0;
    std::string body;
    json::Writer out(body);
    out.beginObject();
    out.member("brokerAddr", identity_.address());
    out.key("consumeStatsList");
    out.beginArray();
    for (const auto& group : services_.groups->all()) {
        out.beginObject();
        out.key(group.groupName);
        out.beginArray();
        for (const auto& topic : topicsOf(group.groupName)) {
            service::TopicFacts facts;
            if (!services_.topics->find(topic, facts) || (orderedOnly && !facts.order)) continue;
            protocol::ConsumeStats stats;
            addQueues(stats, group.groupName, topic, facts.writeQueueNums);
            for (const auto& [queue, entry] : stats.offsetTable) {
                behind += entry.brokerOffset - entry.consumerOffset;
                inFlight += entry.pullOffset - entry.consumerOffset;
            }
            out.raw(stats.toJson());
        }
        out.endArray();
        out.endObject();
    }
    out.endArray();
    out.member("totalDiff", behind);
    out.member("totalInflightDiff", inFlight);
    out.endObject();
    return withBody(std::move(body));
}

Response StatsAdmin::timeSpan(const plugin::Request& request) const {
    if (auto refused = withoutField(request, {"topic", "group"})) return std::move(*refused);
    const std::string topic(fieldOf(request, "topic"));
    const std::string_view group = fieldOf(request, "group");
    service::TopicFacts facts;
    if (!services_.topics->find(topic, facts)) return refusal(ResponseCode::TopicNotExist, "topic[" + topic + "] not exist");
    std::string body;
    json::Writer out(body);
    out.beginObject();
    out.key("consumeTimeSpanSet");
    out.beginArray();
    for (std::int32_t queue = 0; queue < facts.writeQueueNums; ++queue) {
        const auto timeAt = [&](std::int64_t offset) { return services_.store->storeTimeAt(topic, queue, offset).value_or(-1); };
        const auto range = services_.store->range(topic, queue);
        const std::int64_t consumed = services_.offsets->query(group, topic, queue);
        const std::int64_t oldest = timeAt(range.min);
        const std::int64_t newest = timeAt(range.max - 1);
        const std::int64_t reached = consumed > 0 ? timeAt(consumed - 1) : oldest;
        const std::int64_t waiting = consumed < range.max ? timeAt(std::max(consumed, range.min)) : -1;
        out.beginObject();
        out.member("consumeTimeStamp", reached);
        out.member("consumeTimeStampStr", localTime(reached));
        out.member("delayTime", waiting < 0 ? std::int64_t{0} : std::max<std::int64_t>(clock_.wallMs() - waiting, 0));
        out.member("maxTimeStamp", newest);
        out.member("maxTimeStampStr", localTime(newest));
        out.key("messageQueue");
        protocol::MessageQueue{topic, identity_.brokerName, queue}.write(out);
        out.member("minTimeStamp", oldest);
        out.member("minTimeStampStr", localTime(oldest));
        out.endObject();
    }
    out.endArray();
    out.endObject();
    return withBody(std::move(body));
}

Response StatsAdmin::allProducers() const {
    std::string body;
    json::Writer out(body);
    out.beginObject();
    out.key("data");
    out.beginObject();
    for (const auto& group : services_.clients->producerGroups()) {
        out.key(group);
        out.beginArray();
        for (const auto& client : services_.clients->producers(group)) {
            out.beginObject();
            out.member("clientId", client.clientId);
            out.member("language", protocol::toString(static_cast<protocol::Language>(client.language)));
            out.member("lastUpdateTimestamp", client.lastHeartbeatMs);
            out.member("remoteIP", "/" + client.peer->remote().toString());
            out.member("version", client.version);
            out.endObject();
        }
        out.endArray();
    }
    out.endObject();
    out.endObject();
    return withBody(std::move(body));
}

Response StatsAdmin::subscription(const plugin::Request& request) const {
    if (auto refused = withoutField(request, {"group"})) return std::move(*refused);
    const std::string_view group = fieldOf(request, "group");
    const std::string_view topic = fieldOf(request, "topic");
    std::string body;
    json::Writer out(body);
    out.beginObject();
    out.member("group", group);
    if (const auto data = services_.clients->subscription(group, topic)) {
        out.key("subscriptionData");
        data->write(out);
    }
    out.member("topic", topic);
    out.endObject();
    return withBody(std::move(body));
}

Response StatsAdmin::allOffsets() const { return withBody(services_.offsets->toJson()); }

}  // namespace patchbay::plugins::admin
