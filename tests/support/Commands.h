// Requests that several tests send to a real broker.
#pragma once

#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/protocol/headers/PullMessage.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <cstdint>
#include <string>

namespace patchbay::test {

/// Makes the topic with four queues where it does not exist.
inline protocol::RemotingCommand sendCommand(const std::string& topic, std::int32_t queue, std::string body) {
    protocol::SendMessageRequest header;
    header.producerGroup = "p";
    header.topic = topic;
    header.defaultTopic = "TBW102";
    header.defaultTopicQueueNums = 4;
    header.queueId = queue;
    header.bornTimestamp = 1;
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::SendMessageV2);
    command.setHeader(header);
    command.body = std::move(body);
    return command;
}

/// Everything from an offset on; waits a second for what is not there yet.
inline protocol::RemotingCommand pullCommand(const std::string& topic, std::int32_t queue, std::int64_t offset) {
    protocol::PullMessageRequest header;
    header.consumerGroup = "g";
    header.topic = topic;
    header.queueId = queue;
    header.queueOffset = offset;
    header.maxMsgNums = 32;
    header.sysFlag = protocol::kPullFlagSubscription | protocol::kPullFlagSuspend;
    header.suspendTimeoutMillis = 1'000;
    header.subscription = "*";
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::PullMessage);
    command.setHeader(header);
    return command;
}

}  // namespace patchbay::test
