// Heartbeats: what a consumer tells a broker of itself.
#pragma once

#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/protocol/route/Heartbeat.h"
#include "patchbay/protocol/route/SubscriptionData.h"

#include <string>
#include <string_view>

namespace patchbay::test {

/// One clustering push consumer; without a topic it subscribes nothing.
inline protocol::HeartbeatData consumerHeartbeat(const std::string& clientId, const std::string& group, std::string_view topic = {},
                                                 std::string_view expression = "*") {
    protocol::HeartbeatData data;
    data.clientId = clientId;
    protocol::ConsumerData consumer;
    consumer.groupName = group;
    consumer.consumeType = protocol::ConsumeType::Passively;
    consumer.messageModel = protocol::MessageModel::Clustering;
    if (!topic.empty()) consumer.subscriptionDataSet.push_back(*protocol::SubscriptionData::build(topic, expression));
    data.consumerDataSet.push_back(consumer);
    return data;
}

/// The request that carries it.
inline protocol::RemotingCommand heartbeatRequest(const protocol::HeartbeatData& data) {
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::HeartBeat);
    command.body = data.toJson();
    return command;
}

}  // namespace patchbay::test
