// ReplyProcessor: serves SEND_REPLY_MESSAGE and SEND_REPLY_MESSAGE_V2.
#pragma once

#include "Reply.h"
#include "ReplyConfig.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/TopicConfigs.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace patchbay::plugins::reply {

/// What the processor borrows; valid as long as it.
struct ReplyServices {
    plugin::ServiceRef<service::MessageStore> store;
    plugin::ServiceRef<service::TopicConfigs> topics;
    plugin::ServiceRef<service::ClientRegistry> clients;
};

/// Pushes a reply over the connection of the client that asked, waits without a thread for its answer, then stores the reply.
/// The replier is told how the push went, whatever the store says. Owned by the plugin, which calls awaitIdle() before it is
/// destroyed. Any lane; the rest of a reply's life runs on the kernel's executor and on threads of the store.
class ReplyProcessor final : public plugin::Processor {
public:
    ReplyProcessor(ReplyServices services, plugin::PluginContext& context, const ReplyConfig& config);

    void process(plugin::Request request) override;
    /// Blocks until every reply has been answered: as long as a client may take for its answer.
    void awaitIdle() noexcept;

private:
    std::optional<plugin::Response> check(const protocol::SendMessageRequest& header, const plugin::Peer& peer,
                                          std::int32_t& queueId) const;
    bool enter();
    void leave() noexcept;
    void push(std::unique_ptr<Reply> reply);
    void keep(std::unique_ptr<Reply> reply);

    ReplyServices services_;
    plugin::PluginContext& context_;
    const ReplyConfig config_;
    const ReplyFacts facts_;

    std::mutex mutex_;
    std::condition_variable idle_;
    std::int32_t underWay_ = 0;
};

}  // namespace patchbay::plugins::reply
