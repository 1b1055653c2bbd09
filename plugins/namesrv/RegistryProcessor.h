// RegistryProcessor: changes of the route table, and lists of what is in it.
#pragma once

#include "KvConfig.h"
#include "MinBrokerNotifier.h"
#include "NamesrvConfig.h"
#include "RouteTable.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Processor.h"

#include <atomic>

namespace patchbay::plugins::namesrv {

/// Serves 103, 104, 205, 206, 216, 217, 224, 304, 311-313 and 327. Bound to an executor of one thread, so that what a broker
/// says is applied in the order in which it came: a departure must not overtake the registration before it. Owned by the plugin.
class RegistryProcessor final : public plugin::Processor {
public:
    RegistryProcessor(RouteTable& routes, const KvConfig& kv, const Switches& switches, MinBrokerNotifier& notifier,
                      const Clock& clock, plugin::Logger& log)
        : routes_(routes), kv_(kv), switches_(switches), notifier_(notifier), clock_(clock), log_(log) {}

    void process(plugin::Request request) override;

    /// How long a broker that names no time of its own may be silent. Any thread.
    void setExpiry(std::chrono::milliseconds expiry) noexcept { expiryMs_.store(expiry.count(), std::memory_order_relaxed); }

private:
    [[nodiscard]] plugin::Response answer(const plugin::Request& request);
    [[nodiscard]] plugin::Response registerBroker(const plugin::Request& request);
    [[nodiscard]] plugin::Response unregisterBroker(const protocol::CommandView& command);
    [[nodiscard]] plugin::Response writePermission(const protocol::CommandView& command, bool add);
    [[nodiscard]] plugin::Response deleteTopic(const protocol::CommandView& command);
    [[nodiscard]] plugin::Response registerTopic(const protocol::CommandView& command);
    [[nodiscard]] plugin::Response topicsByCluster(const protocol::CommandView& command) const;
    [[nodiscard]] plugin::Response topicsWithFlags(std::int32_t mask, std::int32_t flags) const;

    RouteTable& routes_;
    const KvConfig& kv_;
    const Switches& switches_;
    MinBrokerNotifier& notifier_;
    const Clock& clock_;
    plugin::Logger& log_;
    std::atomic<std::int64_t> expiryMs_{120'000};
};

}  // namespace patchbay::plugins::namesrv
