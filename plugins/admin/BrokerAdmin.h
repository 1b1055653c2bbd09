// BrokerAdmin: the broker's configuration and its state (25, 26, 28).
#pragma once

#include "AdminProcessor.h"
#include "RuntimeStats.h"

#include <functional>
#include <map>
#include <string>

namespace patchbay::plugins::admin {

class BrokerAdmin final : public AdminProcessor {
public:
    BrokerAdmin(const AdminServices& services, plugin::PluginContext& context, const RuntimeStats& stats)
        : AdminProcessor(services), context_(context), stats_(stats) {}

protected:
    [[nodiscard]] plugin::Response answer(const plugin::Request& request) override;

private:
    [[nodiscard]] plugin::Response updateConfig(const plugin::Request& request);
    [[nodiscard]] plugin::Response config() const;
    [[nodiscard]] plugin::Response runtimeInfo() const;
    /// What the kernel counts: latencies, queues.
    void addObserved(std::map<std::string, std::string, std::less<>>& table) const;
    void addTimers(std::map<std::string, std::string, std::less<>>& table, const RuntimeStats::Rates& rates) const;
    void addStoreTimes(std::map<std::string, std::string, std::less<>>& table, const service::StoreStats& store) const;
    void addDelays(std::map<std::string, std::string, std::less<>>& table) const;
    void addDisk(std::map<std::string, std::string, std::less<>>& table) const;

    plugin::PluginContext& context_;
    const RuntimeStats& stats_;
};

}  // namespace patchbay::plugins::admin
