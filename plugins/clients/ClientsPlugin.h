// ClientsPlugin: who is connected.
#pragma once

#include "ClientProcessor.h"
#include "ClientsConfig.h"
#include "QueueLocks.h"
#include "Registry.h"

#include "patchbay/plugin/Plugin.h"

#include <memory>

namespace patchbay::plugins::clients {

/// Owned by the kernel. The registry lives from init() to destruction, because borrowers may ask it until their own stop.
class ClientsPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return ClientsConfig::keys(); }
    Status configure(const plugin::ConfigView& view) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    void stop() noexcept override;

private:
    ClientsConfig config_;
    plugin::PluginContext* context_ = nullptr;
    plugin::ServiceRef<service::TopicConfigs> topics_;
    plugin::ServiceRef<service::SubscriptionGroups> groups_;
    plugin::ServiceRef<service::MessageFilter> filters_;
    std::unique_ptr<Registry> registry_;
    std::unique_ptr<QueueLocks> locks_;
    std::unique_ptr<ClientProcessor> processor_;
};

}  // namespace patchbay::plugins::clients
