// NamesrvPlugin: the name server, put together.
#pragma once

#include "ConfigProcessor.h"
#include "KvConfig.h"
#include "MinBrokerNotifier.h"
#include "NamesrvConfig.h"
#include "ReachProcessor.h"
#include "RegistryProcessor.h"
#include "RouteProcessor.h"
#include "RouteTable.h"

#include "patchbay/plugin/Plugin.h"

#include <memory>

namespace patchbay::plugins::namesrv {

/// Serves the listener "namesrv". Routes live in memory and are built up by brokers within one registration period; only the
/// key-value table is on disk. Nothing is held back from a client, so stopping it needs no draining.
class NamesrvPlugin final : public plugin::Plugin, private plugin::PeerListener {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return NamesrvConfig::keys(); }
    Status configure(const plugin::ConfigView& config) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    Status reconfigure(const plugin::ConfigView& config, std::span<const std::string_view> changed) override;
    void stop() noexcept override;

private:
    void peerClosed(plugin::Peer& peer) noexcept override;
    Status bindProcessors();
    void scan();

    NamesrvConfig config_;
    plugin::LocalOnly localOnly_;
    RouteTable routes_;
    plugin::PluginContext* context_ = nullptr;
    std::unique_ptr<KvConfig> kv_;
    std::unique_ptr<MinBrokerNotifier> notifier_;
    std::unique_ptr<RouteProcessor> routeProcessor_;
    std::unique_ptr<RegistryProcessor> registryProcessor_;
    std::unique_ptr<ConfigProcessor> configProcessor_;
    std::unique_ptr<ReachProcessor> reachProcessor_;
    plugin::TimerId scanTimer_ = 0;
};

}  // namespace patchbay::plugins::namesrv
