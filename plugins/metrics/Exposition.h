// Exposition: everything that is counted, in Prometheus' text format.
#pragma once

#include "patchbay/plugin/Runtime.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/Observation.h"

#include <string>

namespace patchbay::plugins::metrics {

/// `store` may be null. Metrics named after plugins and codes have the same label names everywhere: listener, plugin, code, executor.
[[nodiscard]] std::string exposition(const service::Observation& observation, const plugin::Metrics& counters, const service::MessageStore* store);

}  // namespace patchbay::plugins::metrics
