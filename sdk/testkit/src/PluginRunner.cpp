#include "patchbay/testkit/PluginRunner.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace patchbay::testkit {

void PluginRunner::add(std::unique_ptr<plugin::Plugin> plugin, Settings settings) {
    entries_.push_back({std::move(plugin), std::move(settings)});
}

Status PluginRunner::start() {
    for (auto& entry : entries_) {
        auto config = FakeConfig::parse(entry.plugin->configKeys(), entry.settings);
        if (!config) return config.error();
        if (Status status = entry.plugin->configure(*config); !status) return status;
    }
    for (auto& entry : entries_) {
        entry.initialised = true;
        Status status = entry.plugin->init(context_);
        if (status) status = entry.plugin->start();
        if (!status) {
            stop();
            return status;
        }
    }
    return Status::ok();
}

Status PluginRunner::reconfigure(plugin::Plugin& plugin, const Settings& changes) {
    const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.plugin.get() == &plugin; });
    PATCHBAY_ASSERT(at != entries_.end());
    Settings settings = at->settings;
    for (const auto& [key, value] : changes) settings[key] = value;
    const auto before = FakeConfig::parse(plugin.configKeys(), at->settings);
    const auto after = FakeConfig::parse(plugin.configKeys(), settings);
    if (!after) return after.error();
    const auto changed = after->changedFrom(*before);
    for (const auto& key : plugin.configKeys()) {
        const bool reloadable = (key.flags & plugin::kReloadable) != 0;
        if (!reloadable && std::find(changed.begin(), changed.end(), key.name) != changed.end()) {
            return {StatusCode::Unsupported, std::string(key.name) + " needs a restart"};
        }
    }
    Status status = plugin.reconfigure(*after, changed);
    if (status) at->settings = std::move(settings);
    return status;
}

void PluginRunner::stop() {
    if (entries_.empty()) return;
    context_.closeRoutes();
    for (auto at = entries_.rbegin(); at != entries_.rend(); ++at) {
        if (!at->initialised) continue;
        at->plugin->drain();
        context_.pump();
    }
    context_.timers().cancelAll();
    for (auto at = entries_.rbegin(); at != entries_.rend(); ++at) {
        if (at->initialised) at->plugin->stop();
    }
    context_.pump();
    context_.forgetPlugins();
    while (!entries_.empty()) entries_.pop_back();
    EXPECT_EQ(context_.services().leases(), 0U) << "a plugin keeps a service after its stop()";
}

}  // namespace patchbay::testkit
