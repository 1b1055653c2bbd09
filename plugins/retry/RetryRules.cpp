#include "RetryRules.h"

#include "patchbay/protocol/message/Names.h"

namespace patchbay::plugins::retry {

using protocol::ResponseCode;

namespace {

// RocketMQ 3.4.9: the first whose consumers say their limit.
constexpr std::int32_t kVersionWithLimit = 121;

/// The group of %RETRY%group and of %RETRY%group+topic.
std::string_view groupOf(std::string_view retryTopic) noexcept {
    const std::string_view group = retryTopic.substr(protocol::kRetryTopicPrefix.size());
    return group.substr(0, group.find('+'));
}

}  // namespace

std::int32_t retriesMax(const service::GroupFacts& group, std::optional<std::int32_t> clientsOwn,
                        std::int32_t clientVersion) noexcept {
    return clientsOwn && clientVersion >= kVersionWithLimit ? *clientsOwn : group.retryMaxTimes;
}

bool haveDeadLetterTopic(service::TopicConfigs& topics, const std::string& topic) {
    constexpr auto kPerm = static_cast<std::int32_t>(protocol::kPermRead | protocol::kPermWrite);
    return topics.createIfMissing(topic, 1, kPerm, 0).has_value();
}

std::string noSuchGroup(std::string_view group) {
    return "subscription group not exist, " + std::string(group) +
           " \nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.";
}

service::RetryVerdict RetryRules::judge(const service::RetrySend& send) {
    service::RetryVerdict verdict;
    const std::string_view group = groupOf(send.topic);
    service::GroupFacts facts;
    if (!groups_->findOrCreate(group, facts)) {
        verdict.code = ResponseCode::SubscriptionGroupNotExist;
        verdict.remark = noSuchGroup(group);
    } else if (send.reconsumeTimes > retriesMax(facts, send.maxReconsumeTimes, send.clientVersion) || isOrderly(group)) {
        verdict.deadLetterTopic = protocol::dlqTopic(group);
        if (!haveDeadLetterTopic(*topics_, verdict.deadLetterTopic)) {
            verdict.code = ResponseCode::SystemError;
            verdict.remark = "topic[" + verdict.deadLetterTopic + "] not exist";
        }
    }
    return verdict;
}

bool RetryRules::isOrderly(std::string_view group) const { return locks_ && locks_->anyHeld(group); }

void RetryRules::release() noexcept {
    locks_.reset();
    topics_.reset();
    groups_.reset();
}

}  // namespace patchbay::plugins::retry
