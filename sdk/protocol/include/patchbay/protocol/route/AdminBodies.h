// Bodies that brokers and name servers answer to administrators and consumers.
#pragma once

#include "patchbay/protocol/json/Body.h"
#include "patchbay/protocol/route/DataVersion.h"
#include "patchbay/protocol/route/Heartbeat.h"
#include "patchbay/protocol/route/MessageQueue.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

/// Body of 206, 224, 304, 305 and others.
struct TopicList {
    std::vector<std::string> topicList;
    std::optional<std::string> brokerAddr;  ///< in answers to 343 and 305

    void write(json::Writer& out) const;
    static Result<TopicList> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<TopicList> fromJson(std::string_view text) { return json::decode<TopicList>(text); }
};

/// Body of 300.
struct GroupList {
    std::vector<std::string> groupList;

    void write(json::Writer& out) const;
    static Result<GroupList> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<GroupList> fromJson(std::string_view text) { return json::decode<GroupList>(text); }
};

/// Body of 28, 219 and of the answer to 103.
struct KvTable {
    std::map<std::string, std::string, std::less<>> table;

    void write(json::Writer& out) const;
    static Result<KvTable> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<KvTable> fromJson(std::string_view text) { return json::decode<KvTable>(text); }
};

/// "12 B", "1.1 KiB", "97.8 GiB": how RocketMQ writes sizes among the values of 28.
[[nodiscard]] std::string byteCountText(std::int64_t bytes);

/// Body of 38.
struct ConsumerIdList {
    std::vector<std::string> consumerIdList;

    void write(json::Writer& out) const;
    static Result<ConsumerIdList> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<ConsumerIdList> fromJson(std::string_view text) { return json::decode<ConsumerIdList>(text); }
};

/// Request body of 41 and 42.
struct LockBatchRequest {
    std::string consumerGroup;
    std::string clientId;
    bool onlyThisBroker = false;
    std::vector<MessageQueue> mqSet;

    void write(json::Writer& out) const;
    static Result<LockBatchRequest> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<LockBatchRequest> fromJson(std::string_view text) { return json::decode<LockBatchRequest>(text); }
};

/// Answer to 41.
struct LockBatchResponse {
    std::vector<MessageQueue> lockOkMqSet;

    void write(json::Writer& out) const;
    static Result<LockBatchResponse> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<LockBatchResponse> fromJson(std::string_view text) { return json::decode<LockBatchResponse>(text); }
};

/// One client of a group.
struct ClientConnection {
    std::string clientAddr;  ///< "ip:port"
    std::string clientId;
    std::string language;  ///< name of the language code
    std::int32_t version = 0;

    friend bool operator==(const ClientConnection&, const ClientConnection&) = default;
    void write(json::Writer& out) const;
    static Result<ClientConnection> read(json::Value value);
};

/// Body of 203.
struct ConsumerConnection {
    std::vector<ClientConnection> connectionSet;
    std::map<std::string, SubscriptionData, std::less<>> subscriptionTable;
    std::optional<ConsumeType> consumeType;
    std::optional<MessageModel> messageModel;
    std::optional<ConsumeFromWhere> consumeFromWhere;

    void write(json::Writer& out) const;
    static Result<ConsumerConnection> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<ConsumerConnection> fromJson(std::string_view text) { return json::decode<ConsumerConnection>(text); }
};

/// Body of 204.
struct ProducerConnection {
    std::vector<ClientConnection> connectionSet;

    void write(json::Writer& out) const;
    static Result<ProducerConnection> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<ProducerConnection> fromJson(std::string_view text) { return json::decode<ProducerConnection>(text); }
};

/// Body of 202.
struct TopicStatsTable {
    struct Entry {
        std::int64_t minOffset = 0;
        std::int64_t maxOffset = 0;
        std::int64_t lastUpdateTimestamp = 0;
        friend bool operator==(const Entry&, const Entry&) = default;
        void write(json::Writer& out) const;
        static Result<Entry> read(json::Value value);
    };
    std::map<MessageQueue, Entry> offsetTable;
    double topicPutTps = 0;

    void write(json::Writer& out) const;
    static Result<TopicStatsTable> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<TopicStatsTable> fromJson(std::string_view text) { return json::decode<TopicStatsTable>(text); }
};

/// Body of 208.
struct ConsumeStats {
    struct Entry {
        std::int64_t brokerOffset = 0;
        std::int64_t consumerOffset = 0;
        std::int64_t pullOffset = 0;
        std::int64_t lastTimestamp = 0;
        friend bool operator==(const Entry&, const Entry&) = default;
        void write(json::Writer& out) const;
        static Result<Entry> read(json::Value value);
    };
    std::map<MessageQueue, Entry> offsetTable;
    double consumeTps = 0;

    void write(json::Writer& out) const;
    static Result<ConsumeStats> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<ConsumeStats> fromJson(std::string_view text) { return json::decode<ConsumeStats>(text); }
};

/// consumerOffset.json, and the body of 43.
struct ConsumerOffsets {
    using Queues = std::map<std::int32_t, std::int64_t>;

    DataVersion dataVersion;
    std::map<std::string, Queues, std::less<>> offsetTable;  ///< "topic@group" -> queue id -> offset

    /// groupTopicMap, which Java writes as well, is derived from the table and not read.
    void write(json::Writer& out) const;
    static Result<ConsumerOffsets> read(json::Value value);
    [[nodiscard]] std::string toJson(json::Dialect dialect = json::Dialect::Fastjson) const {
        return json::encode(*this, dialect);
    }
    static Result<ConsumerOffsets> fromJson(std::string_view text) { return json::decode<ConsumerOffsets>(text); }
};

}  // namespace patchbay::protocol
