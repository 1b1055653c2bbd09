// StatisticsPlugin: measures traffic, answers VIEW_BROKER_STATS_DATA (315), offers the figures to other plugins.
#pragma once

#include "Traffic.h"

#include "patchbay/plugin/Plugin.h"

#include <chrono>
#include <memory>

namespace patchbay::plugins::statistics {

/// Answers 315 from memory. Owned by the plugin.
class StatsProcessor final : public plugin::Processor {
public:
    explicit StatsProcessor(const Traffic& traffic) : traffic_(traffic) {}
    void process(plugin::Request request) override;

private:
    const Traffic& traffic_;
};

/// Owned by the kernel. The counts live from init() to destruction, because borrowers may ask until their own stop.
class StatisticsPlugin final : public plugin::Plugin {
public:
    static constexpr std::chrono::seconds kInterval{10};

    std::span<const plugin::ConfigKey> configKeys() const noexcept override;
    Status configure(const plugin::ConfigView& view) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    void stop() noexcept override;

private:
    plugin::PluginContext* context_ = nullptr;
    Sources sources_;
    std::unique_ptr<Traffic> traffic_;
    std::unique_ptr<StatsProcessor> processor_;
    bool detail_ = false;
    bool listening_ = false;
};

}  // namespace patchbay::plugins::statistics
