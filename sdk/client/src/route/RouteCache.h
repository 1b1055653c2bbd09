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

/// Loop thread, except known() and addressOf(). Topics that were asked for are asked again every refresh interval; a failed refresh keeps what is
/// known. A topic that the name server does not know is not asked for again by itself, and its route is kept for 90 s: a name server that has
/// just been started knows nothing until the brokers have told it, which they do every 30 s. Meanwhile the other name servers are asked in turn.
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

    /// Address of the broker, as the newest answer that names it says, whatever its topic; empty when it is in no route.
    [[nodiscard]] std::string addressOf(std::string_view brokerName, std::int64_t brokerId, bool onlyThat = false) const;
    /// All brokers of all routes; only masters unless `slaves`.
    [[nodiscard]] std::set<std::string> brokers(bool slaves) const;

private:
    void ask(const std::string& topic, MonotonicTime deadline);
    void answered(const std::string& topic, Result<protocol::RemotingCommand> answer);
    void finish(const std::string& topic, const Result<RoutePtr>& result);
    void keep(const std::string& topic, const RoutePtr& route);
    void missing(const std::string& topic);
    void forgetBrokersWithoutRoute();

    NameServers& servers_;
    Asker& asker_;
    const std::chrono::milliseconds requestTimeout_;
    const Changed changed_;
    std::set<std::string> watched_;
    std::map<std::string, std::vector<Done>> asking_;
    mutable std::mutex mutex_;
    std::map<std::string, RoutePtr, std::less<>> routes_;  // under the mutex
    std::map<std::string, std::map<std::int64_t, std::string>, std::less<>> brokers_;  // under the mutex: addresses, as the newest answer says
    std::map<std::string, MonotonicTime> missing_;  // topics with a route that the name server does not know any more, since when
};

}  // namespace patchbay::client
