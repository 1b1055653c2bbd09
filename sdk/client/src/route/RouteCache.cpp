#include "route/RouteCache.h"

#include "patchbay/protocol/headers/NameServer.h"
#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <utility>

namespace patchbay::client {

using protocol::RemotingCommand;

RoutePtr RouteCache::known(std::string_view topic) const {
    const std::lock_guard lock(mutex_);
    const auto found = routes_.find(topic);
    return found == routes_.end() ? nullptr : found->second;
}

void RouteCache::get(const std::string& topic, MonotonicTime deadline, Done done) {
    if (auto route = known(topic)) return done(std::move(route));
    refresh(topic, deadline, std::move(done));
}

void RouteCache::refresh(const std::string& topic, MonotonicTime deadline, Done done) {
    watched_.insert(topic);
    auto& waiting = asking_[topic];
    waiting.push_back(std::move(done));
    if (waiting.size() == 1) ask(topic, deadline);
}

void RouteCache::ask(const std::string& topic, MonotonicTime deadline) {
    auto command = RemotingCommand::request(protocol::RequestCode::GetRouteinfoByTopic);
    protocol::RouteRequest header;
    header.topic = topic;
    command.setHeader(header);
    servers_.ask(std::move(command), deadline, [this, topic](Result<RemotingCommand> answer) { answered(topic, std::move(answer)); });
}

void RouteCache::answered(const std::string& topic, Result<RemotingCommand> answer) {
    if (!answer) return finish(topic, answer.error());
    if (answer->code != 0) return finish(topic, statusOf(*answer, "the route of topic '" + topic + "'"));
    auto data = protocol::TopicRouteData::fromJson(answer->body);
    if (!data) return finish(topic, data.error());
    const auto route = Route::from(topic, std::move(*data));
    keep(topic, route);
    finish(topic, route);
}

void RouteCache::finish(const std::string& topic, const Result<RoutePtr>& result) {
    auto waiting = asking_.extract(topic);
    if (waiting.empty()) return;
    for (const auto& done : waiting.mapped()) done(result);
}

void RouteCache::keep(const std::string& topic, const RoutePtr& route) {
    {
        const std::lock_guard lock(mutex_);
        auto& known = routes_[topic];
        if (known && known->data == route->data) return;
        known = route;
    }
    changed_(topic, route);
}

void RouteCache::getToWrite(const std::string& topic, std::int32_t queuesWanted, MonotonicTime deadline, Done done) {
    get(topic, deadline, [this, topic, queuesWanted, deadline, done = std::move(done)](Result<RoutePtr> route) {
        if (route || route.error().code() != StatusCode::NotFound) return done(std::move(route));
        const std::string creator(protocol::kTopicAutoCreate);
        get(creator, deadline, [topic, queuesWanted, done, unknown = route.error()](const Result<RoutePtr>& pattern) {
            if (!pattern) return done(pattern.error().code() == StatusCode::NotFound ? unknown : pattern.error());
            auto data = (*pattern)->data;
            data.orderTopicConf.reset();
            for (auto& queues : data.queueDatas) {
                queues.readQueueNums = queues.writeQueueNums = std::min(queuesWanted, queues.readQueueNums);
            }
            done(Route::from(topic, std::move(data)));
        });
    });
}

void RouteCache::refreshAll() {
    const auto deadline = asker_.deadlineIn(requestTimeout_);
    for (const auto& topic : watched_) {
        if (!asking_.contains(topic)) refresh(std::string(topic), deadline, [](const Result<RoutePtr>&) {});
    }
}

std::string RouteCache::addressOf(std::string_view brokerName, std::int64_t brokerId, bool onlyThat) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [topic, route] : routes_) {
        if (const auto* address = route->addressOf(brokerName, brokerId, onlyThat)) return *address;
    }
    return {};
}

std::set<std::string> RouteCache::brokers(bool slaves) const {
    const std::lock_guard lock(mutex_);
    std::set<std::string> addresses;
    for (const auto& [topic, route] : routes_) {
        for (const auto& broker : route->data.brokerDatas) {
            for (const auto& [id, address] : broker.brokerAddrs) {
                if (slaves || id == protocol::kMasterId) addresses.insert(address);
            }
        }
    }
    return addresses;
}

bool RouteCache::isMaster(std::string_view address) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(routes_.begin(), routes_.end(), [&](const auto& entry) {
        const auto& masters = entry.second->masters;
        return std::any_of(masters.begin(), masters.end(), [&](const auto& master) { return master.second == address; });
    });
}

}  // namespace patchbay::client
