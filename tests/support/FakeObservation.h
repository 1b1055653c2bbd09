// FakeObservation: counts as a test wants them.
#pragma once

#include "patchbay/service/Observation.h"

#include <vector>

namespace patchbay::test {

class FakeObservation final : public service::Observation {
public:
    [[nodiscard]] std::vector<service::RequestStats> requests() const override { return requestStats; }
    [[nodiscard]] std::vector<service::ExecutorStats> executors() const override { return executorStats; }
    [[nodiscard]] std::vector<service::PluginFaults> faults() const override { return pluginFaults; }
    [[nodiscard]] service::ProcessStats process() const override { return processStats; }

    std::vector<service::RequestStats> requestStats;
    std::vector<service::ExecutorStats> executorStats;
    std::vector<service::PluginFaults> pluginFaults;
    service::ProcessStats processStats;
};

}  // namespace patchbay::test
