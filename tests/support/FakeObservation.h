// FakeObservation: counts as a test wants them.
#pragma once

#include "patchbay/service/Observation.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace patchbay::test {

class FakeObservation final : public service::Observation {
public:
    [[nodiscard]] std::vector<service::RequestStats> requests() const override { return requestStats; }
    [[nodiscard]] std::vector<service::ExecutorStats> executors() const override { return executorStats; }
    [[nodiscard]] std::vector<service::PluginFaults> faults() const override { return pluginFaults; }
    [[nodiscard]] service::ProcessStats process() const override { return processStats; }
    [[nodiscard]] std::optional<bool> serves(std::string_view listener, std::int32_t code) const override {
        const auto at = served.find(std::string(listener));
        if (at == served.end()) return std::nullopt;
        return at->second.contains(code);
    }

    std::vector<service::RequestStats> requestStats;
    std::vector<service::ExecutorStats> executorStats;
    std::vector<service::PluginFaults> pluginFaults;
    service::ProcessStats processStats;
    std::map<std::string, std::set<std::int32_t>> served;   ///< by listener
};

}  // namespace patchbay::test
