// DelayPlugin: messages that are delivered later.
#pragma once

#include "DelayConfig.h"
#include "DelayProgress.h"
#include "DelayRewrite.h"
#include "Delivery.h"

#include "patchbay/plugin/Plugin.h"

#include <memory>
#include <optional>

namespace patchbay::plugins::delay {

/// Serves GET_ALL_DELAY_OFFSET, for replicas. Loop-safe: answers from memory.
class DelayOffsetProcessor final : public plugin::Processor {
public:
    explicit DelayOffsetProcessor(const DelayProgress& progress) : progress_(progress) {}
    void process(plugin::Request request) override;

private:
    const DelayProgress& progress_;
};

/// Owned by the kernel. Only a master delivers; the store of a replica takes no messages.
class DelayPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return DelayConfig::keys(); }
    Status configure(const plugin::ConfigView& view) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    void drain() noexcept override;
    void stop() noexcept override;

private:
    void persist() noexcept;

    std::optional<DelayConfig> config_;
    plugin::PluginContext* context_ = nullptr;
    plugin::ServiceRef<service::MessageStore> store_;
    plugin::ServiceRef<service::TimerSchedule> timers_;
    std::unique_ptr<DelayProgress> progress_;
    std::unique_ptr<DelayRewrite> rewrite_;
    std::unique_ptr<DelayOffsetProcessor> processor_;
    std::unique_ptr<Delivery> delivery_;
};

}  // namespace patchbay::plugins::delay
