#include "RouteProcessor.h"

#include "patchbay/protocol/message/Names.h"

namespace patchbay::plugins::namesrv {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

// From this version on clients get their routes in strict JSON (RocketMQ 4.9.4).
constexpr std::int32_t kStrictJsonSince = 401;
constexpr std::string_view kZoneMode = "__ZONE_MODE";
constexpr std::string_view kZoneName = "__ZONE_NAME";
constexpr std::string_view kFaqHint = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.";
constexpr std::size_t kRouteBytes = 512;

/// The zone that the answer is limited to; empty for none.
std::string_view zoneOf(const protocol::CommandView& command) noexcept {
    const auto mode = command.find(kZoneMode);
    if (!mode || *mode != "true") return {};
    const auto name = command.find(kZoneName).value_or(std::string_view());
    return name.find_first_not_of(" \t") == std::string_view::npos ? std::string_view() : name;
}

}  // namespace

void RouteProcessor::process(plugin::Request request) {
    const auto& command = request.command();
    switch (static_cast<RequestCode>(command.code)) {
        case RequestCode::GetRouteinfoByTopic: return std::move(request).respond(route(command));
        case RequestCode::QueryDataVersion: return std::move(request).respond(queryDataVersion(command));
        case RequestCode::BrokerHeartbeat: return std::move(request).respond(heartbeat(command));
        case RequestCode::GetBrokerMemberGroup: return std::move(request).respond(memberGroup(command));
        default: {
            Response response;
            response.setBody(routes_.clusterInfo());
            return std::move(request).respond(std::move(response));
        }
    }
}

bool RouteProcessor::ready() const noexcept {
    if (!switches_.needWaitForService.load(std::memory_order_relaxed)) return true;
    return clock_.now() - started_ >= std::chrono::seconds(switches_.waitSecondsForService.load(std::memory_order_relaxed));
}

Response RouteProcessor::route(const protocol::CommandView& command) const {
    if (!ready()) return Response(ResponseCode::SystemError, "name server not ready");
    RouteQuery query;
    bool strict = command.version >= kStrictJsonSince;
    // A header without any field is a question for no topic; one that only lacks the topic is an error.
    if (command.hasFields) {
        auto header = protocol::RouteRequest::parse(command);
        if (!header) return Response(header.error());
        query.topic = header->topic;
        query.zone = zoneOf(command);
        strict = strict || header->acceptStandardJsonOnly.value_or(false);
    }
    // An answer that was cut down to a zone is written anew, and then always in the old dialect.
    query.dialect = strict && query.zone.empty() ? json::Dialect::Strict : json::Dialect::Fastjson;
    query.actingMaster = switches_.supportActingMaster.load(std::memory_order_relaxed);
    if (switches_.orderMessageEnable.load(std::memory_order_relaxed)) {
        query.orderConf = kv_.get(protocol::kOrderTopicConfigNamespace, query.topic);
    }
    std::string body;
    body.reserve(kRouteBytes);
    if (!routes_.writeRoute(query, body)) {
        std::string remark = "No topic route info in name server for the topic: ";
        remark += query.topic.data() == nullptr ? "null" : query.topic;
        remark += kFaqHint;
        return Response(ResponseCode::TopicNotExist, std::move(remark));
    }
    Response response;
    response.setBody(std::move(body));
    return response;
}

Response RouteProcessor::queryDataVersion(const protocol::CommandView& command) {
    auto header = protocol::QueryDataVersionRequest::parse(command);
    if (!header) return Response(header.error());
    auto asked = protocol::DataVersion::fromJson(command.body);
    if (!asked) return Response(asked.error());
    const auto ours = routes_.dataVersion(header->clusterName, header->brokerAddr, clock_.now());
    Response response;
    protocol::QueryDataVersionResponse{.changed = !ours || *ours != *asked}.write(response.fields());
    if (ours) response.setBody(ours->toJson());
    return response;
}

Response RouteProcessor::heartbeat(const protocol::CommandView& command) {
    auto header = protocol::BrokerHeartbeatRequest::parse(command);
    if (!header) return Response(header.error());
    routes_.heartbeat(header->clusterName, header->brokerAddr, clock_.now());
    return Response(ResponseCode::Success);
}

Response RouteProcessor::memberGroup(const protocol::CommandView& command) const {
    auto header = protocol::BrokerMemberGroupRequest::parse(command);
    if (!header) return Response(header.error());
    // RocketMQ leaves the remark of a fresh response in this answer; peers see it, so it stays.
    Response response(ResponseCode::Success, "not set any response code");
    response.setBody(routes_.memberGroup(header->clusterName, header->brokerName));
    return response;
}

}  // namespace patchbay::plugins::namesrv
