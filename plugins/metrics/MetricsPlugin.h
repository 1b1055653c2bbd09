// MetricsPlugin: /metrics, /health/live and /health/ready.
#pragma once

#include "Health.h"
#include "HttpEndpoint.h"
#include "RocketmqMetrics.h"
#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/Observation.h"

#include <cstdint>
#include <string>

namespace patchbay::plugins::metrics {

/// Owned by the kernel.
class MetricsPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override;
    Status configure(const plugin::ConfigView& view) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    void stop() noexcept override;

private:
    [[nodiscard]] std::string figures() const;
    [[nodiscard]] HttpAnswer answer(const std::string& path) const;

    std::string host_;
    std::uint16_t port_ = 0;
    plugin::Metrics* counters_ = nullptr;
    plugin::Logger* log_ = nullptr;
    plugin::PluginContext* context_ = nullptr;
    RocketmqFamilies families_;
    BrokerSources sources_;
    plugin::ServiceRef<service::Observation> observation_;
    plugin::ServiceRef<service::MessageStore> store_;   // empty in a name server
    HttpEndpoint endpoint_;
    NeededCodes needed_;
};

}  // namespace patchbay::plugins::metrics
