// Health: whether the process lives, and whether clients should come.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/Observation.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::metrics {

/// What clients have to find at the listeners that the process has.
struct NeededCodes {
    std::vector<std::int32_t> broker;
    std::vector<std::int32_t> namesrv;
};

/// "34 310 11"; InvalidArgument, naming `key`, for what is no number.
[[nodiscard]] Result<std::vector<std::int32_t>> parseCodes(std::string_view key, std::string_view text);
/// Reasons why clients should not come; none = they should. `store` may be null: a name server has none.
[[nodiscard]] std::vector<std::string> reasonsNotReady(const service::Observation& observation, const service::StoreStats* store, const NeededCodes& needed);
/// {"ready":false,"why":["…"]}.
[[nodiscard]] std::string readyBody(const std::vector<std::string>& reasons);

}  // namespace patchbay::plugins::metrics
