#include "producer/RequestCall.h"

#include "instance/Identity.h"
#include "message/MessageData.h"
#include "patchbay/protocol/message/Properties.h"

#include <charconv>
#include <utility>

namespace patchbay::client {

using protocol::appendProperty;
using protocol::RemotingCommand;

namespace {

template <typename Number>
Number numberIn(const RemotingCommand& command, std::string_view field) {
    const auto text = command.find(field).value_or("0");
    Number number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// A reply says as text where it was born; nobody asks for it as an address.
constexpr std::string_view kNoHost("\0\0\0\0\0\0\0\0", 8);

}  // namespace

Result<ReceivedMessage> replyOf(const RemotingCommand& push, std::int64_t nowMs) {
    auto data = std::make_shared<ReceivedMessage::Data>();
    data->record.sysFlag = numberIn<std::int32_t>(push, "sysFlag") & ~(protocol::kSysFlagBornHostV6 | protocol::kSysFlagStoreHostV6);
    data->record.queueId = numberIn<std::int32_t>(push, "queueId");
    data->record.flag = numberIn<std::int32_t>(push, "flag");
    data->record.bornTimestamp = numberIn<std::int64_t>(push, "bornTimestamp");
    data->record.storeTimestamp = numberIn<std::int64_t>(push, "storeTimestamp");
    data->record.bornHostBytes = data->record.storeHostBytes = kNoHost;
    data->topic = push.find("topic").value_or("");
    data->properties = push.find("properties").value_or("");
    appendProperty(data->properties, protocol::kPropertyArriveTime, std::to_string(nowMs));
    auto body = unpackBody(push.body, data->record.sysFlag);
    if (!body) return body.error();
    data->unpacked = std::move(*body);
    data->body = data->unpacked;
    return ReceivedMessage(std::move(data));
}

Result<std::string> replyProperties(const ReceivedMessage& request) {
    const auto id = request.property(protocol::kPropertyCorrelationId);
    const auto client = request.property(protocol::kPropertyReplyToClient);
    if (id.empty() || client.empty() || request.property(protocol::kPropertyCluster).empty()) {
        return Status(StatusCode::InvalidArgument, "nobody waits for a reply to this message; it was not sent by request()");
    }
    std::string text;
    appendProperty(text, protocol::kPropertyMessageType, "reply");
    appendProperty(text, protocol::kPropertyCorrelationId, id);
    appendProperty(text, protocol::kPropertyReplyToClient, client);
    if (const auto ttl = request.property(protocol::kPropertyTtl); !ttl.empty()) appendProperty(text, protocol::kPropertyTtl, ttl);
    return text;
}

void RequestCall::start(std::shared_ptr<ProducerCore> core, const Message& message, ProducerCore::Target target,
                        std::chrono::milliseconds timeout, Done done) {
    auto id = randomHex(32);
    std::string properties;
    appendProperty(properties, protocol::kPropertyCorrelationId, id);
    appendProperty(properties, protocol::kPropertyReplyToClient, core->instance().clientId());
    appendProperty(properties, protocol::kPropertyTtl, std::to_string(timeout.count()));
    auto outgoing = core->outfitter().one(message, properties);
    if (!outgoing) return done(outgoing.error());
    const auto deadline = core->deadlineIn(timeout);
    auto& loop = core->instance().runtime().loop();
    // Made on the loop, because its timer lives there.
    loop.post([core, out = std::move(*outgoing), target = std::move(target), id = std::move(id), deadline, done = std::move(done)]() mutable {
        std::make_shared<RequestCall>(core, std::move(out), std::move(target), std::move(id), deadline, std::move(done))->findRoute();
    });
}

RequestCall::RequestCall(std::shared_ptr<ProducerCore> core, Outgoing message, ProducerCore::Target target, std::string correlationId,
                         MonotonicTime deadline, Done done)
    : core_(std::move(core)), message_(std::move(message)), target_(std::move(target)), correlationId_(std::move(correlationId)),
      deadline_(deadline), done_(std::move(done)), timer_(core_->instance().runtime().loop()) {}

void RequestCall::findRoute() {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - core_->instance().runtime().clock().now());
    timer_.once(left, [self = shared_from_this()] {
        self->finish(Status(StatusCode::DeadlineExceeded, "no reply in time; check that a consumer of the topic runs and replies"));
    });
    auto& routes = core_->instance().routes();
    const bool known = routes.known(message_.topic) != nullptr;
    routes.getToWrite(message_.topic, core_->options().queuesOfNewTopics, deadline_, [self = shared_from_this(), known](const Result<RoutePtr>& route) {
        if (!route) return self->finish(route.error());
        if (known) return self->send();
        self->introduce();
    });
}

// A broker can push the reply only to a client that it knows by a heartbeat.
void RequestCall::introduce() {
    core_->instance().heartbeat([self = shared_from_this()] { self->send(); });
}

void RequestCall::send() {
    if (!done_) return;
    core_->instance().onReply(correlationId_, [self = shared_from_this()](const RemotingCommand& push) { return self->replied(push); });
    core_->send(std::move(message_), std::move(target_), deadline_, [self = shared_from_this()](const Result<SendReceipt>& receipt) {
        if (!receipt) self->finish(receipt.error());
    });
}

bool RequestCall::replied(const RemotingCommand& push) {
    auto reply = replyOf(push, core_->instance().runtime().clock().wallMs());
    const bool good = reply.has_value();
    finish(std::move(reply));
    return good;
}

void RequestCall::finish(Result<ReceivedMessage> result) {
    if (!done_) return;
    const auto keep = shared_from_this();
    core_->instance().forgetReply(correlationId_);
    auto done = std::exchange(done_, {});
    done(std::move(result));
    timer_.cancel();
}

}  // namespace patchbay::client
