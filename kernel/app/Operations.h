// Operations: what an operator may see and change of the running process, behind the kernel's own services.
#pragma once

#include "app/LifecycleLoop.h"
#include "app/Preparation.h"
#include "config/RuntimeConfigStore.h"
#include "log/LogSystem.h"
#include "patchbay/service/ConfigReport.h"
#include "patchbay/service/Observation.h"
#include "patchbay/service/PluginControl.h"
#include "server/Server.h"

#include <atomic>
#include <string>
#include <vector>

namespace patchbay::kernel {

/// Owned by the application, made before any plugin and destroyed after all. Between run() of the application and its stop the
/// services may be called by any thread; changes run on the lifecycle thread, one after the other.
class Operations final : public service::PluginControl, public service::ConfigReport, public service::Observation {
public:
    Operations(FileSystem& files, const LaunchOptions& options, Preparation& prepared, LifecycleLoop& loop)
        : files_(files), options_(options), prepared_(prepared), loop_(loop) {}

    /// Offers the services to the plugins. Before they are loaded.
    void offerTo(PluginHost& host);
    /// What the process consists of once it runs. `startedWallMs` is shown.
    void attach(Server& server, RuntimeConfigStore& runtime, LogSystem& log, std::int64_t startedWallMs);
    /// Clients may come, or not any more.
    void serving(bool yes) noexcept { serving_.store(yes, std::memory_order_relaxed); }
    /// The owners of keys among the running plugins.
    [[nodiscard]] std::vector<RuntimeOwner> pluginOwners();

    /// Applies the difference between the files and what runs. Lifecycle thread.
    Status applyFiles();
    /// From any thread: the plugin is switched off soon.
    void switchOffSoon(const std::string& plugin);

    void list(std::function<void(Result<std::vector<service::PluginInfo>>)> done) override;
    [[nodiscard]] Result<service::PluginInspection> inspect(const std::string& name) override;
    void reload(const std::string& name, Done done) override;
    void enable(const std::string& name, bool enabled, Done done) override;
    void reloadConfiguration(Done done) override;

    [[nodiscard]] Result<std::vector<service::ConfigFact>> compare() const override;
    [[nodiscard]] Status check(const std::string& listener, const std::string& key, const std::string& value) const override;
    Status unset(const std::string& key, bool dryRun) override;

    [[nodiscard]] std::vector<service::RequestStats> requests() const override;
    [[nodiscard]] std::vector<service::ExecutorStats> executors() const override;
    [[nodiscard]] std::vector<service::PluginFaults> faults() const override;
    [[nodiscard]] service::ProcessStats process() const override;
    [[nodiscard]] std::optional<bool> serves(std::string_view listener, std::int32_t code) const override;

private:
    struct Order {
        std::string reload;     ///< a plugin to load anew
        std::string toSwitch;   ///< a plugin to switch on or off, and
        bool on = false;
    };
    void soon(Order order, Done done);
    /// All or nothing.
    Status change(const Order& order);
    Status changeOrThrow(const Order& order);
    [[nodiscard]] std::vector<service::PluginInfo> plugins() const;
    [[nodiscard]] service::PluginInfo infoOf(const PluginInstance& instance, const char* state) const;
    /// Why a plugin that is enabled now does not run all the same.
    [[nodiscard]] Status doesNotServe(const std::string& name) const;
    void addLines(const ConfigSources& sources, std::vector<service::ConfigFact>& facts) const;
    void checkFiles(const ConfigSources& sources, Problems& problems) const;
    [[nodiscard]] Status checkKeysOf(const ConfigSources& sources, const PluginPlan& plan);

    FileSystem& files_;
    const LaunchOptions& options_;
    Preparation& prepared_;
    LifecycleLoop& loop_;
    Server* server_ = nullptr;
    RuntimeConfigStore* runtime_ = nullptr;
    LogSystem* log_ = nullptr;
    std::int64_t startedWallMs_ = 0;
    std::atomic<bool> serving_{false};
    /// Of one that the kernel switched off: until the process ends or an operator enables it.
    struct SwitchedOff {
        std::string why;
        ConfigValues values;   ///< its keys in the main file are still known
    };
    std::map<std::string, SwitchedOff> switchedOff_;   ///< lifecycle thread only
};

}  // namespace patchbay::kernel
