// PluginRunner: the life of one or several plugins on a FakeContext.
#pragma once

#include "patchbay/plugin/Plugin.h"
#include "patchbay/testkit/FakeContext.h"

#include <memory>
#include <utility>
#include <vector>

namespace patchbay::testkit {

/// Owns plugins and runs them as the kernel does: configure all, then init and start each in the order of add(); at the end
/// routes are closed, every plugin drained, then stopped, in reverse order. It is a test failure when a plugin keeps a service
/// after its stop(). Used by the test's thread.
class PluginRunner {
public:
    explicit PluginRunner(FakeContext& context) : context_(context) {}
    PluginRunner(const PluginRunner&) = delete;
    PluginRunner& operator=(const PluginRunner&) = delete;
    ~PluginRunner() { stop(); }

    /// Adds a plugin before start(): runner.add<PullPlugin>({{"longPollingEnable", "false"}}).
    template <typename P, typename... Args>
    P& add(Settings settings = {}, Args&&... args) {
        auto plugin = std::make_unique<P>(std::forward<Args>(args)...);
        P& result = *plugin;
        add(std::move(plugin), std::move(settings));
        return result;
    }
    void add(std::unique_ptr<plugin::Plugin> plugin, Settings settings = {});

    /// The first failure; what had started is stopped then.
    Status start();
    /// Applies new settings (on top of the old ones) to one plugin, refusing keys that are not reloadable.
    Status reconfigure(plugin::Plugin& plugin, const Settings& changes);
    /// Again without effect.
    void stop();

private:
    struct Entry {
        std::unique_ptr<plugin::Plugin> plugin;
        Settings settings;
        bool initialised = false;
    };
    FakeContext& context_;
    std::vector<Entry> entries_;
};

}  // namespace patchbay::testkit
