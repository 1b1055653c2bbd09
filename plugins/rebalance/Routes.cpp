#include "Routes.h"

#include "patchbay/protocol/headers/NameServer.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/route/TopicRoute.h"

#include <algorithm>
#include <utility>

namespace patchbay::plugins::rebalance {

namespace {

constexpr std::chrono::milliseconds kTimeout{3000};
constexpr std::size_t kTopicsMax = 10'000;  // routes that nobody asked for lately are dropped beyond it

std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> parts;
    while (!list.empty()) {
        const auto end = list.find(';');
        if (end != 0) parts.emplace_back(list.substr(0, end));
        list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
    }
    return parts;
}

std::shared_ptr<const Queues> queuesOf(const std::string& topic, const protocol::TopicRouteData& route) {
    Queues queues;
    for (const auto& data : route.queueDatas) {
        if (!protocol::isReadable(data.perm)) continue;
        // Name servers take any number from whoever registers.
        const std::int32_t count = std::min(data.readQueueNums, protocol::kTopicQueuesMax);
        for (std::int32_t id = 0; id < count; ++id) queues.push_back({topic, data.brokerName, id});
    }
    std::ranges::sort(queues);
    return std::make_shared<const Queues>(std::move(queues));
}

}  // namespace

Routes::Routes(plugin::PluginContext& context, service::TopicConfigs& topics, std::chrono::milliseconds life)
    : context_(context), topics_(topics), life_(life), servers_(split(context.identity().namesrvAddr)) {}

std::shared_ptr<const Queues> Routes::ownQueues(const std::string& topic) const {
    service::TopicFacts facts;
    if (!topics_.find(topic, facts)) return nullptr;
    Queues queues;
    for (std::int32_t id = 0; id < facts.readQueueNums; ++id) queues.push_back({topic, context_.identity().brokerName, id});
    return std::make_shared<const Queues>(std::move(queues));
}

void Routes::find(const std::string& topic, Done done) {
    if (servers_.empty()) return done(ownQueues(topic));
    const MonotonicTime now = context_.clock().now();
    std::unique_lock lock(mutex_);
    if (entries_.size() >= kTopicsMax) {
        std::erase_if(entries_, [&](const auto& entry) { return !entry.second.asked && now - entry.second.at > life_; });
    }
    Entry& entry = entries_[topic];
    if (entry.queues && now - entry.at <= life_) {
        std::shared_ptr<const Queues> known = entry.queues;
        lock.unlock();
        return done(std::move(known));
    }
    entry.waiting.push_back(std::move(done));
    const bool first = !std::exchange(entry.asked, true);
    lock.unlock();
    if (first) ask(topic, 0);
}

void Routes::ask(const std::string& topic, std::size_t server) {
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::GetRouteinfoByTopic);
    protocol::RouteRequest header;
    header.topic = topic;
    command.setHeader(header);
    context_.remoting().invoke(servers_[server], std::move(command), kTimeout,
                               [this, topic, server](const Result<protocol::RemotingCommand>& answer) { answered(topic, server, answer); });
}

void Routes::answered(const std::string& topic, std::size_t server, const Result<protocol::RemotingCommand>& answer) {
    const bool told = answer && answer->code == static_cast<std::int32_t>(protocol::ResponseCode::Success);
    if (told) {
        if (const auto route = protocol::TopicRouteData::fromJson(answer->body)) return finish(topic, queuesOf(topic, *route));
    }
    const bool ending = !answer && answer.error().code() == StatusCode::Cancelled;
    const bool unknown = answer && answer->code == static_cast<std::int32_t>(protocol::ResponseCode::TopicNotExist);
    if (!ending && !unknown && server + 1 < servers_.size()) return ask(topic, server + 1);
    if (unknown) return finish(topic, ownQueues(topic));
    // No name server answers: an old route is better than a part of it.
    std::shared_ptr<const Queues> old;
    {
        const std::lock_guard lock(mutex_);
        if (const auto at = entries_.find(topic); at != entries_.end()) old = at->second.queues;
    }
    context_.log().limited(plugin::LogLevel::Warn, "no name server tells a route", {{"topic", topic}});
    finish(topic, old ? old : ownQueues(topic));
}

void Routes::finish(const std::string& topic, std::shared_ptr<const Queues> queues) {
    std::vector<Done> waiting;
    {
        const std::lock_guard lock(mutex_);
        const auto at = entries_.find(topic);
        if (at == entries_.end()) return;
        waiting.swap(at->second.waiting);
        at->second.asked = false;
        at->second.at = context_.clock().now();
        at->second.queues = queues;
        if (!queues) entries_.erase(at);
    }
    for (const auto& done : waiting) done(queues);
}

}  // namespace patchbay::plugins::rebalance
