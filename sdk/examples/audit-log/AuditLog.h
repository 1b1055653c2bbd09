// AuditLog: one log line for each request of certain codes.
#pragma once

#include "patchbay/plugin/Plugin.h"

#include <cstdint>
#include <set>

namespace audit_log {

/// Looks at answers just before they leave, when it is known how a request ended. Writing is the kernel's log's business, which never
/// blocks: where lines must not be lost, give `level.plugin.audit-log` a file that is read. Owned by the kernel.
class AuditLog final : public patchbay::plugin::Plugin, private patchbay::plugin::Interceptor {
public:
    std::span<const patchbay::plugin::ConfigKey> configKeys() const noexcept override;
    patchbay::Status configure(const patchbay::plugin::ConfigView& config) override;
    patchbay::Status init(patchbay::plugin::PluginContext& context) override;

private:
    patchbay::plugin::Verdict intercept(const patchbay::plugin::Interception& at) override;

    std::set<std::int32_t> codes_;
    patchbay::plugin::Logger* log_ = nullptr;
};

}  // namespace audit_log
