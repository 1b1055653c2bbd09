// Health: whether the process lives, and whether clients should come.
#pragma once

#include "patchbay/plugin/Services.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/Observation.h"

#include <string>
#include <vector>

namespace patchbay::plugins::metrics {

/// Reasons why clients should not come; none = they should. `store` may be null: a name server has none.
[[nodiscard]] std::vector<std::string> reasonsNotReady(const service::ProcessStats& process, const service::StoreStats* store);
/// {"ready":false,"why":["…"]}.
[[nodiscard]] std::string readyBody(const std::vector<std::string>& reasons);

}  // namespace patchbay::plugins::metrics
