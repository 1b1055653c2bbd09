// RetryPlugin: second chances for messages, and the dead-letter topic after the last.
#pragma once

#include "RetryRules.h"
#include "SendBackProcessor.h"

#include "patchbay/plugin/Plugin.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace patchbay::plugins::retry {

/// Owned by the kernel. The policy lives from init() to destruction, because the send plugin may ask it until its own stop.
class RetryPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override;
    Status configure(const plugin::ConfigView& view) override;
    Status reconfigure(const plugin::ConfigView& view, std::span<const std::string_view> changed) override;
    Status init(plugin::PluginContext& context) override;
    void stop() noexcept override;

private:
    std::atomic<std::uint32_t> permission_{6};   // brokerPermission
    std::unique_ptr<RetryRules> rules_;
    std::unique_ptr<SendBackProcessor> processor_;
};

}  // namespace patchbay::plugins::retry
