#include "ReplyProcessor.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>
#include <utility>

namespace patchbay::plugins::reply {

using plugin::Response;
using protocol::ResponseCode;

namespace {

constexpr std::chrono::milliseconds kClientTimeout{10'000};

}  // namespace

ReplyProcessor::ReplyProcessor(ReplyServices services, plugin::PluginContext& context, const ReplyConfig& config)
    : services_(std::move(services)), context_(context), config_(config),
      facts_{context.identity().storeHost, context.identity().regionId, config.traceOn} {}

void ReplyProcessor::process(plugin::Request request) {
    protocol::SendMessageRequest header;
    if (const auto parsed = protocol::SendMessageRequest::parse(request.command(), header); !parsed) {
        std::move(request).respond(ResponseCode::SystemError, parsed.message());
        return;
    }
    std::int32_t queueId = 0;
    auto refusal = check(header, request.peer(), queueId);
    std::optional<Began::iterator> place;
    if (!refusal && !(place = enter())) refusal = Response(ResponseCode::SystemBusy, tooMany());
    if (refusal) {
        facts_.write(refusal->fields());
        std::move(request).respond(std::move(*refusal));
        return;
    }
    push(std::make_unique<Reply>(std::move(request), header, queueId, facts_, [this, at = *place] { leave(at); }));
}

std::optional<Response> ReplyProcessor::check(const protocol::SendMessageRequest& header, const plugin::Peer& peer,
                                              std::int32_t& queueId) const {
    service::TopicFacts facts;
    if (!services_.topics->find(header.topic, facts)) {
        if (const auto valid = protocol::validateTopicName(header.topic); !valid) {
            return Response(ResponseCode::InvalidParameter, valid.message());
        }
        const std::string client = peer.remote().toString();
        const std::int32_t sysFlag = header.unitMode ? protocol::kTopicSysFlagUnit : 0;
        const auto created =
            services_.topics->createForSend({header.topic, header.defaultTopic, header.defaultTopicQueueNums, sysFlag, client});
        if (!created && created.error().code() != StatusCode::NotFound) {
            return Response(protocol::responseCodeOf(created.error().code()),
                            "topic[" + std::string(header.topic) + "] cannot be created: " + created.error().message());
        }
        if (!created) {
            return Response(ResponseCode::TopicNotExist,
                            "topic[" + std::string(header.topic) + "] not exist, apply first please!"
                            "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.");
        }
        facts = *created;
    }
    if (protocol::isForbiddenToSend(header.topic)) {
        return Response(ResponseCode::NoPermission, "Sending message to topic[" + std::string(header.topic) + "] is forbidden.");
    }
    if (header.queueId >= std::max(facts.writeQueueNums, facts.readQueueNums)) {
        const auto config = services_.topics->get(header.topic);
        return Response(ResponseCode::InvalidParameter, "request queueId[" + std::to_string(header.queueId) + "] is illegal, " +
                        (config ? config->toString() : std::string(header.topic)) + " Producer: " + peer.remote().toString());
    }
    // The reply topic has one queue; whoever does not care gets it.
    queueId = std::max(header.queueId, 0);
    return std::nullopt;
}

void ReplyProcessor::push(std::unique_ptr<Reply> reply) {
    const std::string client(reply->client());
    if (client.empty()) {
        reply->pushed(ResponseCode::SystemError, "reply message properties[REPLY_TO_CLIENT] is null");
        return keep(std::move(reply));
    }
    const auto peer = services_.clients->findClient(client);
    if (!peer) {
        reply->pushed(ResponseCode::SystemError, "push reply message fail, channel of <" + client + "> not found.");
        return keep(std::move(reply));
    }
    auto command = reply->pushCommand(context_.clock().wallMs());
    // A task that can be copied cannot own the reply; the kernel runs it exactly once.
    peer->invoke(std::move(command), kClientTimeout, [this, raw = reply.release()](Result<protocol::RemotingCommand> answer) {
        std::unique_ptr<Reply> owned(raw);
        const bool taken = answer && answer->code == static_cast<std::int32_t>(ResponseCode::Success);
        if (!taken) {
            owned->pushed(ResponseCode::SystemError, "push reply message to " + std::string(owned->client()) + "fail.");
        }
        keep(std::move(owned));
    });
}

void ReplyProcessor::keep(std::unique_ptr<Reply> reply) {
    if (!config_.store) return Reply::finish(std::move(reply));
    reply->prepareItem();
    services_.store->append(*reply.release());
}

std::optional<ReplyProcessor::Began::iterator> ReplyProcessor::enter() {
    const auto now = context_.clock().now();
    const std::lock_guard lock(mutex_);
    if (underWay_.size() >= static_cast<std::size_t>(config_.underWayMax)) return std::nullopt;
    return underWay_.insert(underWay_.end(), now);
}

void ReplyProcessor::leave(Began::iterator which) noexcept {
    // The signal too is under the lock: whoever waits destroys this object next.
    const std::lock_guard lock(mutex_);
    underWay_.erase(which);
    if (underWay_.empty()) idle_.notify_all();
}

std::string ReplyProcessor::tooMany() {
    const auto now = context_.clock().now();
    const std::lock_guard lock(mutex_);
    const auto waited = underWay_.empty() ? std::chrono::nanoseconds(0) : now - underWay_.front();
    return "[OVERLOAD]system busy, start flow control for a while, " + std::to_string(underWay_.size()) +
           " replies wait for their clients, the oldest for " +
           std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(waited).count()) + "ms, limit replyThreadPoolQueueCapacity " +
           std::to_string(config_.underWayMax);
}

void ReplyProcessor::awaitIdle() noexcept {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return underWay_.empty(); });
}

}  // namespace patchbay::plugins::reply
