// DependencyOrder: which plugins run, and in which order they start. Edges come from services, not from names.
#pragma once

#include "app/Errors.h"
#include "config/ConfigSources.h"

#include <string>
#include <vector>

namespace patchbay::kernel {

struct DependencyNode {
    std::string name;
    std::vector<std::string> provides;
    std::vector<std::string> requires_;
    std::vector<std::string> wants;
    bool optional = false;   ///< a broker starts without it
    bool first = false;      ///< before all that it does not need
};

/// A library that is installed but not enabled, for advice.
struct PossibleProvider {
    std::string name;
    std::vector<std::string> provides;
};

struct DependencyResult {
    std::vector<std::string> order;       ///< a provider stands before those that use it; ties by `first`, then by name
    std::vector<std::string> notChosen;   ///< lost a `service.NAME = plugin` choice; not to be loaded
    std::vector<Problem> skipped;         ///< optional plugins that cannot run, and why
};

/// Problems: PB-1111 nobody provides a required service, PB-1112 two do, PB-1113 a circle, PB-1114 a choice that cannot be.
[[nodiscard]] DependencyResult orderPlugins(std::vector<DependencyNode> nodes, const ServiceChoices& choices,
                                            const std::vector<PossibleProvider>& possible, Problems& problems);

}  // namespace patchbay::kernel
