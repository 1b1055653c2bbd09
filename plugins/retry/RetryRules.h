// RetryRules: when a message's retries are used up, and where it goes then.
#pragma once

#include "patchbay/plugin/Services.h"
#include "patchbay/service/QueueLocks.h"
#include "patchbay/service/RetryPolicy.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TopicConfigs.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::plugins::retry {

/// The group's limit, or the client's own where the client is new enough to be heeded.
[[nodiscard]] std::int32_t retriesMax(const service::GroupFacts& group, std::optional<std::int32_t> clientsOwn,
                                      std::int32_t clientVersion) noexcept;
/// Creates the group's dead-letter topic when it is missing; false when that is not possible.
bool haveDeadLetterTopic(service::TopicConfigs& topics, const std::string& topic);
/// RocketMQ's text for an unknown group.
[[nodiscard]] std::string noSuchGroup(std::string_view group);

/// The RetryPolicy service. Owned by the plugin, from init() to its destruction; stateless, any thread.
class RetryRules final : public service::RetryPolicy {
public:
    /// `locks` may be empty: then no consumer is taken for an orderly one.
    RetryRules(plugin::ServiceRef<service::TopicConfigs> topics, plugin::ServiceRef<service::SubscriptionGroups> groups,
               plugin::ServiceRef<service::QueueLocks> locks)
        : topics_(std::move(topics)), groups_(std::move(groups)), locks_(std::move(locks)) {}
    [[nodiscard]] service::RetryVerdict judge(const service::RetrySend& send) override;
    /// Gives back what is borrowed; judge() is not called any more.
    void release() noexcept;

private:
    /// Members of such a group try by themselves, and send only what they have given up; a retry would come out of order.
    [[nodiscard]] bool isOrderly(std::string_view group) const;

    plugin::ServiceRef<service::TopicConfigs> topics_;
    plugin::ServiceRef<service::SubscriptionGroups> groups_;
    plugin::ServiceRef<service::QueueLocks> locks_;
};

}  // namespace patchbay::plugins::retry
