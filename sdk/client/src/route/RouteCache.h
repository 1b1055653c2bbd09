// RouteCache: the routes of a client's topics, kept fresh.
#pragma once

#include "route/NameServers.h"
#include "route/Route.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// Loop thread, except known(). Topics that were asked for are asked again every refresh interval; a failed refresh keeps what is known.
class RouteCache {
public:
    using Done = std::function<void(Result<RoutePtr>)>;
    using Changed = std::function<void(const std::string& topic, const RoutePtr& route)>;

    RouteCache(NameServers& servers, Asker& asker, std::chrono::milliseconds requestTimeout, Changed changed)
        : servers_(servers), asker_(asker), requestTimeout_(requestTimeout), changed_(std::move(changed)) {}

    /// Any thread: what is known of the topic now; null when nothing is.
    [[nodiscard]] RoutePtr known(std::string_view topic) const;
    /// What is known, or what the name server says now. Several questions for one topic become one.
    void get(const std::string& topic, MonotonicTime deadline, Done done);
    /// As the name server says it now.
    void refresh(const std::string& topic, MonotonicTime deadline, Done done);
    /// For a producer: an unknown topic gets the queues that the broker will give it when it is created by the first message.
    void getToWrite(const std::string& topic, std::int32_t queuesWanted, MonotonicTime deadline, Done done);
    void refreshAll();

    /// Address of the broker in any route; empty when it is in none.
    [[nodiscard]] std::string addressOf(std::string_view brokerName, std::int64_t brokerId, bool onlyThat = false) const;
    /// All brokers of all routes; only masters unless `slaves`.
    [[nodiscard]] std::set<std::string> brokers(bool slaves) const;
    [[nodiscard]] bool isMaster(std::string_view address) const;

private:
    void ask(const std::string& topic, MonotonicTime deadline);
    void answered(const std::string& topic, Result<protocol::RemotingCommand> answer);
    void finish(const std::string& topic, const Result<RoutePtr>& result);
    void keep(const std::string& topic, const RoutePtr& route);

    NameServers& servers_;
    Asker& asker_;
    const std::chrono::milliseconds requestTimeout_;
    const Changed changed_;
    std::set<std::string> watched_;
    std::map<std::string, std::vector<Done>> asking_;
    mutable std::mutex mutex_;
    std::map<std::string, RoutePtr, std::less<>> routes_;  // under the mutex
};

}  // namespace patchbay::client
