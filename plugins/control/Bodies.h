// Bodies: what the private codes answer, as JSON; docs/protocol.md has the shapes.
#pragma once

#include "patchbay/plugin/Runtime.h"
#include "patchbay/service/ConfigReport.h"
#include "patchbay/service/Observation.h"
#include "patchbay/service/PluginControl.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchbay::plugins::control {

[[nodiscard]] std::string pluginsBody(const std::vector<service::PluginInfo>& plugins);
[[nodiscard]] std::string inspectionBody(const service::PluginInspection& inspection);
[[nodiscard]] std::string metricsBody(const service::Observation& observation, const plugin::Metrics& counters, std::int64_t nowMs);
[[nodiscard]] std::string configurationBody(const std::vector<service::ConfigFact>& facts);

}  // namespace patchbay::plugins::control
