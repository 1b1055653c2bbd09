#include "plugin/KernelContext.h"

#include <algorithm>

namespace patchbay::kernel {

KernelContext::KernelContext(const HostSurroundings& around, ServiceRegistry& registry, const PluginDescription& description,
                             Ref<Generation> generation, ExecutorOverrides executors, std::vector<const Registrations*> others)
    : around_(around), log_(around.logger("plugin." + description.name)), services_(registry, description, generation),
      registrations_(std::make_unique<Registrations>(generation, around.server.executors(), around.server.listenerNames(),
                                                     std::move(others))),
      tuned_(*registrations_, std::move(executors)), config_(around.runtimeConfig),
      timers_(around.control, [this, name = description.name](const std::string& error) {
          around_.server.dispatcher().observed().fault(name, PluginFault::Exception);
          log_.error("a task failed", {{"plugin", name}, {"error", error}});
      }),
      remoting_(around.server.remoting()) {
    registrations_->ownedElsewhere();
}

Status PluginRuntimeConfig::apply(std::string_view listener, std::span<const plugin::ConfigEntry> changes) {
    running_.fetch_add(1, std::memory_order_seq_cst);
    Status status(StatusCode::Unavailable, "the plugin is stopping");
    if (!closed_.load(std::memory_order_seq_cst)) status = config_.apply(listener, changes);
    running_.fetch_sub(1, std::memory_order_release);
    return status;
}

void PluginRuntimeConfig::close(const std::function<void()>& meanwhile) noexcept {
    closed_.store(true, std::memory_order_seq_cst);
    while (meanwhile && running_.load(std::memory_order_seq_cst) > 0) meanwhile();
}

KernelContext::~KernelContext() {
    afterStop();
}

void KernelContext::addPeerListener(plugin::PeerListener& listener) {
    {
        const std::lock_guard lock(mutex_);
        peerListeners_.push_back(&listener);
    }
    around_.server.addPeerListener(listener);
}

void KernelContext::removePeerListener(plugin::PeerListener& listener) noexcept {
    {
        const std::lock_guard lock(mutex_);
        std::erase(peerListeners_, &listener);
    }
    around_.server.removePeerListener(listener);
}

void KernelContext::closeRegistrations() noexcept {
    services_.close();
    registrations_.reset();
}

void KernelContext::beforeStop() noexcept {
    config_.close(around_.whileWaiting);
    timers_.cancelAll(around_.whileWaiting);
    remoting_.cancelOpen();
}

void KernelContext::afterStop() noexcept {
    timers_.cancelAll(around_.whileWaiting);
    remoting_.close(around_.whileWaiting);
    std::vector<plugin::PeerListener*> left;
    {
        const std::lock_guard lock(mutex_);
        left.swap(peerListeners_);
    }
    for (auto* listener : left) around_.server.removePeerListener(*listener);
    closeRegistrations();
}

Status KernelContext::TunedProcessors::bind(std::span<const protocol::RequestCode> codes, plugin::Processor& processor,
                                            const plugin::BindOptions& options) {
    const auto found = overrides_.find(options.executor.name);
    if (options.executor.name.empty() || found == overrides_.end()) return target_.bind(codes, processor, options);
    auto tuned = options;
    tuned.executor.threads = found->second.threads.value_or(tuned.executor.threads);
    tuned.executor.queueCapacity = found->second.queueCapacity.value_or(tuned.executor.queueCapacity);
    tuned.executor.maxQueueWait = found->second.maxQueueWait.value_or(tuned.executor.maxQueueWait);
    return target_.bind(codes, processor, tuned);
}

}  // namespace patchbay::kernel
