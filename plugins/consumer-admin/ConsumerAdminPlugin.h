// ConsumerAdminPlugin: what operators do to consumer groups, and ask about them.
#pragma once

#include "ClientRelay.h"
#include "Forbidding.h"
#include "OffsetAdmin.h"
#include "WhyStuck.h"

#include <memory>

namespace patchbay::plugins::consumer_admin {

/// Owned by the kernel. Everything runs on the executor "consumer-admin", so that no look into the store delays a send or a pull.
class ConsumerAdminPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override;
    Status configure(const plugin::ConfigView& config) override;
    Status init(plugin::PluginContext& context) override;
    void stop() noexcept override;

private:
    Status borrow(plugin::Services& from);

    bool serverSideReset_ = true;
    Services services_;
    std::unique_ptr<OffsetAdmin> offsets_;
    std::unique_ptr<ClientRelay> relay_;
    std::unique_ptr<Forbidding> forbidding_;
    std::unique_ptr<WhyStuck> whyStuck_;
};

}  // namespace patchbay::plugins::consumer_admin
