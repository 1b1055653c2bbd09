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
    if (!refusal && !enter()) {
        refusal = Response(ResponseCode::SystemBusy, "[OVERLOAD]system busy, start flow control for a while, " +
                           std::to_string(config_.underWayMax) + " replies wait for their clients, limit replyThreadPoolQueueCapacity");
    }
    if (refusal) {
        facts_.write(refusal->fields());
        std::move(request).respond(std::move(*refusal));
        return;
    }
    push(std::make_unique<Reply>(std::move(request), header, queueId, facts_, [this] { leave(); }));
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

bool ReplyProcessor::enter() {
    const std::lock_guard lock(mutex_);
    if (underWay_ >= config_.underWayMax) return false;
    ++underWay_;
    return true;
}

void ReplyProcessor::leave() noexcept {
    // The signal too is under the lock: whoever waits destroys this object next.
    const std::lock_guard lock(mutex_);
    if (--underWay_ == 0) idle_.notify_all();
}

void ReplyProcessor::awaitIdle() noexcept {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return underWay_ == 0; });
}

}  // namespace patchbay::plugins::reply
