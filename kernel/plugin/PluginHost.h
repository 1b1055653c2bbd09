// PluginHost: finds, checks, orders, starts, exchanges and stops the plugins of the process.
#pragma once

#include "app/Errors.h"
#include "config/ConfigSources.h"
#include "config/KeyCheck.h"
#include "dispatch/RouteTable.h"
#include "plugin/DependencyOrder.h"
#include "plugin/PluginInstance.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace patchbay::kernel {

struct PluginHostOptions {
    std::string pluginDirectory;       ///< where relative library names start
    std::string copyDirectory;         ///< of the private copies; made when missing
    std::string defaultDirectory;      ///< where relative default paths of plugins start
    std::vector<std::string> roles;    ///< the listeners of this process
    bool unload = false;               ///< unmap stopped plugins instead of retiring them
    std::chrono::milliseconds idleTimeout{2000};     ///< how long a plugin is waited for, at the stop of the process
    std::chrono::milliseconds retireTimeout{60'000}; ///< how long an exchanged generation may go on with its last requests
    std::chrono::milliseconds holdTimeout{2000};     ///< how long requests may be held while services are exchanged
};

/// What is to be changed: made by PluginHost::plan(), checked by its caller, carried out or thrown away.
class PluginPlan {
public:
    PluginPlan() = default;
    PluginPlan(PluginPlan&&) = default;
    PluginPlan& operator=(PluginPlan&&) = default;
    ~PluginPlan();

    [[nodiscard]] bool empty() const noexcept { return affected_.empty(); }
    /// Generations that are loaded and configured and not started, in start order.
    [[nodiscard]] const std::vector<std::unique_ptr<PluginInstance>>& next() const noexcept { return next_; }
    [[nodiscard]] bool affects(std::string_view name) const { return affected_.contains(name); }

private:
    friend class PluginHost;
    std::set<std::string, std::less<>> affected_;          ///< that end, begin or begin anew
    std::vector<std::string> order_;                        ///< of all that shall run
    std::vector<std::unique_ptr<PluginInstance>> next_;     ///< of those that begin
    std::vector<std::string> notChosen_;
    std::vector<std::string> notes_;
    bool hold_ = false;                                     ///< requests have to wait meanwhile
};

/// In this order: load, configure, start; then any number of changes; then drain and stop. One object for the process, owned by the
/// application; lifecycle thread only. Whatever is wrong is collected, so that an operator sees all of it at once.
class PluginHost {
public:
    PluginHost(FileSystem& files, PluginHostOptions options);
    ~PluginHost();   ///< stops

    /// A service of the process itself, for plugins that require it. Before start().
    template <typename T>
    void offer(T& service) { offerRaw(T::kId, static_cast<T*>(&service)); }
    /// Reads manifests, decides who runs in which order, maps libraries and makes the plugin objects. After a problem those that could be
    /// made are there all the same, for configure() to look at their values; they must not be started.
    bool load(const ConfigSources& sources, Problems& problems);
    bool configure(const ConfigSources& sources, Problems& problems);
    /// False when a plugin that is enabled could not be loaded, so that its keys would look unknown.
    [[nodiscard]] bool knowsAllKeys() const noexcept { return keysKnown_; }
    /// init() and start() of each, in order. When one fails, those before it are stopped in reverse.
    bool start(const HostSurroundings& around, const ConfigSources& sources, Problems& problems);

    /// What is bound now, for Server::publish(). After start().
    [[nodiscard]] Ref<RouteTable> routes() const;
    /// Asks all to hand back what they hold, last started first. May be called again.
    void drain() noexcept;
    /// Stops and destroys all, last started first. The empty route table must have been published. A plugin that still has requests
    /// after its time is left as it is, neither stopped nor freed.
    void stop() noexcept;
    /// True when stop() left one: the process must end without destroying what such a plugin uses.
    [[nodiscard]] bool leftRunning() const noexcept { return !unstopped_.empty(); }

