// ReplyPlugin: request and reply between clients.
#pragma once

#include "ReplyProcessor.h"

#include <memory>

namespace patchbay::plugins::reply {

/// Owned by the kernel.
class ReplyPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return ReplyConfig::keys(); }
    Status configure(const plugin::ConfigView& view) override;
    Status init(plugin::PluginContext& context) override;
    void stop() noexcept override;

private:
    ReplyConfig config_;
    std::unique_ptr<ReplyProcessor> processor_;
};

}  // namespace patchbay::plugins::reply
