// Routes: where the queues of a topic are, as a name server tells it.
#pragma once

#include "patchbay/protocol/json/Body.h"
#include "patchbay/protocol/route/TopicConfig.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

inline constexpr std::int64_t kMasterId = 0;

struct QueueData {
    std::string brokerName;
    std::int32_t readQueueNums = 0;
    std::int32_t writeQueueNums = 0;
    std::uint32_t perm = 0;
    std::int32_t topicSysFlag = 0;

    friend bool operator==(const QueueData&, const QueueData&) = default;
    void write(json::Writer& out) const;
    static Result<QueueData> read(json::Value value);
};

/// Body of 217: the queues of one topic, told by one broker.
struct QueueDataList {
    std::vector<QueueData> queueDatas;
    static Result<QueueDataList> read(json::Value value);
    static Result<QueueDataList> fromJson(std::string_view text) { return json::decode<QueueDataList>(text); }
};

struct BrokerData {
    std::string cluster;
    std::string brokerName;
    std::map<std::int64_t, std::string> brokerAddrs;  ///< broker id -> "ip:port"; kMasterId is the master
    bool enableActingMaster = false;
    std::optional<std::string> zoneName;

    friend bool operator==(const BrokerData&, const BrokerData&) = default;
    void write(json::Writer& out) const;
    static Result<BrokerData> read(json::Value value);
};

/// Body of 105.
struct TopicRouteData {
    std::optional<std::string> orderTopicConf;  ///< "broker:queues;broker2:queues"
    std::vector<QueueData> queueDatas;
    std::vector<BrokerData> brokerDatas;
    std::map<std::string, std::vector<std::string>, std::less<>> filterServerTable;
    std::optional<TopicQueueMappingTable> topicQueueMappingByBroker;

    friend bool operator==(const TopicRouteData&, const TopicRouteData&) = default;
    void write(json::Writer& out) const;
    static Result<TopicRouteData> read(json::Value value);
    /// Strict for requests of version >= 401 or with acceptStandardJsonOnly; Fastjson for all others.
    [[nodiscard]] std::string toJson(json::Dialect dialect) const { return json::encode(*this, dialect); }
    static Result<TopicRouteData> fromJson(std::string_view text) { return json::decode<TopicRouteData>(text); }
};

/// Body of 106.
struct ClusterInfo {
    std::map<std::string, BrokerData, std::less<>> brokerAddrTable;
    std::map<std::string, std::vector<std::string>, std::less<>> clusterAddrTable;  ///< cluster -> broker names

    friend bool operator==(const ClusterInfo&, const ClusterInfo&) = default;
    void write(json::Writer& out) const;
    static Result<ClusterInfo> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<ClusterInfo> fromJson(std::string_view text) { return json::decode<ClusterInfo>(text); }
};

/// Body of 901.
struct BrokerMemberGroup {
    std::string cluster;
    std::string brokerName;
    std::map<std::int64_t, std::string> brokerAddrs;

    friend bool operator==(const BrokerMemberGroup&, const BrokerMemberGroup&) = default;
    void write(json::Writer& out) const;
    static Result<BrokerMemberGroup> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<BrokerMemberGroup> fromJson(std::string_view text) { return json::decode<BrokerMemberGroup>(text); }
};

}  // namespace patchbay::protocol
