// Reply: one reply on its way to the client that asked, and into the store.
#pragma once

#include "patchbay/plugin/Request.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/service/MessageStore.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::plugins::reply {

/// Facts about this broker that a reply carries and that its answer names.
struct ReplyFacts {
    SocketAddress storeHost;
    std::string region;
    bool traceOn = true;
    /// Adds MSG_REGION and TRACE_ON, which every answer to a send carries.
    void write(protocol::FieldList& fields) const;
};

/// Owns a copy of what was sent, because the wait for the client would pin the receive buffer. Used by one thread at a time;
/// owned by the processor's functions, by the call to the client, and by the store, one after the other.
class Reply final : public service::AppendBatch {
public:
    /// `ended` runs when the reply has been answered and is no more.
    Reply(plugin::Request request, const protocol::SendMessageRequest& header, std::int32_t queueId, const ReplyFacts& facts,
          std::function<void()> ended);

    /// The id of the client that asked; empty when the reply does not say it.
    [[nodiscard]] std::string_view client() const noexcept { return properties_.get(protocol::kPropertyReplyToClient); }
    /// The request that brings it to the client.
    [[nodiscard]] protocol::RemotingCommand pushCommand(std::int64_t nowMs) const;
    /// How the way to the client ended.
    void pushed(protocol::ResponseCode code, std::string remark);
    /// Makes the item to append. Then the store owns the reply, which finishes when it is done.
    void prepareItem();
    /// Answers the replier.
    static void finish(std::unique_ptr<Reply> reply) noexcept;

    void done() noexcept override { finish(std::unique_ptr<Reply>(this)); }

private:
    void answer();

    plugin::Request request_;
    const ReplyFacts& facts_;
    std::function<void()> ended_;
    protocol::SendMessageRequest header_;     // of its texts only those below are there
    const std::string producerGroup_;
    const std::string topic_;
    const std::string defaultTopic_;
    const std::int32_t queueId_;
    const SocketAddress bornHost_;
    protocol::Properties properties_;
    std::string propertiesText_;
    std::string body_;
    protocol::ResponseCode code_ = protocol::ResponseCode::Success;
    std::string remark_;
};

}  // namespace patchbay::plugins::reply
