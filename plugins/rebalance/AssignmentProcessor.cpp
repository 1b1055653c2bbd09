#include "AssignmentProcessor.h"

#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/json/Writer.h"
#include "patchbay/protocol/message/Names.h"

#include <algorithm>

namespace patchbay::plugins::rebalance {

using plugin::Response;
using protocol::ResponseCode;

namespace {

constexpr std::string_view kLightTopicPrefix = "%LMQ%";

std::string textOf(json::Value value) { return std::string(value.string().value_or("")); }

/// The key is absent when nothing can be said; the client then keeps what it has.
std::string encode(const Queues* queues, RequestMode mode) {
    std::string body;
    json::Writer out(body);
    out.beginObject();
    if (queues != nullptr) {
        out.key("messageQueueAssignments");
        out.beginArray();
        for (const auto& queue : *queues) {
            out.beginObject();
            out.key("messageQueue");
            queue.write(out);
            out.member("mode", toString(mode));
            out.endObject();
        }
        out.endArray();
    }
    out.endObject();
    return body;
}

}  // namespace

void AssignmentProcessor::process(plugin::Request request) {
    if (request.command().code == static_cast<std::int32_t>(protocol::RequestCode::QueryAssignment)) return query(std::move(request));
    Response response = setMode(request);
    std::move(request).respond(std::move(response));
}

void AssignmentProcessor::query(plugin::Request request) {
    const auto document = json::Document::parse(request.body());
    if (!document || !document->root().isObject()) {
        return std::move(request).respond(ResponseCode::SystemError, "the request has no body that says what is asked");
    }
    const json::Value root = document->root();
    AssignmentQuery query{textOf(root["topic"]), textOf(root["consumerGroup"]), textOf(root["clientId"]), textOf(root["strategyName"]), false};
    // Enumerators come by name, from some clients by number.
    query.broadcasting = root["messageModel"].string() == "BROADCASTING" || root["messageModel"].integer() == 0;
    request.detach();
    // A task that can be copied cannot own a request.
    auto waiting = std::make_shared<plugin::Request>(std::move(request));
    const std::string topic = query.topic;
    routes_.find(topic, [this, waiting, query = std::move(query)](const std::shared_ptr<const Queues>& queues) {
        Response response(ResponseCode::Success);
        response.setBody(assignment(query, queues.get()));
        std::move(*waiting).respond(std::move(response));
    });
}

ModeSetting AssignmentProcessor::modeOf(const AssignmentQuery& query) const {
    if (const auto set = modes_.find(query.topic, query.group)) return config_.popAllowed ? *set : ModeSetting{};
    // Retries of members that pop come another way.
    if (query.topic.starts_with(protocol::kRetryTopicPrefix)) return {};
    return config_.standard;
}

std::string AssignmentProcessor::assignment(const AssignmentQuery& query, const Queues* queues) const {
    const ModeSetting setting = modeOf(query);
    if (query.broadcasting) return encode(queues, setting.mode);
    const Queues light{{query.topic, context_.identity().brokerName, 0}};
    const Queues* all = query.topic.starts_with(kLightTopicPrefix) ? &light : queues;
    if (all == nullptr || !config_.balance) return encode(all, setting.mode);

    std::vector<std::string> clientIds;
    for (auto& member : services_.clients->consumers(query.group)) clientIds.push_back(std::move(member.clientId));
    std::ranges::sort(clientIds);
    const auto strategy = strategyOf(query.strategy);
    if (clientIds.empty() || query.clientId.empty() || all->empty() || !strategy) {
        context_.log().limited(plugin::LogLevel::Warn, "a member cannot be given its queues",
                               {{"group", query.group}, {"topic", query.topic}, {"client", query.clientId}, {"strategy", query.strategy},
                                {"members", clientIds.size()}, {"queues", all->size()}});
        return encode(nullptr, setting.mode);
    }
    const Queues share = setting.mode == RequestMode::Pop
                             ? allocateForPop(*strategy, *all, clientIds, query.clientId, setting.popShareQueueNum)
                             : allocate(*strategy, *all, clientIds, query.clientId);
    return encode(&share, setting.mode);
}

Response AssignmentProcessor::setMode(const plugin::Request& request) {
    const auto document = json::Document::parse(request.body());
    if (!document) return Response(ResponseCode::SystemError, document.error().message());
    const json::Value root = document->root();
    const std::string topic = textOf(root["topic"]);
    const std::string group = textOf(root["consumerGroup"]);
    if (topic.starts_with(protocol::kRetryTopicPrefix)) return Response(ResponseCode::NoPermission, "retry topic is not allowed to set mode");
    if (service::TopicFacts facts; !services_.topics->find(topic, facts)) {
        return Response(ResponseCode::TopicNotExist, "topic[" + topic + "] not exist");
    }
    if (service::GroupFacts facts; !services_.groups->find(group, facts)) {
        return Response(ResponseCode::SubscriptionGroupNotExist, "subscription group does not exist");
    }
    const auto mode = requestModeOf(root["mode"].string().value_or("PULL"));
    if (!mode) return Response(ResponseCode::InvalidParameter, "mode '" + textOf(root["mode"]) + "' is neither PULL nor POP");
    if (*mode == RequestMode::Pop && !config_.popAllowed) {
        return Response(ResponseCode::NoPermission, "pop is not served by this broker (popRequestModeEnable)");
    }
    const ModeSetting setting{*mode, static_cast<std::int32_t>(root["popShareQueueNum"].integer().value_or(0))};
    if (const Status stored = modes_.set(topic, group, setting); !stored) return Response(ResponseCode::SystemError, stored.message());
    context_.log().info("a message request mode is set", {{"topic", topic}, {"group", group}, {"mode", toString(*mode)},
                                                         {"popShareQueueNum", setting.popShareQueueNum}});
    return Response(ResponseCode::Success);
}

}  // namespace patchbay::plugins::rebalance
