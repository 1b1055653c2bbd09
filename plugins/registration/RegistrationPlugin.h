// RegistrationPlugin: puts the Registrar to work.
#pragma once

#include "Registrar.h"
#include "RegistrationConfig.h"

#include "patchbay/plugin/Plugin.h"

namespace patchbay::plugins::registration {

/// Provides patchbay.Registration/1. Leaves the name servers as soon as it is drained, so that clients go elsewhere while the
/// rest of the broker still stops.
class RegistrationPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return RegistrationConfig::keys(); }
    Status configure(const plugin::ConfigView& config) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    Status reconfigure(const plugin::ConfigView& config, std::span<const std::string_view> changed) override;
    void drain() noexcept override;
    void stop() noexcept override;

private:
    RegistrationConfig config_;
    Ref<Registrar> registrar_;
};

}  // namespace patchbay::plugins::registration
