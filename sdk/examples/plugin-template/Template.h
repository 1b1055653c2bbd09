// Template: answers request code 30100 with a greeting and with how many requests it has seen.
#pragma once

#include "patchbay/plugin/Plugin.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace plugin_template {

/// Owned by the kernel; one object for each generation. Its functions run on the main thread, process() and intercept() on several I/O
/// threads at once: what they read is constant, atomic or behind a lock.
class Template final : public patchbay::plugin::Plugin, private patchbay::plugin::Processor, private patchbay::plugin::Interceptor {
public:
    std::span<const patchbay::plugin::ConfigKey> configKeys() const noexcept override;
    patchbay::Status configure(const patchbay::plugin::ConfigView& config) override;
    patchbay::Status init(patchbay::plugin::PluginContext& context) override;
    patchbay::Status reconfigure(const patchbay::plugin::ConfigView& config, std::span<const std::string_view> changed) override;

private:
    void process(patchbay::plugin::Request request) override;
    patchbay::plugin::Verdict intercept(const patchbay::plugin::Interception& at) override;

    std::mutex mutex_;
    std::string greeting_;   // guarded by mutex_
    std::atomic<std::uint64_t> seen_{0};
    patchbay::plugin::Counter* answered_ = nullptr;
};

}  // namespace plugin_template
