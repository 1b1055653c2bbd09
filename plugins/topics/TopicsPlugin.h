// TopicsPlugin: topics and consumer groups as services.
#pragma once

#include "GroupTable.h"
#include "TopicTable.h"
#include "TopicsConfig.h"

#include "patchbay/plugin/Plugin.h"

#include <memory>

namespace patchbay::plugins::topics {

/// Owned by the kernel. The tables live from init() to destruction, because borrowers may ask them until their own stop.
class TopicsPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return TopicsConfig::keys(); }
    Status configure(const plugin::ConfigView& view) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    Status reconfigure(const plugin::ConfigView& view, std::span<const std::string_view> changed) override;
    void stop() noexcept override;

private:
    TopicsConfig config_;
    std::unique_ptr<TopicTable> topics_;
    std::unique_ptr<GroupTable> groups_;
};

}  // namespace patchbay::plugins::topics
