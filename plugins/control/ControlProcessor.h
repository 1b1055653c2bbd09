// ControlProcessor: answers the private codes.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/LocalOnly.h"
#include "patchbay/plugin/Processor.h"
#include "patchbay/plugin/Runtime.h"
#include "patchbay/service/ConfigReport.h"
#include "patchbay/service/Observation.h"
#include "patchbay/service/PluginControl.h"

namespace patchbay::plugins::control {

struct Services {
    plugin::ServiceRef<service::PluginControl> plugins;
    plugin::ServiceRef<service::ConfigReport> config;
    plugin::ServiceRef<service::Observation> observation;
    plugin::Metrics& metrics;
    const Clock& clock;
};

/// On its executor; what changes plugins is answered on the lifecycle thread when it is done. Owned by the plugin.
class ControlProcessor final : public plugin::Processor {
public:
    ControlProcessor(Services services, plugin::LocalOnly localOnly) : services_(std::move(services)), localOnly_(std::move(localOnly)) {}
    void process(plugin::Request request) override;

private:
    void list(plugin::Request request);
    void change(plugin::Request request, const std::string& name);
    [[nodiscard]] plugin::Response inspect(const std::string& name);
    [[nodiscard]] plugin::Response metrics();
    [[nodiscard]] plugin::Response configuration();
    [[nodiscard]] plugin::Response check(const protocol::CommandView& command);
    [[nodiscard]] plugin::Response unset(const protocol::CommandView& command);

    Services services_;
    const plugin::LocalOnly localOnly_;
};

}  // namespace patchbay::plugins::control
