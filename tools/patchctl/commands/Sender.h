// Sender: sends messages to one topic, one after the other.
#pragma once

#include "commands/Session.h"

#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/route/TopicRoute.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::patchctl {

struct Outgoing {
    std::string body;
    std::string tags;
    std::string keys;
    std::vector<std::pair<std::string, std::string>> properties;
    std::int32_t delayLevel = 0;           ///< 0: at once
    std::int32_t flag = 0;
    std::optional<std::int32_t> queue;     ///< unset: queues take turns
};

struct Sent {
    std::string id;
    std::string offsetId;
    std::string broker;
    std::string status;                    ///< "stored", or what is not known of it
    std::int32_t queue = 0;
    std::int64_t offset = 0;
};

/// A movable handle; the session outlives it. One thread each; several senders may be used by several threads.
class Sender {
public:
    /// NotFound when the name server has no route to the topic that may be written. A topic that does not exist is not created.
    static Result<Sender> open(Session& session, const std::string& topic);
    [[nodiscard]] Result<Sent> send(const Outgoing& message);

private:
    struct Queue {
        std::string broker;
        std::string address;
        std::int32_t id;
    };
    Sender(client::AdminClient& client, const Clock& clock, std::string topic, std::chrono::milliseconds timeout);

    client::AdminClient* client_;
    const Clock* clock_;
    std::string topic_;
    std::chrono::milliseconds timeout_;
    std::unique_ptr<protocol::UniqueIdGenerator> ids_;
    std::vector<Queue> queues_;
    std::size_t next_ = 0;
};

}  // namespace patchbay::patchctl
