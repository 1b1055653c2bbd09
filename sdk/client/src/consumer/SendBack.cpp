#include "consumer/SendBack.h"

#include "message/MessageData.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"

#include <utility>

namespace patchbay::client {

using namespace std::chrono_literals;
using protocol::RemotingCommand;

namespace {

constexpr auto kTime = 5000ms;
constexpr int kFirstRetryLevel = 3;

ProducerOptions innerOptions(const ConsumerOptions& options) {
    ProducerOptions inner;
    inner.client = options.client;
    inner.client.nameSpace.clear();  // the group's names have theirs already
    inner.group = "CLIENT_INNER_PRODUCER";
    return inner;
}

}  // namespace

SendBack::SendBack(ConsumerCore& core) : core_(core) {
    // A producer of its own client: it keeps the client alive only while something is under way.
    producer_ = std::make_shared<ProducerCore>(core.shared(), innerOptions(core.options()));
}

void SendBack::send(const ReceivedMessage& message, int delayLevel, int maxTimes, std::function<void(bool)> done) {
    ++*pending_;
    auto finish = [pending = pending_, done = std::move(done)](bool good) {
        --*pending;
        done(good);
    };
    const auto address = core_.instance().routes().addressOf(message.brokerName(), protocol::kMasterId, true);
    const auto retry = [this, message, maxTimes, finish] { resend(message, message.reconsumeTimes() + 1, maxTimes, finish); };
    if (address.empty()) return retry();
    const auto id = std::string(message.id());
    const auto topic = std::string(message.data().record.topic);
    protocol::ConsumerSendMsgBackRequest header;
    header.offset = message.commitLogOffset();
    header.group = core_.group();
    header.delayLevel = delayLevel;
    header.originMsgId = id;
    header.originTopic = topic;
    header.maxReconsumeTimes = maxTimes;
    auto command = RemotingCommand::request(protocol::RequestCode::ConsumerSendMsgBack);
    command.setHeader(header);
    command.set("bname", message.brokerName());
    auto& asker = core_.instance().asker();
    asker.ask(address, std::move(command), asker.deadlineIn(kTime), [core = core_.shared_from_this(), retry, finish](const Result<RemotingCommand>& answer) {
        if (answer && answer->code == 0) return finish(true);
        if (!answer && answer.error().code() == StatusCode::Cancelled) return finish(false);
        retry();
    });
}

void SendBack::resend(const ReceivedMessage& message, int times, int maxTimes, std::function<void(bool)> done) {
    protocol::Properties properties(message.data().properties);
    if (!properties.has(protocol::kPropertyOriginMessageId)) properties.set(protocol::kPropertyOriginMessageId, message.id());
    if (!properties.has(protocol::kPropertyRetryTopic)) properties.set(protocol::kPropertyRetryTopic, message.data().record.topic);
    properties.set(protocol::kPropertyReconsumeTime, std::to_string(times));
    properties.set(protocol::kPropertyMaxReconsumeTimes, std::to_string(maxTimes));
    properties.set(protocol::kPropertyDelayLevel, std::to_string(kFirstRetryLevel + message.reconsumeTimes()));
    properties.remove(protocol::kPropertyTransactionPrepared);
    Outgoing out;
    out.topic = protocol::retryTopic(core_.group());
    out.body = message.body();
    out.plainBytes = out.body.size();
    out.properties = properties.encode();
    out.id = message.id();
    out.flag = message.flag();
    out.bornMs = core_.instance().runtime().clock().wallMs();
    out.reconsumeTimes = times;
    out.maxReconsumeTimes = maxTimes;
    producer_->send(std::move(out), {}, producer_->deadlineIn(kTime), [core = core_.shared_from_this(), done = std::move(done)](const Result<SendReceipt>& receipt) {
        if (!receipt) core->instance().log().warn("a message could not be handed back, it is tried again here: " + receipt.error().message());
        done(receipt.has_value());
    });
}

}  // namespace patchbay::client
