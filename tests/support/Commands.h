// Requests that several tests send to a real broker.
#pragma once

#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/protocol/headers/PullMessage.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::test {

struct SendOptions {
    std::int32_t queue = 0;
    std::string_view properties{};
    bool batch = false;            // the body holds several messages
};

/// A send by 310, of a batch by 320. Makes the topic with four queues where it does not exist.
inline protocol::RemotingCommand sendCommand(std::string_view topic, std::string body, const SendOptions& options = {}) {
    protocol::SendMessageRequest header;
    header.producerGroup = "p";
    header.topic = topic;
    header.defaultTopic = "TBW102";
    header.defaultTopicQueueNums = 4;
    header.queueId = options.queue;
    header.bornTimestamp = 1;
    header.properties = options.properties;
    header.batch = options.batch;
    auto command = protocol::RemotingCommand::request(options.batch ? protocol::RequestCode::SendBatchMessage : protocol::RequestCode::SendMessageV2);
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
