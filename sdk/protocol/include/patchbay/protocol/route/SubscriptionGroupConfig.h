// SubscriptionGroupConfig: a consumer group on a broker, as it is kept in subscriptionGroup.json.
#pragma once

#include "patchbay/protocol/route/DataVersion.h"
#include "patchbay/protocol/route/TopicConfig.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

/// How long a message waits for its next try. Absent parts mean RocketMQ's own tables.
struct GroupRetryPolicy {
    enum class Type : std::uint8_t { Exponential, Customized };
    struct Exponential {
        std::int64_t initial = 5000;   ///< ms
        std::int64_t max = 7'200'000;  ///< ms
        std::int64_t multiplier = 2;
        friend bool operator==(const Exponential&, const Exponential&) = default;
    };

    Type type = Type::Customized;
    std::optional<std::vector<std::int64_t>> customizedNext;  ///< ms, by number of tries
    std::optional<Exponential> exponential;

    friend bool operator==(const GroupRetryPolicy&, const GroupRetryPolicy&) = default;
    void write(json::Writer& out) const;
    static Result<GroupRetryPolicy> read(json::Value value);
};

/// A subscription fixed by an administrator.
struct SimpleSubscriptionData {
    std::string topic;
    std::string expressionType;
    std::string expression;
    std::int64_t version = 0;
    friend bool operator==(const SimpleSubscriptionData&, const SimpleSubscriptionData&) = default;
    void write(json::Writer& out) const;
    static Result<SimpleSubscriptionData> read(json::Value value);
};

/// A value type; the defaults are RocketMQ's.
struct SubscriptionGroupConfig {
    std::string groupName;
    bool consumeEnable = true;
    bool consumeFromMinEnable = true;
    bool consumeBroadcastEnable = true;
    bool consumeMessageOrderly = false;
    std::int32_t retryQueueNums = 1;
    std::int32_t retryMaxTimes = 16;
    GroupRetryPolicy groupRetryPolicy;
    std::int64_t brokerId = 0;
    std::int64_t whichBrokerWhenConsumeSlowly = 1;
    bool notifyConsumerIdsChangedEnable = true;
    std::int32_t groupSysFlag = 0;
    std::int32_t consumeTimeoutMinute = 15;
    std::optional<std::vector<SimpleSubscriptionData>> subscriptionDataSet;
    Attributes attributes;

    friend bool operator==(const SubscriptionGroupConfig&, const SubscriptionGroupConfig&) = default;

    void write(json::Writer& out) const;
    static Result<SubscriptionGroupConfig> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<SubscriptionGroupConfig> fromJson(std::string_view text) {
        return json::decode<SubscriptionGroupConfig>(text);
    }
};

using SubscriptionGroupTable = std::map<std::string, SubscriptionGroupConfig, std::less<>>;
/// By group and topic; bit 4 (kPermRead): reading is forbidden.
using ForbiddenTable = std::map<std::string, std::map<std::string, std::int32_t, std::less<>>, std::less<>>;

/// subscriptionGroup.json, and the body of 201.
struct SubscriptionGroups {
    DataVersion dataVersion;
    ForbiddenTable forbiddenTable;
    SubscriptionGroupTable subscriptionGroupTable;

    void write(json::Writer& out) const;
    static Result<SubscriptionGroups> read(json::Value value);
    [[nodiscard]] std::string toJson(json::Dialect dialect = json::Dialect::Fastjson) const {
        return json::encode(*this, dialect);
    }
    static Result<SubscriptionGroups> fromJson(std::string_view text) { return json::decode<SubscriptionGroups>(text); }
};

/// Body of 225.
struct SubscriptionGroupList {
    std::vector<SubscriptionGroupConfig> groupConfigList;

    void write(json::Writer& out) const;
    static Result<SubscriptionGroupList> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<SubscriptionGroupList> fromJson(std::string_view text) {
        return json::decode<SubscriptionGroupList>(text);
    }
};

}  // namespace patchbay::protocol
