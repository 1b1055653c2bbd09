// AssignmentProcessor: QUERY_ASSIGNMENT (400) and SET_MESSAGE_REQUEST_MODE (401).
#pragma once

#include "RebalanceConfig.h"
#include "RequestModes.h"
#include "Routes.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TopicConfigs.h"

#include <memory>
#include <string>

namespace patchbay::plugins::rebalance {

struct RebalanceServices {
    plugin::ServiceRef<service::TopicConfigs> topics;
    plugin::ServiceRef<service::SubscriptionGroups> groups;
    plugin::ServiceRef<service::ClientRegistry> clients;
};

/// What a member asks.
struct AssignmentQuery {
    std::string topic;
    std::string group;
    std::string clientId;
    std::string strategy;
    bool broadcasting = false;
};

/// Owned by the plugin. 400 is answered on the loop when the route is known, else on the control executor; 401 runs on the plugin's
/// executor, since it writes a file.
class AssignmentProcessor final : public plugin::Processor {
public:
    AssignmentProcessor(const RebalanceServices& services, plugin::PluginContext& context, const RebalanceConfig& config, RequestModes& modes)
        : services_(services), context_(context), config_(config), modes_(modes), routes_(context, *services.topics, config.routeLife) {}
    void process(plugin::Request request) override;

private:
    void query(plugin::Request request);
    [[nodiscard]] plugin::Response setMode(const plugin::Request& request);
    [[nodiscard]] ModeSetting modeOf(const AssignmentQuery& query) const;
    [[nodiscard]] std::string assignment(const AssignmentQuery& query, const Queues* queues) const;

    const RebalanceServices& services_;
    plugin::PluginContext& context_;
    const RebalanceConfig& config_;
    RequestModes& modes_;
    Routes routes_;
};

}  // namespace patchbay::plugins::rebalance
