// StoreAdmin: looking into queues, and clean-ups (306, 316, 321, 329).
#pragma once

#include "AdminConfig.h"
#include "AdminProcessor.h"

namespace patchbay::plugins::admin {

class StoreAdmin final : public AdminProcessor {
public:
    StoreAdmin(const AdminServices& services, const AdminConfig& config, plugin::PluginContext& context)
        : AdminProcessor(services), config_(config), context_(context) {}

protected:
    [[nodiscard]] plugin::Response answer(const plugin::Request& request) override;

private:
    [[nodiscard]] plugin::Response queue(const plugin::Request& request) const;
    /// For what only a store with a capability can do.
    [[nodiscard]] plugin::Response unsupported(std::string_view what, std::string_view why) const;
    [[nodiscard]] plugin::Response cleanQueues();
    [[nodiscard]] plugin::Response cleanUnusedTopics();
    [[nodiscard]] plugin::Response removeExpired();
    /// Where the first message of a queue lies that was stored at `sinceMs` or later; nothing when there is none, an error when that
    /// cannot be told.
    [[nodiscard]] Result<std::optional<std::int64_t>> firstSince(const service::QueueKey& queue, std::int64_t sinceMs) const;

    const AdminConfig& config_;
    plugin::PluginContext& context_;
};

}  // namespace patchbay::plugins::admin
