// RetryPlugin: second chances for messages, and the dead-letter topic after the last.
#pragma once

#include "RetryRules.h"
#include "SendBackProcessor.h"

#include "patchbay/plugin/Plugin.h"

#include <memory>

namespace patchbay::plugins::retry {

/// Owned by the kernel. The policy lives from init() to destruction, because the send plugin may ask it until its own stop.
class RetryPlugin final : public plugin::Plugin {
public:
    Status init(plugin::PluginContext& context) override;
    void stop() noexcept override;

private:
    std::unique_ptr<RetryRules> rules_;
    std::unique_ptr<SendBackProcessor> processor_;
};

}  // namespace patchbay::plugins::retry
