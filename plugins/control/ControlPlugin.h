// ControlPlugin: operators' requests, on every listener or on the one for administration.
#pragma once

#include "ControlProcessor.h"
#include "patchbay/plugin/LocalOnly.h"
#include "patchbay/plugin/Plugin.h"

#include <memory>

namespace patchbay::plugins::control {

/// Owned by the kernel.
class ControlPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override;
    Status configure(const plugin::ConfigView& view) override;
    Status init(plugin::PluginContext& context) override;
    void stop() noexcept override { processor_.reset(); }

private:
    /// On every listener for clients, or only on the one for administration.
    Status bind(plugin::Processors& processors);

    plugin::LocalOnly localOnly_;
    std::unique_ptr<ControlProcessor> processor_;
};

}  // namespace patchbay::plugins::control
