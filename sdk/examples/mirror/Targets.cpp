#include "Targets.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/route/TopicRoute.h"

#include <algorithm>

namespace mirror {

using namespace patchbay;

const TargetQueue* Targets::queueFor(const std::string& topic, std::int32_t queueId) {
    auto& route = routes_[topic];
    if (clock_.now() >= route.askAgain) ask(topic, route);
    if (route.queues.empty()) return nullptr;
    return &route.queues[static_cast<std::size_t>(queueId) % route.queues.size()];
}

void Targets::forget(const std::string& topic) {
    auto& route = routes_[topic];
    route.queues.clear();
    route.askAgain = {};
}

void Targets::ask(const std::string& topic, Route& route) {
    if (route.asked) return;
    route.asked = true;
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::GetRouteinfoByTopic);
    command.set("topic", topic);
    remoting_.invoke(config_.nameServers[server_ % config_.nameServers.size()], std::move(command), config_.timeout,
                     [this, topic](Result<protocol::RemotingCommand> answer) { answered(topic, answer); });
}

void Targets::answered(const std::string& topic, const Result<protocol::RemotingCommand>& answer) {
    const std::lock_guard lock(mutex_);
    auto& route = routes_[topic];
    route.asked = false;
    auto queues = answer ? queuesOf(*answer) : Result<std::vector<TargetQueue>>(answer.error());
    if (!queues) {
        // What was known stays: a broker may answer while its name servers do not.
        if (!answer) ++server_;
        route.askAgain = clock_.now() + config_.retry;
        if (answer || answer.error().code() != StatusCode::Cancelled) {
            log_.limited(plugin::LogLevel::Warn, "the other cluster does not tell where a topic is; messages wait here",
                         {{"topic", topic}, {"error", queues.error().message()}});
        }
        return;
    }
    route.queues = std::move(*queues);
    route.askAgain = clock_.now() + config_.route;
}

Result<std::vector<TargetQueue>> Targets::queuesOf(const protocol::RemotingCommand& answer) {
    if (answer.code != static_cast<std::int32_t>(protocol::ResponseCode::Success)) {
        return Status(StatusCode::NotFound, "code " + std::to_string(answer.code) + " " + answer.remark.value_or(""));
    }
    auto route = protocol::TopicRouteData::fromJson(answer.body);
    if (!route) return route.error();
    std::ranges::sort(route->queueDatas, {}, &protocol::QueueData::brokerName);
    std::vector<TargetQueue> queues;
    for (const auto& data : route->queueDatas) {
        const auto broker = std::ranges::find(route->brokerDatas, data.brokerName, &protocol::BrokerData::brokerName);
        if (!protocol::isWriteable(data.perm) || broker == route->brokerDatas.end()) continue;
        const auto master = broker->brokerAddrs.find(protocol::kMasterId);
        if (master == broker->brokerAddrs.end()) continue;
        for (std::int32_t id = 0; id < data.writeQueueNums; ++id) queues.push_back({master->second, data.brokerName, id});
    }
    if (queues.empty()) return Status(StatusCode::Unavailable, "no master has a writable queue of it");
    return queues;
}

}  // namespace mirror
