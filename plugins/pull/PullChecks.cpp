#include "PullChecks.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>

namespace patchbay::plugins::pull {

using protocol::ResponseCode;

namespace {

constexpr std::string_view kFaq = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.";

enum ForbiddenType : std::int32_t { kBroker = 1, kGroup = 2, kTopic = 3, kBroadcasting = 4, kSubscription = 5 };

constexpr std::int32_t kProxyForBroadcast = 1;  // requestSource of a proxy that pulls for a broadcasting client

std::string bracketed(std::string_view before, std::string_view name, std::string_view after) {
    std::string text(before);
    text += '[';
    text += name;
    text += ']';
    text += after;
    return text;
}

}  // namespace

std::optional<Refusal> PullChecks::admit(const protocol::PullMessageRequest& pull, bool lite, const plugin::Peer& peer,
                                         Admission& admission) const {
    if (!protocol::isReadable(limits_.permission.load(std::memory_order_relaxed))) {
        return Refusal{ResponseCode::NoPermission, bracketed("the broker", identity_.brokerIp, " pulling message is forbidden"), kBroker};
    }
    if (lite && !config_.litePull) {
        return Refusal{ResponseCode::NoPermission,
                       bracketed("the broker", identity_.brokerIp, " for lite pull consumer is forbidden"), kBroker};
    }
    if (auto refusal = lengths(pull)) return refusal;
    if (!services_.groups->findOrCreate(pull.consumerGroup, admission.group)) {
        return Refusal{ResponseCode::SubscriptionGroupNotExist,
                       bracketed("subscription group ", pull.consumerGroup, " does not exist, ") + std::string(kFaq)};
    }
    if (!admission.group.consumeEnable) {
        return Refusal{ResponseCode::NoPermission, "subscription group no permission, " + std::string(pull.consumerGroup), kGroup};
    }
    if (!services_.topics->find(pull.topic, admission.topic)) {
        return Refusal{ResponseCode::TopicNotExist,
                       bracketed("topic", pull.topic, " not exist, apply first please! ") + std::string(kFaq)};
    }
    if (!protocol::isReadable(static_cast<std::uint32_t>(admission.topic.perm))) {
        return Refusal{ResponseCode::NoPermission, bracketed("the topic", pull.topic, " pulling message is forbidden"), kTopic};
    }
    if (pull.queueId < 0 || pull.queueId >= admission.topic.readQueueNums) {
        return Refusal{ResponseCode::InvalidParameter,
                       bracketed("queueId", std::to_string(pull.queueId), " is illegal, topic:[") + std::string(pull.topic) +
                       "] topicConfig.readQueueNums:[" + std::to_string(admission.topic.readQueueNums) + "] consumer:[/" +
                       peer.remote().toString() + "]"};
    }
    if (auto refusal = subscription(pull, admission)) return refusal;
    return config_.rejectPullConsumers ? pullConsumer(pull, peer) : std::nullopt;
}

std::optional<Refusal> PullChecks::lengths(const protocol::PullMessageRequest& pull) const {
    const auto text = [](std::string_view what, std::size_t bytes, std::string_view key, std::size_t limit) {
        return std::string(what) + ' ' + std::to_string(bytes) + " bytes, limit " + std::string(key) + ' ' + std::to_string(limit);
    };
    if (pull.consumerGroup.size() > config_.groupLengthMax) {
        return Refusal{ResponseCode::InvalidParameter,
                       text("the name of a group has", pull.consumerGroup.size(), "groupLengthMax", config_.groupLengthMax)};
    }
    if (pull.proxyForwardClientId.size() > config_.clientIdLengthMax) {
        return Refusal{ResponseCode::InvalidParameter,
                       text("the client id has", pull.proxyForwardClientId.size(), "clientIdLengthMax", config_.clientIdLengthMax)};
    }
    const std::size_t subscription = pull.topic.size() + pull.expressionType.size() + pull.subscription.size();
    if (subscription > config_.subscriptionLengthMax) {
        return Refusal{ResponseCode::SubscriptionParseFailed,
                       text("a subscription has", subscription, "subscriptionLengthMax", config_.subscriptionLengthMax)};
    }
    return std::nullopt;
}

std::optional<Refusal> PullChecks::subscription(const protocol::PullMessageRequest& pull, Admission& admission) const {
    admission.broadcasting = pull.requestSource == kProxyForBroadcast;
    protocol::SubscriptionData data;
    const bool carried = (pull.sysFlag & protocol::kPullFlagSubscription) != 0;
    if (carried) {
        services_.clients->compensate(pull.consumerGroup, pull.topic, pull.subscription, pull.expressionType);
        // The common case needs no SubscriptionData at all.
        if (protocol::isTagExpression(pull.expressionType) &&
            (pull.subscription.empty() || pull.subscription == protocol::kSubscribeAll)) {
            return std::nullopt;
        }
        auto built = protocol::SubscriptionData::build(pull.topic, pull.subscription, pull.expressionType.empty()
                                                       ? protocol::kExpressionTypeTag : pull.expressionType);
        if (!built) return Refusal{ResponseCode::SubscriptionParseFailed, "parse the consumer's subscription failed"};
        data = std::move(*built);
    } else if (auto refusal = registered(pull, admission, data)) {
        return refusal;
    }
    if (!protocol::isTagExpression(data.expressionType)) return expression(data, carried, admission);
    const bool all = data.subscribesAll() || data.classFilterMode || (pull.sysFlag & protocol::kPullFlagClassFilter) != 0;
    if (!all) admission.tagCodes = std::move(data.codeSet);
    return std::nullopt;
}

std::optional<Refusal> PullChecks::expression(const protocol::SubscriptionData& data, bool carried, Admission& admission) const {
    if (!services_.filters) {
        return Refusal{ResponseCode::SystemError,
                       "The broker does not support consumer to filter message by " + data.expressionType};
    }
    auto verdict = services_.filters->compile(data.expressionType, data.subString);
    if (verdict.code == ResponseCode::Success) {
        admission.filter = std::move(verdict.filter);
        return std::nullopt;
    }
    if (verdict.code != ResponseCode::SubscriptionParseFailed) return Refusal{verdict.code, std::move(verdict.remark)};
    if (carried) return Refusal{verdict.code, "parse the consumer's subscription failed. " + verdict.remark};
    return Refusal{ResponseCode::FilterDataNotExist,
                   "The broker's consumer filter data is not exist!Your expression may be wrong! " + verdict.remark};
}

std::optional<Refusal> PullChecks::registered(const protocol::PullMessageRequest& pull, Admission& admission,
                                              protocol::SubscriptionData& data) const {
    const auto state = services_.clients->group(pull.consumerGroup);
    if (!state.online) {
        return Refusal{ResponseCode::SubscriptionNotExist, "the consumer's group info not exist" + std::string(kFaq)};
    }
    if (!admission.group.consumeBroadcastEnable && state.model == service::MessageModel::Broadcasting) {
        return Refusal{ResponseCode::NoPermission,
                       bracketed("the consumer group", pull.consumerGroup, " can not consume by broadcast way"), kBroadcasting};
    }
    admission.broadcasting |= state.model == service::MessageModel::Broadcasting && state.consumeType == service::ConsumeType::Passively;
    if (services_.groups->readForbidden(pull.consumerGroup, pull.topic)) {
        return Refusal{ResponseCode::NoPermission, bracketed("the consumer group", pull.consumerGroup, " is forbidden for topic[") +
                       std::string(pull.topic) + "]", kSubscription};
    }
    auto found = services_.clients->subscription(pull.consumerGroup, pull.topic);
    if (!found) {
        return Refusal{ResponseCode::SubscriptionNotExist, "the consumer's subscription not exist" + std::string(kFaq)};
    }
    if (found->subVersion < pull.subVersion) {
        return Refusal{ResponseCode::SubscriptionNotLatest, "the consumer's subscription not latest"};
    }
    data = std::move(*found);
    return std::nullopt;
}

std::optional<Refusal> PullChecks::pullConsumer(const protocol::PullMessageRequest& pull, const plugin::Peer& peer) const {
    const auto state = services_.clients->group(pull.consumerGroup);
    if (state.online && state.consumeType != service::ConsumeType::Actively) return std::nullopt;
    if (protocol::isSystemGroup(pull.consumerGroup)) return std::nullopt;
    const auto members = services_.clients->consumers(pull.consumerGroup);
    const bool known = std::ranges::any_of(members, [&peer](const auto& member) { return member.peer.get() == &peer; });
    if (known) return std::nullopt;
    return Refusal{ResponseCode::SubscriptionNotExist, "the consumer's group info not exist" + std::string(kFaq)};
}

}  // namespace patchbay::plugins::pull
