#include "ClientProcessor.h"

#include "patchbay/protocol/headers/Client.h"
#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <string>

namespace patchbay::plugins::clients {

namespace {

using protocol::RequestCode;
using protocol::ResponseCode;

constexpr std::int32_t kUnitSubscription = 2;  // bit of a topic's sysFlag

// Some ten thousand groups in one heartbeat; a frame of nothing but brackets must not cost ten times its size.
constexpr std::size_t kBodyNodesMax = 400'000;

/// A missing body is an error of its own in Java too; both are answered SYSTEM_ERROR.
template <typename Body>
Result<Body> bodyOf(const plugin::Request& request) {
    if (request.body().empty()) return Status(StatusCode::InvalidArgument, "the request has no body");
    json::ReadOptions options;
    options.nodesMax = kBodyNodesMax;
    return json::decode<Body>(request.body(), options);
}

plugin::Response answer(ResponseCode code, std::string remark = {}) {
    plugin::Response response(code, std::move(remark));
    response.fields().markPresent();
    return response;
}

void refuse(plugin::Request request, const Status& why) {
    std::move(request).respond(ResponseCode::SystemError, why.message());
}

}  // namespace

void ClientProcessor::process(plugin::Request request) {
    switch (static_cast<RequestCode>(request.command().code)) {
        case RequestCode::HeartBeat: return heartbeat(std::move(request));
        case RequestCode::UnregisterClient: return unregister(std::move(request));
        case RequestCode::GetConsumerListByGroup: return consumerList(std::move(request));
        case RequestCode::CheckClientConfig: return checkClientConfig(std::move(request));
        case RequestCode::LockBatchMq: return lockQueues(std::move(request), true);
        default: return lockQueues(std::move(request), false);
    }
}

void ClientProcessor::heartbeat(plugin::Request request) {
    Result<protocol::HeartbeatData> data = bodyOf<protocol::HeartbeatData>(request);
    if (!data) return refuse(std::move(request), data.error());
    if (const Status fits = checks_.heartbeat(*data); !fits) return refuse(std::move(request), fits);
    if (const Status room = registry_.roomFor(request.peer(), *data); !room) return refuse(std::move(request), room);
    const protocol::CommandView& command = request.command();
    const Sender from{request.peer(), data->clientId, static_cast<std::uint8_t>(command.language), command.version,
                      context_.clock().wallMs(), context_.clock().now()};
    // Classic heartbeats are always full, and are always told so.
    bool full = data->heartbeatFingerprint == 0;
    for (const auto& consumer : data->consumerDataSet) full |= registerConsumer(from, consumer, *data);
    for (const auto& group : data->producerGroups) registry_.registerProducer(from, group);

    plugin::Response response(ResponseCode::Success);
    response.fields().add("IS_SUPPORT_HEART_BEAT_V2", true);
    response.fields().add("IS_SUB_CHANGE", full);
    std::move(request).respond(std::move(response));
}

bool ClientProcessor::registerConsumer(const Sender& from, const protocol::ConsumerData& data, const protocol::HeartbeatData& heartbeat) {
    if (config_.rejectPullConsumer && data.consumeType == protocol::ConsumeType::Actively) return false;
    service::GroupFacts group;
    // As in RocketMQ the heartbeat succeeds without it; the consumer learns of it by its pulls.
    if (!groups_.findOrCreate(data.groupName, group)) return false;
    constexpr auto kReadWrite = static_cast<std::int32_t>(protocol::kPermRead | protocol::kPermWrite);
    const bool ordered = std::ranges::any_of(data.subscriptionDataSet, [this](const protocol::SubscriptionData& subscription) {
        service::TopicFacts topic;
        return topics_.find(subscription.topic, topic) && topic.order;
    });
    const auto retry = topics_.createIfMissing(protocol::retryTopic(data.groupName), group.retryQueueNums, kReadWrite,
                                               data.unitMode ? kUnitSubscription : 0, ordered);
    if (!retry) {
        context_.log().limited(plugin::LogLevel::Error, "a retry topic cannot be created",
                               {{"group", data.groupName}, {"problem", retry.error().message()}});
    }
    const bool full = registry_.registerConsumer(from, data, heartbeat);
    if (filters_ != nullptr) {
        if (heartbeat.withoutSub) {
            filters_->subscribed(data.groupName, registry_.subscriptions(data.groupName));
        } else {
            filters_->subscribed(data.groupName, data.subscriptionDataSet);
        }
    }
    return full;
}

void ClientProcessor::unregister(plugin::Request request) {
    const auto header = protocol::UnregisterClientRequest::parse(request.command());
    if (!header) return refuse(std::move(request), header.error());
    for (const Status& fits : {checks_.clientId(header->clientId), checks_.group(header->producerGroup), checks_.group(header->consumerGroup)}) {
        if (!fits) return refuse(std::move(request), fits);
    }
    if (!header->producerGroup.empty()) registry_.unregisterProducer(request.peer(), header->producerGroup);
    if (!header->consumerGroup.empty()) registry_.unregisterConsumer(request.peer(), header->consumerGroup);
    std::move(request).respond(answer(ResponseCode::Success));
}

void ClientProcessor::consumerList(plugin::Request request) {
    const auto header = protocol::ConsumerGroupRequest::parse(request.command());
    if (!header) return refuse(std::move(request), header.error());
    protocol::ConsumerIdList list{registry_.consumerIds(header->consumerGroup)};
    if (list.consumerIdList.empty()) {
        return std::move(request).respond(
            answer(ResponseCode::SystemError, "no consumer for this group, " + std::string(header->consumerGroup)));
    }
    plugin::Response response = answer(ResponseCode::Success);
    response.setBody(list.toJson());
    std::move(request).respond(std::move(response));
}

void ClientProcessor::checkClientConfig(plugin::Request request) {
    if (request.body().empty()) return std::move(request).respond(ResponseCode::Success);
    const auto body = bodyOf<protocol::CheckClientBody>(request);
    if (!body) return refuse(std::move(request), body.error());
    for (const Status& fits : {checks_.clientId(body->clientId), checks_.group(body->group), checks_.subscription(body->subscriptionData)}) {
        if (!fits) return refuse(std::move(request), fits);
    }
    const std::string& type = body->subscriptionData.expressionType;
    if (protocol::isTagExpression(type)) return std::move(request).respond(ResponseCode::Success);
    if (filters_ == nullptr) {
        return std::move(request).respond(ResponseCode::SystemError,
                                          "The broker does not support consumer to filter message by " + type);
    }
    auto verdict = filters_->compile(type, body->subscriptionData.subString);
    std::move(request).respond(verdict.code, std::move(verdict.remark));
}

void ClientProcessor::lockQueues(plugin::Request request, bool lock) {
    const auto body = bodyOf<protocol::LockBatchRequest>(request);
    if (!body) return refuse(std::move(request), body.error());
    if (const Status fits = checks_.lock(*body); !fits) return refuse(std::move(request), fits);
    plugin::Response response(ResponseCode::Success);
    if (lock) {
        bool full = false;
        response.setBody(protocol::LockBatchResponse{locks_.lock(*body, full)}.toJson());
        if (full) {
            response.remark = locksFullRemark_;
            context_.log().limited(plugin::LogLevel::Warn, "as many queues are locked as may be (queueLocksMax)",
                                   {{"group", body->consumerGroup}, {"client", body->clientId}, {"locks", config_.queueLocksMax}});
        }
    } else {
        locks_.unlock(*body);
    }
    std::move(request).respond(std::move(response));
}

}  // namespace patchbay::plugins::clients
