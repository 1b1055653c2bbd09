// ClientProcessor: what clients tell a broker about themselves (34, 35, 46), and ask it about each other (38, 41, 42).
#pragma once

#include "ClientChecks.h"
#include "ClientsConfig.h"
#include "QueueLocks.h"
#include "Registry.h"

#include "patchbay/plugin/Processor.h"
#include "patchbay/service/MessageFilter.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TopicConfigs.h"

#include <string>

namespace patchbay::plugins::clients {

/// Loop-safe: a heartbeat is parsed and registered on the loop, so that a pull right behind it finds its subscription; only the
/// first one of a new group writes, some hundred bytes to the page cache. Owned by the plugin; what it refers to outlives it.
class ClientProcessor final : public plugin::Processor {
public:
    ClientProcessor(plugin::PluginContext& context, const ClientsConfig& config, Registry& registry, QueueLocks& locks,
                    service::TopicConfigs& topics, service::SubscriptionGroups& groups, service::MessageFilter* filters)
        : context_(context), config_(config), checks_(config), registry_(registry), locks_(locks), topics_(topics), groups_(groups), filters_(filters) {}
    void process(plugin::Request request) override;

private:
    void heartbeat(plugin::Request request);
    void unregister(plugin::Request request);
    void consumerList(plugin::Request request);
    void checkClientConfig(plugin::Request request);
    void lockQueues(plugin::Request request, bool lock);
    /// True when the client should send its subscriptions in full.
    bool registerConsumer(const Sender& from, const protocol::ConsumerData& data, const protocol::HeartbeatData& heartbeat);

    plugin::PluginContext& context_;
    const ClientsConfig config_;
    const ClientChecks checks_;
    const std::string locksFullRemark_ = "not all queues are locked, limit queueLocksMax " + std::to_string(config_.queueLocksMax);
    Registry& registry_;
    QueueLocks& locks_;
    service::TopicConfigs& topics_;
    service::SubscriptionGroups& groups_;
    service::MessageFilter* const filters_;  // null: only tags are served
};

}  // namespace patchbay::plugins::clients
