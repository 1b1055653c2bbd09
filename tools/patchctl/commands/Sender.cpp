#include "commands/Sender.h"

#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"

#include <algorithm>
#include <atomic>
#include <unistd.h>

namespace patchbay::patchctl {

using protocol::ResponseCode;

namespace {

std::string_view statusText(std::int32_t code) {
    switch (static_cast<ResponseCode>(code)) {
        case ResponseCode::Success: return "stored";
        case ResponseCode::FlushDiskTimeout: return "stored, not known to be on disk";
        case ResponseCode::FlushSlaveTimeout: return "stored, not known to be on a slave";
        case ResponseCode::SlaveNotAvailable: return "stored, no slave is there";
        default: return {};
    }
}

std::uint32_t nextDiscriminator() {
    static std::atomic<std::uint32_t> next{1};
    return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Sender::Sender(client::AdminClient& client, const Clock& clock, std::string topic, std::chrono::milliseconds timeout)
    : client_(&client), clock_(&clock), topic_(std::move(topic)), timeout_(timeout),
      ids_(std::make_unique<protocol::UniqueIdGenerator>(clock, SocketAddress::v4({127, 0, 0, 1}, 0), static_cast<std::uint32_t>(getpid()),
                                                         nextDiscriminator())) {}

Result<Sender> Sender::open(Session& session, const std::string& topic) {
    auto client = session.client();
    if (!client) return client.error();
    const auto route = (*client)->route(topic);
    if (!route) return route.error();
    const auto chosen = session.chosen();
    if (!chosen) return chosen.error();
    Sender sender(**client, session.clock(), topic, session.timeout());
    for (const auto& data : route->queueDatas) {
        if (!chosen->empty() && !chosen->contains(data.brokerName)) continue;
        const auto broker = std::ranges::find(route->brokerDatas, data.brokerName, &protocol::BrokerData::brokerName);
        if (broker == route->brokerDatas.end() || !broker->brokerAddrs.contains(protocol::kMasterId) || !protocol::isWriteable(data.perm)) continue;
        for (std::int32_t id = 0; id < data.writeQueueNums; ++id) {
            sender.queues_.push_back({data.brokerName, broker->brokerAddrs.at(protocol::kMasterId), id});
        }
    }
    if (sender.queues_.empty()) return Status(StatusCode::NotFound, "topic '" + topic + "' has no queue that may be written" + (chosen->empty() ? "" : " on a broker that was chosen"));
    // Not all who send one message shall choose the first queue.
    sender.next_ = static_cast<std::size_t>(session.clock().wallMs()) % sender.queues_.size();
    return sender;
}

Result<Sent> Sender::send(const Outgoing& message) {
    const Queue* queue = &queues_[next_++ % queues_.size()];
    if (message.queue) {
        const auto at = std::ranges::find(queues_, *message.queue, &Queue::id);
        if (at == queues_.end()) return Status(StatusCode::NotFound, "topic '" + topic_ + "' has no queue " + std::to_string(*message.queue));
        queue = &*at;
    }
    Sent sent;
    sent.id = ids_->next();
    protocol::Properties properties;
    for (const auto& [name, value] : message.properties) properties.set(name, value);
    if (!message.tags.empty()) properties.set(protocol::kPropertyTags, message.tags);
    if (!message.keys.empty()) properties.set(protocol::kPropertyKeys, message.keys);
    if (message.delayLevel > 0) properties.set(protocol::kPropertyDelayLevel, std::to_string(message.delayLevel));
    properties.set(protocol::kPropertyUniqueKey, sent.id);
    properties.set(protocol::kPropertyWaitStoreOk, "true");
    const std::string text = properties.encode();
    protocol::SendMessageRequest header;
    header.producerGroup = "patchctl";
    header.topic = topic_;
    header.defaultTopic = protocol::kTopicAutoCreate;
    header.defaultTopicQueueNums = 4;
    header.queueId = queue->id;
    header.bornTimestamp = clock_->wallMs();
    header.flag = message.flag;
    header.properties = text;
    header.brokerName = queue->broker;
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::SendMessageV2);
    command.setHeader(header);
    command.body = message.body;
    const auto answer = client_->invoke(queue->address, std::move(command), timeout_);
    if (!answer) return answer.error();
    const std::string_view status = statusText(answer->code);
    if (status.empty()) {
        return Status(StatusCode::Denied, queue->broker + " answers " + std::to_string(answer->code) + ": " + answer->remark.value_or("(no text)"));
    }
    sent.status = status;
    sent.broker = queue->broker;
    sent.offsetId = answer->find("msgId").value_or("");
    sent.queue = std::atoi(std::string(answer->find("queueId").value_or("0")).c_str());
    sent.offset = std::atoll(std::string(answer->find("queueOffset").value_or("0")).c_str());
    return sent;
}

}  // namespace patchbay::patchctl
