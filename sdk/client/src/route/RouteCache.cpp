#include "route/RouteCache.h"

#include "patchbay/protocol/headers/NameServer.h"
#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <utility>

namespace patchbay::client {

using protocol::RemotingCommand;
using protocol::ResponseCode;

namespace {

constexpr std::chrono::seconds kKeptWhileMissing{90};

}  // namespace

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
    if (answer->code == static_cast<std::int32_t>(ResponseCode::TopicNotExist)) missing(topic);
    if (answer->code != 0) return finish(topic, statusOf(*answer, "the route of topic '" + topic + "'"));
    auto data = protocol::TopicRouteData::fromJson(answer->body);
    if (!data) return finish(topic, data.error());
    if (const auto status = Route::check(topic, *data); !status) return finish(topic, status);
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
    missing_.erase(topic);
    {
        const std::lock_guard lock(mutex_);
        for (const auto& broker : route->data.brokerDatas) brokers_[broker.brokerName] = broker.brokerAddrs;
        auto& known = routes_[topic];
        if (known && known->data == route->data) return;
        known = route;
        forgetBrokersWithoutRoute();
    }
    changed_(topic, route);
}

void RouteCache::missing(const std::string& topic) {
    const std::lock_guard lock(mutex_);
    if (routes_.contains(topic)) {
        // Another name server may be one that brokers reach.
        servers_.turn();
        const auto now = asker_.runtime().clock().now();
        if (now - missing_.try_emplace(topic, now).first->second < kKeptWhileMissing) return;
        routes_.erase(topic);
        missing_.erase(topic);
        forgetBrokersWithoutRoute();
    }
    watched_.erase(topic);
}

void RouteCache::forgetBrokersWithoutRoute() {
    std::set<std::string_view> named;
    for (const auto& [topic, route] : routes_) {
        for (const auto& broker : route->data.brokerDatas) named.insert(broker.brokerName);
    }
    std::erase_if(brokers_, [&](const auto& broker) { return !named.contains(broker.first); });
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
    const auto broker = brokers_.find(brokerName);
    if (broker == brokers_.end() || broker->second.empty()) return {};
    const auto address = broker->second.find(brokerId);
    if (address != broker->second.end()) return address->second;
    return onlyThat ? std::string() : broker->second.begin()->second;
}

std::set<std::string> RouteCache::brokers(bool slaves) const {
    const std::lock_guard lock(mutex_);
    std::set<std::string> addresses;
    for (const auto& [name, broker] : brokers_) {
        for (const auto& [id, address] : broker) {
            if (slaves || id == protocol::kMasterId) addresses.insert(address);
        }
    }
    return addresses;
}

}  // namespace patchbay::client