    /// What has to happen so that the plugins are those of `sources`, with the libraries that are installed now; `forced` begins anew
    /// even if its library is the same. Loads and configures, starts nothing. Problems: as at start, PB-1115 when `forced` does not run.
    PluginPlan plan(const ConfigSources& sources, const std::string& forced, Problems& problems);
    /// Carries it out: generations that may serve side by side are exchanged while they serve; where a service changes its provider,
    /// requests are held while those that use it end and begin anew. All or nothing: after a problem what ran before runs again.
    bool carryOut(PluginPlan plan, const ConfigSources& sources, Problems& problems);
    /// Ends exchanged generations that have nothing left to do. Answers whether there are more.
    bool retire() noexcept;

    /// In start order.
    [[nodiscard]] const std::vector<std::unique_ptr<PluginInstance>>& instances() const noexcept { return instances_; }
    [[nodiscard]] const std::vector<std::unique_ptr<PluginInstance>>& retiring() const noexcept { return retiring_; }
    [[nodiscard]] PluginInstance* find(std::string_view name) const noexcept;
    /// Providers that lost a choice, and are not loaded.
    [[nodiscard]] const std::vector<std::string>& notChosen() const noexcept { return notChosen_; }
    /// Optional plugins that do not run, and why; other remarks of load().
    [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
    [[nodiscard]] std::vector<std::string> holders(const PluginInstance& instance) const;
    [[nodiscard]] bool inRole(const PluginFile& file) const;
    [[nodiscard]] std::string libraryPath(const PluginFile& file) const;
    /// Manifests of all libraries in a directory that have a good one.
    [[nodiscard]] static std::vector<PluginDescription> installed(FileSystem& files, const std::string& directory);

private:
    using Instances = std::vector<std::unique_ptr<PluginInstance>>;
    struct Candidate {
        PluginFile file;
        std::string path;
        PluginDescription description;
    };
    void offerRaw(const plugin::ServiceId& id, void* service);
    /// False when a library could not be read, so that services may be missing for that reason alone.
    bool findCandidates(const ConfigSources& sources, std::vector<Candidate>& out, std::vector<std::string>& notes, Problems& problems);
    bool check(Candidate& candidate, Problems& problems) const;
    DependencyResult order(const std::vector<Candidate>& candidates, const ServiceChoices& choices, Problems& problems);
    [[nodiscard]] std::vector<const Registrations*> startedRegistrations(const std::set<std::string, std::less<>>& without) const;
    Status initAndStart(PluginInstance& instance, const ConfigSources& sources, std::vector<const Registrations*> others, bool& started);

    // PluginChange.cpp
    void findAffected(PluginPlan& plan, const std::vector<Candidate>& candidates, const std::string& forced) const;
    bool prepare(PluginPlan& plan, const std::vector<Candidate>& candidates, const ConfigSources& sources, Problems& problems);
    bool startBeside(PluginPlan& plan, const ConfigSources& sources, Problems& problems);
    bool exchangeHeld(PluginPlan& plan, const ConfigSources& sources, Problems& problems);
    Instances endAffected(const PluginPlan& plan, Problems& problems);
    void beginAgain(Instances& spares, const ConfigSources& sources);
    [[nodiscard]] std::unique_ptr<PluginInstance> spareOf(const PluginInstance& instance, Problems& problems) const;
    void putInOrder(const std::vector<std::string>& order);
    [[nodiscard]] bool waitQuiet(PluginInstance& instance, MonotonicTime deadline, bool idle);

    /// Drains until nobody refers to it, then stops and destroys it.
    void finish(PluginInstance& instance) noexcept;
    /// Of one that is idle or out of time.
    void end(PluginInstance& instance) noexcept;
    void stopFrom(std::size_t count) noexcept;

    FileSystem& files_;
    const PluginHostOptions options_;
    ServiceRegistry registry_;
    Ref<Generation> kernel_ = Ref<Generation>::adopt(new Generation("kernel", 1));
    HostSurroundings const* around_ = nullptr;
    plugin::Logger* log_ = nullptr;
    Instances instances_;
    Instances retiring_;
    std::map<const PluginInstance*, MonotonicTime> retireBy_;
    std::vector<std::string> notChosen_;
    std::vector<std::string> notes_;
    std::set<std::string> unstopped_;
    bool stopped_ = false;
    bool keysKnown_ = true;
};

}  // namespace patchbay::kernel
