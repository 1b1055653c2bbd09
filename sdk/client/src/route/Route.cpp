#include "route/Route.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace patchbay::client {

namespace {

using protocol::MessageQueue;

// Of all brokers together; no cluster comes near it.
constexpr std::int64_t kQueuesMax = 1 << 20;

struct Share {
    std::string_view broker;
    std::int64_t queues = 0;
};

// "broker:4;other:4": exactly these queues, in this order.
std::vector<Share> sharesIn(std::string_view text) {
    std::vector<Share> shares;
    while (!text.empty()) {
        const auto end = std::min(text.find(';'), text.size());
        const auto part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto colon = part.find(':');
        if (colon == std::string_view::npos) continue;
        const auto number = part.substr(colon + 1);
        Share share{part.substr(0, colon), 0};
        std::from_chars(number.data(), number.data() + number.size(), share.queues);
        shares.push_back(share);
    }
    return shares;
}

std::vector<MessageQueue> orderedQueues(const std::string& topic, std::string_view text) {
    std::vector<MessageQueue> queues;
    for (const auto& share : sharesIn(text)) {
        for (std::int32_t id = 0; id < share.queues; ++id) queues.push_back({topic, std::string(share.broker), id});
    }
    return queues;
}

}  // namespace

Status Route::check(const std::string& topic, const protocol::TopicRouteData& data) {
    std::vector<Share> shares;
    if (data.orderTopicConf) shares = sharesIn(*data.orderTopicConf);
    for (const auto& queues : data.queueDatas) shares.push_back({queues.brokerName, std::max(queues.readQueueNums, queues.writeQueueNums)});
    std::int64_t all = 0;
    for (const auto& share : shares) {
        // The text of an ordered topic may name any number; the first that is too large ends this.
        all += std::clamp<std::int64_t>(share.queues, 0, std::numeric_limits<std::int32_t>::max());
        if (share.queues <= protocol::kTopicQueuesMax && all <= kQueuesMax) continue;
        return {StatusCode::Corrupt, "the name server says that topic '" + topic + "' has " + std::to_string(share.queues) + " queues on broker '" +
                                         std::string(share.broker) + "', " + std::to_string(all) + " in all; " + std::to_string(protocol::kTopicQueuesMax) +
                                         " of one broker and " + std::to_string(kQueuesMax) + " in all are taken at most"};
    }
    return Status::ok();
}

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
