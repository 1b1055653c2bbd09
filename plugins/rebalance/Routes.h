// Routes: the queues of topics on all brokers, as name servers tell them.
#pragma once

#include "Allocation.h"

#include "patchbay/base/NameMap.h"
#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/TopicConfigs.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::rebalance {

/// Queues of topics, sorted. Asks a name server for what it does not know or knows for too long, one call for all that want the same
/// topic. What no name server knows is looked up among this broker's own topics. Owned by the plugin. Any thread; nothing is
/// called with the lock held. Calls that are under way end before the plugin's stop().
class Routes {
public:
    /// Given the queues; null when the topic is not known anywhere.
    using Done = std::function<void(std::shared_ptr<const Queues>)>;

    Routes(plugin::PluginContext& context, service::TopicConfigs& topics, std::chrono::milliseconds life);

    /// Calls `done` once: at once when the route is known, else on the control executor.
    void find(const std::string& topic, Done done);

private:
    struct Entry {
        std::shared_ptr<const Queues> queues;
        MonotonicTime at{};
        bool asked = false;
        std::vector<Done> waiting;
    };

    void ask(const std::string& topic, std::size_t server);
    void answered(const std::string& topic, std::size_t server, const Result<protocol::RemotingCommand>& answer);
    void finish(const std::string& topic, std::shared_ptr<const Queues> queues);
    [[nodiscard]] std::shared_ptr<const Queues> ownQueues(const std::string& topic) const;

    plugin::PluginContext& context_;
    service::TopicConfigs& topics_;
    const std::chrono::milliseconds life_;
    std::vector<std::string> servers_;

    std::mutex mutex_;
    NameMap<Entry> entries_;  // guarded by mutex_
};

}  // namespace patchbay::plugins::rebalance
