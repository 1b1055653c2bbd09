// Forbidding: which topics a group may not read (353).
#pragma once

#include "Answers.h"

namespace patchbay::plugins::consumer_admin {

/// Owned by the plugin. process() runs on the plugin's executor, because a change is written to the disk.
class Forbidding final : public plugin::Processor {
public:
    Forbidding(const Services& services, plugin::PluginContext& context) : services_(services), context_(context) {}
    void process(plugin::Request request) override;

private:
    [[nodiscard]] plugin::Response answer(const plugin::Request& request) const;

    const Services& services_;
    plugin::PluginContext& context_;
};

}  // namespace patchbay::plugins::consumer_admin
