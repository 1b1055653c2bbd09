// Plugin: the object behind a plugin library, and the three C names by which the kernel finds it.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/AbiTag.h"
#include "patchbay/plugin/Config.h"
#include "patchbay/plugin/Interceptor.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Manifest.h"
#include "patchbay/plugin/Processor.h"
#include "patchbay/plugin/Runtime.h"
#include "patchbay/plugin/Services.h"

#include <span>
#include <string_view>

namespace patchbay::plugin {

/// Everything that the kernel offers to one generation of one plugin. Valid from init() until stop() returns. The members say
/// which threads may use them.
class PluginContext {
public:
    virtual ~PluginContext();
    [[nodiscard]] virtual Services& services() noexcept = 0;           ///< in init() only
    [[nodiscard]] virtual Processors& processors() noexcept = 0;       ///< in init() only
    [[nodiscard]] virtual Interceptors& interceptors() noexcept = 0;   ///< in init() only
    [[nodiscard]] virtual Timers& timers() noexcept = 0;
    [[nodiscard]] virtual RemotingInvoker& remoting() noexcept = 0;
    [[nodiscard]] virtual RuntimeConfig& runtimeConfig() noexcept = 0;
    [[nodiscard]] virtual Metrics& metrics() noexcept = 0;
    [[nodiscard]] virtual Logger& log() noexcept = 0;
    [[nodiscard]] virtual const Clock& clock() const noexcept = 0;
    [[nodiscard]] virtual FileSystem& files() noexcept = 0;
    [[nodiscard]] virtual const BrokerIdentity& identity() const noexcept = 0;
    /// How many lanes there are (Request::lane()); constant.
    [[nodiscard]] virtual Lane laneCount() const noexcept = 0;
    /// Until removePeerListener() or stop().
    virtual void addPeerListener(PeerListener& listener) = 0;
    virtual void removePeerListener(PeerListener& listener) noexcept = 0;
};

/// One generation of a plugin. The kernel calls configure, init, start, then reconfigure any number of times, drain, stop,
/// in this order, on its control thread, never two at once. A failing step is reported by its Status and ends the start.
class Plugin {
public:
    virtual ~Plugin();
    /// The keys it understands; static data.
    [[nodiscard]] virtual std::span<const ConfigKey> configKeys() const noexcept;
    /// Checks what the types cannot, and remembers. No threads, files or look-ups: `--check` runs it and ends.
    virtual Status configure(const ConfigView& config);
    /// Publishes, looks up, binds. Nothing runs yet.
    virtual Status init(PluginContext& context) = 0;
    /// Opens files and starts threads. Its services work when it returns.
    virtual Status start();
    /// `config` holds all values, `changed` the names of those that differ. All are declared kReloadable.
    virtual Status reconfigure(const ConfigView& config, std::span<const std::string_view> changed);
    /// Take no new work: hand suspended requests back (redispatch) and keep doing so for late ones. May be called again.
    virtual void drain() noexcept;
    /// Join threads, flush, release everything borrowed. Nothing of the plugin may run afterwards.
    virtual void stop() noexcept;
};

}  // namespace patchbay::plugin

/// A digest of the SDK's public headers, set by patchbay_add_plugin(); "r-" in front marks those of a release. Between two builds of
/// which one is no release the digests must be equal, because nobody has checked yet whether a change kept the layout.
#ifndef PATCHBAY_HEADERS
#define PATCHBAY_HEADERS ""
#endif

/// Defines the three exported names of a plugin. Used once, in plugin.cpp, at namespace scope:
///   PATCHBAY_PLUGIN(PullPlugin, "pull", "1.0.0", "Serves PULL_MESSAGE.", kConcurrentGenerations,
///                   "", "patchbay.MessageStore/1 patchbay.TopicConfigs/1", "");
#define PATCHBAY_PLUGIN(Class, name_, version_, description_, flags_, provides_, requires__, wants_)                 \
    extern "C" __attribute__((visibility("default"), used, section(".patchbay")))                                     \
    const ::patchbay::plugin::Manifest patchbay_plugin_manifest = {                                                   \
        ::patchbay::plugin::kManifestMagic, sizeof(::patchbay::plugin::Manifest), ::patchbay::plugin::kApiMajor,      \
        ::patchbay::plugin::kApiMinor, (flags_), PATCHBAY_ABI_TAG, name_, version_, description_, provides_,          \
        requires__, wants_, PATCHBAY_HEADERS};                                                                                        \
    extern "C" __attribute__((visibility("default"))) ::patchbay::plugin::Plugin* patchbay_plugin_create() noexcept { \
        try {                                                                                                         \
            return new Class();                                                                                       \
        } catch (...) {                                                                                               \
            return nullptr;                                                                                           \
        }                                                                                                             \
    }                                                                                                                 \
    extern "C" __attribute__((visibility("default"))) void patchbay_plugin_destroy(                                   \
        ::patchbay::plugin::Plugin* plugin) noexcept {                                                                \
        delete plugin;                                                                                                \
    }
