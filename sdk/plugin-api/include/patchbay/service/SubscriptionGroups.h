// SubscriptionGroups: settings of consumer groups.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/protocol/route/SubscriptionGroupConfig.h"
#include "patchbay/protocol/route/TopicConfig.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::service {

/// What every pull and heartbeat asks of a group.
struct GroupFacts {
    std::int64_t brokerId = 0;
    std::int64_t whichBrokerWhenConsumeSlowly = 1;
    std::int32_t retryQueueNums = 1;
    std::int32_t retryMaxTimes = 16;
    std::int32_t sysFlag = 0;
    bool consumeEnable = true;
    bool consumeBroadcastEnable = true;
    bool consumeFromMinEnable = true;
    bool notifyConsumerIdsChangedEnable = true;
    bool consumeMessageOrderly = false;
};

/// Thread-safe. Changes are durable when the call returns.
class SubscriptionGroups {
public:
    static constexpr plugin::ServiceId kId{"patchbay.SubscriptionGroups", 1};
    virtual ~SubscriptionGroups();

    /// Hot when it exists. A missing group is created when autoCreateSubscriptionGroup allows it; false otherwise.
    [[nodiscard]] virtual bool findOrCreate(std::string_view group, GroupFacts& facts) = 0;
    /// Only looks.
    [[nodiscard]] virtual bool find(std::string_view group, GroupFacts& facts) const noexcept = 0;
    [[nodiscard]] virtual std::optional<protocol::SubscriptionGroupConfig> get(std::string_view group) const = 0;
    [[nodiscard]] virtual std::vector<protocol::SubscriptionGroupConfig> all() const = 0;
    [[nodiscard]] virtual protocol::DataVersion dataVersion() const = 0;
    virtual Status put(const protocol::SubscriptionGroupConfig& config) = 0;
    virtual Status remove(std::string_view group) = 0;
    /// Whether the group may not read the topic (bit 2, value 4, of its forbidden bits).
    [[nodiscard]] virtual bool readForbidden(std::string_view group, std::string_view topic) const noexcept = 0;
    /// Forbids or allows it. NotFound for an unknown group.
    virtual Status setReadForbidden(std::string_view group, std::string_view topic, bool forbidden) = 0;
    /// The whole table as RocketMQ serialises it (201, subscriptionGroup.json).
    [[nodiscard]] virtual std::string toJson() const = 0;
};

}  // namespace patchbay::service
