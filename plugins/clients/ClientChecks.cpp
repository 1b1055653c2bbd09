#include "ClientChecks.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace patchbay::plugins::clients {

namespace {

Status within(std::size_t value, std::size_t limit, std::string_view what, std::string_view unit, std::string_view key) {
    if (value <= limit) return Status::ok();
    std::string text(what);
    text += ' ';
    text += std::to_string(value);
    text += ' ';
    text += unit;
    text += ", limit ";
    text += key;
    text += ' ';
    text += std::to_string(limit);
    return {StatusCode::InvalidArgument, std::move(text)};
}

/// Bytes of the tags as their expression spells them. Clients send both, and not always both alike.
std::size_t spelled(const protocol::SubscriptionData& data) {
    constexpr std::size_t kSeparator = 2;
    // A code stands for a tag of one character at least.
    std::size_t bytes = data.codeSet.size() * (kSeparator + 1);
    std::size_t tags = 0;
    for (const auto& tag : data.tagsSet) tags += tag.size() + kSeparator;
    bytes = std::max(bytes, tags);
    return bytes < kSeparator ? 0 : bytes - kSeparator;
}

}  // namespace

Status ClientChecks::clientId(std::string_view id) const {
    return within(id.size(), config_.clientIdLengthMax, "the client id has", "bytes", "clientIdLengthMax");
}

Status ClientChecks::group(std::string_view name) const {
    return within(name.size(), config_.groupLengthMax, "the name of a group has", "bytes", "groupLengthMax");
}

Status ClientChecks::subscription(const protocol::SubscriptionData& data) const {
    const std::size_t length = data.topic.size() + data.expressionType.size() + data.subString.size();
    if (Status status = within(length, config_.subscriptionLengthMax, "a subscription has", "bytes", "subscriptionLengthMax"); !status) return status;
    return within(spelled(data), config_.subscriptionLengthMax, "the tags of a subscription have", "bytes", "subscriptionLengthMax");
}

Status ClientChecks::heartbeat(const protocol::HeartbeatData& data) const {
    const std::size_t groups = data.consumerDataSet.size() + data.producerGroups.size();
    if (Status status = within(groups, config_.heartbeatGroupsMax, "the heartbeat names", "groups", "heartbeatGroupsMax"); !status) return status;
    if (Status status = clientId(data.clientId); !status) return status;
    std::size_t subscriptions = 0;
    for (const auto& consumer : data.consumerDataSet) {
        if (Status status = group(consumer.groupName); !status) return status;
        subscriptions += consumer.subscriptionDataSet.size();
        for (const auto& entry : consumer.subscriptionDataSet) {
            if (Status status = subscription(entry); !status) return status;
        }
    }
    for (const auto& name : data.producerGroups) {
        if (Status status = group(name); !status) return status;
    }
    return within(subscriptions, config_.heartbeatSubscriptionsMax, "the heartbeat names", "subscriptions", "heartbeatSubscriptionsMax");
}

Status ClientChecks::lock(const protocol::LockBatchRequest& request) const {
    if (Status status = group(request.consumerGroup); !status) return status;
    if (Status status = clientId(request.clientId); !status) return status;
    for (const auto& queue : request.mqSet) {
        const std::size_t names = queue.topic.size() + queue.brokerName.size();
        if (Status status = within(names, config_.queueNameLengthMax, "a queue has", "bytes in the names of topic and broker", "queueNameLengthMax");
            !status) {
            return status;
        }
    }
    return within(request.mqSet.size(), config_.lockQueuesOfRequestMax, "the request names", "queues", "lockQueuesOfRequestMax");
}

}  // namespace patchbay::plugins::clients
