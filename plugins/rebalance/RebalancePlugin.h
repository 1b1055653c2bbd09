// RebalancePlugin: queues of members, shared out by the broker.
#pragma once

#include "AssignmentProcessor.h"

#include <memory>

namespace patchbay::plugins::rebalance {

/// Owned by the kernel.
class RebalancePlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return RebalanceConfig::keys(); }
    Status configure(const plugin::ConfigView& config) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override { return modes_->load(); }
    void stop() noexcept override;

private:
    RebalanceConfig config_;
    RebalanceServices services_;
    std::unique_ptr<RequestModes> modes_;
    std::unique_ptr<AssignmentProcessor> processor_;
};

}  // namespace patchbay::plugins::rebalance
