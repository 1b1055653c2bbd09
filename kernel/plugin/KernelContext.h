// KernelContext: what one generation of a plugin gets from the kernel.
#pragma once

#include "config/ConfigSources.h"
#include "dispatch/Generation.h"
#include "dispatch/Registrations.h"
#include "patchbay/plugin/Plugin.h"
#include "plugin/PluginRemoting.h"
#include "plugin/ServiceRegistry.h"
#include "server/Server.h"
#include "timers/ControlExecutor.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::kernel {

/// What the plugin host lends on; everything outlives the host.
struct HostSurroundings {
    const Clock& clock;
    FileSystem& files;
    Server& server;
    ControlExecutor& control;
    plugin::RuntimeConfig& runtimeConfig;
    plugin::Metrics& metrics;
    const plugin::BrokerIdentity& identity;
    std::function<plugin::Logger&(const std::string& path)> logger;
    /// Called again and again while the host waits for the end of a generation: passes a moment, and runs what waits for the lifecycle
    /// thread meanwhile, such as the last request of that generation.
    std::function<void()> whileWaiting;
    /// Told of a plugin that has had as many faults within a minute as its file allows. Any thread.
    std::function<void(const std::string& plugin)> keepsFailing;
    /// A step of a plugin's life that takes longer is named in the log, and again after each such time.
    std::chrono::milliseconds stepWarning;
};

/// The process's configuration as one generation may change it: not any more once it is about to stop, because its stop() may wait for
/// a thread of the plugin that would wait for the lifecycle thread, which is in stop(). Thread-safe.
class PluginRuntimeConfig final : public plugin::RuntimeConfig {
public:
    explicit PluginRuntimeConfig(plugin::RuntimeConfig& config) : config_(config) {}
    [[nodiscard]] std::vector<plugin::ConfigEntry> snapshot(std::string_view listener) const override { return config_.snapshot(listener); }
    Status apply(std::string_view listener, std::span<const plugin::ConfigEntry> changes) override;
    [[nodiscard]] std::int64_t changeCount() const noexcept override { return config_.changeCount(); }
    /// Later changes are Unavailable; returns when those under way have ended, and calls `meanwhile` until then.
    void close(const std::function<void()>& meanwhile) noexcept;

private:
    plugin::RuntimeConfig& config_;
    std::atomic<std::uint32_t> running_{0};
    std::atomic<bool> closed_{false};
};

/// Owned by the plugin's instance; lives until the plugin object is destroyed.
class KernelContext final : public plugin::PluginContext {
public:
    KernelContext(const HostSurroundings& around, ServiceRegistry& registry, const PluginDescription& description,
                  Ref<Generation> generation, ExecutorOverrides executors, std::vector<const Registrations*> others);
    ~KernelContext() override;

    [[nodiscard]] plugin::Services& services() noexcept override { return services_; }
    [[nodiscard]] plugin::Processors& processors() noexcept override { return tuned_; }
    [[nodiscard]] plugin::Interceptors& interceptors() noexcept override { return *registrations_; }
    [[nodiscard]] plugin::Timers& timers() noexcept override { return timers_; }
    [[nodiscard]] plugin::RemotingInvoker& remoting() noexcept override { return remoting_; }
    [[nodiscard]] plugin::RuntimeConfig& runtimeConfig() noexcept override { return config_; }
    [[nodiscard]] plugin::Metrics& metrics() noexcept override { return around_.metrics; }
    [[nodiscard]] plugin::Logger& log() noexcept override { return log_; }
    [[nodiscard]] const Clock& clock() const noexcept override { return around_.clock; }
    [[nodiscard]] FileSystem& files() noexcept override { return around_.files; }
    [[nodiscard]] const plugin::BrokerIdentity& identity() const noexcept override { return around_.identity; }
    [[nodiscard]] plugin::Lane laneCount() const noexcept override { return around_.server.laneCount(); }
    void addPeerListener(plugin::PeerListener& listener) override;
    void removePeerListener(plugin::PeerListener& listener) noexcept override;

    /// Until closeRegistrations().
    [[nodiscard]] const Registrations& registrations() const noexcept { return *registrations_; }
    [[nodiscard]] const PluginServices& published() const noexcept { return services_; }
    /// What was bound and published is forgotten. The routes without it must have been published.
    void closeRegistrations() noexcept;
    /// Timers and open calls end; the plugin's stop() is next.
    void beforeStop() noexcept;
    /// Nothing of the plugin is called by the kernel when it returns.
    void afterStop() noexcept;

private:
    /// Binds with the executor sizes that the operator set.
    class TunedProcessors final : public plugin::Processors {
    public:
        TunedProcessors(Registrations& target, ExecutorOverrides overrides) : target_(target), overrides_(std::move(overrides)) {}
        Status bind(std::span<const protocol::RequestCode> codes, plugin::Processor& processor,
                    const plugin::BindOptions& options) override;

    private:
        Registrations& target_;
        const ExecutorOverrides overrides_;
    };

    const HostSurroundings& around_;
    plugin::Logger& log_;
    PluginServices services_;
    std::unique_ptr<Registrations> registrations_;
    TunedProcessors tuned_;
    PluginRuntimeConfig config_;
    PluginTimers timers_;
    PluginRemoting remoting_;
    std::mutex mutex_;
    std::vector<plugin::PeerListener*> peerListeners_;   // guarded by mutex_
};

}  // namespace patchbay::kernel
