#include "route/Route.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace patchbay::client {

namespace {

using protocol::MessageQueue;

// "broker:4;other:4": exactly these queues, in this order.
std::vector<MessageQueue> orderedQueues(const std::string& topic, std::string_view text) {
    std::vector<MessageQueue> queues;
    while (!text.empty()) {
        const auto end = std::min(text.find(';'), text.size());
        const auto part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto colon = part.find(':');
        if (colon == std::string_view::npos) continue;
        const auto number = part.substr(colon + 1);
        std::int32_t count = 0;
        std::from_chars(number.data(), number.data() + number.size(), count);
        count = std::min(count, protocol::kTopicQueuesMax);
        for (std::int32_t id = 0; id < count; ++id) queues.push_back({topic, std::string(part.substr(0, colon)), id});
    }
    return queues;
}

}  // namespace

RoutePtr Route::from(std::string topic, protocol::TopicRouteData data) {
    auto route = std::make_shared<Route>();
    for (const auto& broker : data.brokerDatas) {
        const auto master = broker.brokerAddrs.find(protocol::kMasterId);
        if (master != broker.brokerAddrs.end()) route->masters[broker.brokerName] = master->second;
    }
    for (const auto& queues : data.queueDatas) {
        const bool writeable = protocol::isWriteable(queues.perm) && route->masters.contains(queues.brokerName);
        for (std::int32_t id = 0; writeable && id < queues.writeQueueNums; ++id) route->toWrite.push_back({topic, queues.brokerName, id});
        for (std::int32_t id = 0; protocol::isReadable(queues.perm) && id < queues.readQueueNums; ++id) {
            route->toRead.push_back({topic, queues.brokerName, id});
        }
    }
    if (data.orderTopicConf && !data.orderTopicConf->empty()) {
        route->toWrite = orderedQueues(topic, *data.orderTopicConf);
        route->ordered = true;
    } else {
        std::sort(route->toWrite.begin(), route->toWrite.end());
    }
    std::sort(route->toRead.begin(), route->toRead.end());
    route->data = std::move(data);
    return route;
}

const std::string* Route::masterOf(std::string_view brokerName) const {
    const auto found = masters.find(brokerName);
    return found == masters.end() ? nullptr : &found->second;
}

const std::string* Route::addressOf(std::string_view brokerName, std::int64_t brokerId, bool onlyThat) const {
    for (const auto& broker : data.brokerDatas) {
        if (broker.brokerName != brokerName || broker.brokerAddrs.empty()) continue;
        const auto found = broker.brokerAddrs.find(brokerId);
        if (found != broker.brokerAddrs.end()) return &found->second;
        return onlyThat ? nullptr : &broker.brokerAddrs.begin()->second;
    }
    return nullptr;
}

}  // namespace patchbay::client
