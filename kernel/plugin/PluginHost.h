// PluginHost: finds, checks, orders, starts and stops the plugins of the process.
#pragma once

#include "app/Errors.h"
#include "config/ConfigSources.h"
#include "config/KeyCheck.h"
#include "dispatch/RouteTable.h"
#include "plugin/DependencyOrder.h"
#include "plugin/PluginInstance.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::kernel {

struct PluginHostOptions {
    std::string pluginDirectory;       ///< where relative library names start
    std::string copyDirectory;         ///< of the private copies; made when missing
    std::string defaultDirectory;      ///< where relative default paths of plugins start
    std::vector<std::string> roles;    ///< the listeners of this process
    bool unload = false;               ///< unmap stopped plugins instead of retiring them
    std::chrono::milliseconds idleTimeout{2000};   ///< how long a stopped plugin is waited for until nobody refers to it
};

/// In this order: load, configure, start; then drain and stop. One object for the process, owned by the application; lifecycle
/// thread only. Whatever is wrong is collected, so that an operator sees all of it at once.
class PluginHost {
public:
    PluginHost(FileSystem& files, PluginHostOptions options);
    ~PluginHost();   ///< stops

    /// Reads manifests, decides who runs in which order, maps libraries and makes the plugin objects.
    bool load(const ConfigSources& sources, Problems& problems);
    bool configure(const ConfigSources& sources, Problems& problems);
    /// init() and start() of each, in order. When one fails, those before it are stopped in reverse.
    bool start(const HostSurroundings& around, const ConfigSources& sources, Problems& problems);

    /// What is bound now, for Server::publish(). After start().
    [[nodiscard]] Ref<RouteTable> routes() const;
    /// Asks all to hand back what they hold, last started first. May be called again.
    void drain() noexcept;
    /// Replaces every plugin whose installed library is another file by now, if its manifest says that two generations may serve at
    /// once: the new one starts beside the old one and takes over the routes, then the old one hands back what it holds and ends. No
    /// request is lost. A new library that is refused or fails changes nothing. Answers the names of those that were replaced.
    std::vector<std::string> reloadChanged(const ConfigSources& sources, Problems& problems);
    /// Stops and destroys all, last started first. The empty route table must have been published.
    void stop() noexcept;

    /// In start order.
    [[nodiscard]] const std::vector<std::unique_ptr<PluginInstance>>& instances() const noexcept { return instances_; }
    [[nodiscard]] PluginInstance* find(std::string_view name) noexcept;
    /// Providers that lost a choice, and are not loaded.
    [[nodiscard]] const std::vector<std::string>& notChosen() const noexcept { return notChosen_; }
    /// Optional plugins that do not run, and why.
    [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
    /// Manifests of all libraries in a directory that have a good one.
    [[nodiscard]] static std::vector<PluginDescription> installed(FileSystem& files, const std::string& directory);

private:
    struct Candidate {
        PluginFile file;
        std::string path;
        PluginDescription description;
    };
    /// False when a library could not be read, so that services may be missing for that reason alone.
    bool findCandidates(const ConfigSources& sources, std::vector<Candidate>& out, Problems& problems);
    bool check(Candidate& candidate, Problems& problems) const;
    bool reload(std::unique_ptr<PluginInstance>& slot, const ConfigSources& sources, Problems& problems);
    [[nodiscard]] bool inRole(const PluginFile& file) const;
    DependencyResult order(const std::vector<Candidate>& candidates, const ServiceChoices& choices, Problems& problems);
    Status initAndStart(PluginInstance& instance, const HostSurroundings& around, const ConfigSources& sources, bool& started);
    /// Drains until nobody refers to it, then stops and destroys it.
    void finish(PluginInstance& instance) noexcept;
    void stopFrom(std::size_t count) noexcept;

    FileSystem& files_;
    const PluginHostOptions options_;
    ServiceRegistry registry_;
    HostSurroundings const* around_ = nullptr;
    plugin::Logger* log_ = nullptr;
    std::vector<std::unique_ptr<PluginInstance>> instances_;
    std::vector<std::string> notChosen_;
    std::vector<std::string> notes_;
    bool stopped_ = false;
};

}  // namespace patchbay::kernel
