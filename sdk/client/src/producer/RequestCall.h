// RequestCall: a request that waits for a consumer's reply.
#pragma once

#include "producer/ProducerCore.h"
#include "runtime/LoopTimer.h"

#include <functional>
#include <memory>
#include <string>

namespace patchbay::client {

/// Keeps itself while it waits. Loop thread, but make() and start() from any.
class RequestCall final : public std::enable_shared_from_this<RequestCall> {
public:
    using Done = std::function<void(Result<ReceivedMessage>)>;  ///< called once, on the loop or on the caller's thread

    static void start(std::shared_ptr<ProducerCore> core, const Message& message, ProducerCore::Target target,
                      std::chrono::milliseconds timeout, Done done);
    RequestCall(std::shared_ptr<ProducerCore> core, Outgoing message, ProducerCore::Target target, std::string correlationId,
                MonotonicTime deadline, Done done);

private:
    void findRoute();
    void introduce();
    void send();
    bool replied(const protocol::RemotingCommand& push);
    void finish(Result<ReceivedMessage> result);

    const std::shared_ptr<ProducerCore> core_;
    Outgoing message_;
    ProducerCore::Target target_;
    const std::string correlationId_;
    const MonotonicTime deadline_;
    Done done_;
    LoopTimer timer_;
};

/// The message in a reply that a broker pushed (326).
[[nodiscard]] Result<ReceivedMessage> replyOf(const protocol::RemotingCommand& push, std::int64_t nowMs);

/// The properties by which a reply to `request` finds its way. InvalidArgument when nobody waits for one.
[[nodiscard]] Result<std::string> replyProperties(const ReceivedMessage& request);

}  // namespace patchbay::client
