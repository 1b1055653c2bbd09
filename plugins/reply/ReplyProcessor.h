// ReplyProcessor: serves SEND_REPLY_MESSAGE and SEND_REPLY_MESSAGE_V2.
#pragma once

#include "Reply.h"
#include "ReplyConfig.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/TopicConfigs.h"

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

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
    using Began = std::list<MonotonicTime>;
    /// Where the reply is kept; nothing when there are too many.
    std::optional<Began::iterator> enter();
    void leave(Began::iterator which) noexcept;
    [[nodiscard]] std::string tooMany();
    void push(std::unique_ptr<Reply> reply);
    void keep(std::unique_ptr<Reply> reply);

    ReplyServices services_;
    plugin::PluginContext& context_;
    const ReplyConfig config_;
    const ReplyFacts facts_;

    std::mutex mutex_;
    std::condition_variable idle_;
    Began underWay_;   // guarded by mutex_; oldest first
};

}  // namespace patchbay::plugins::reply
