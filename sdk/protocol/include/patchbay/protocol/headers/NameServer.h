// Headers that a name server answers (100 to 105, 205, 216, 219, 224, 322, 327, 901, 904).
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::protocol {

// The rules of parse() and write() are in SendMessage.h.

/// 103. enableActingMaster: absent from brokers before 5.0.
struct RegisterBrokerRequest {
    std::string_view brokerName;
    std::string_view brokerAddr;
    std::string_view clusterName;
    std::string_view haServerAddr;
    std::int64_t brokerId = 0;
    std::optional<std::int64_t> heartbeatTimeoutMillis;
    std::optional<bool> enableActingMaster;
    bool compressed = false;
    std::int32_t bodyCrc32 = 0;  ///< 31 bits; 0: do not check
    std::string_view zoneName;  ///< __ZONE_NAME

    static Result<RegisterBrokerRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// Of 103.
struct RegisterBrokerResponse {
    std::string_view haServerAddr;
    std::string_view masterAddr;

    static Result<RegisterBrokerResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 104.
struct UnregisterBrokerRequest {
    std::string_view brokerName;
    std::string_view brokerAddr;
    std::string_view clusterName;
    std::int64_t brokerId = 0;

    static Result<UnregisterBrokerRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 105. A missing topic is answered like an unknown one.
struct RouteRequest {
    std::string_view topic;
    std::optional<bool> acceptStandardJsonOnly;

    static Result<RouteRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 100 (with value), 101, 102. What is missing is the name server's to judge.
struct KvConfigRequest {
    std::string_view nameSpace;
    std::string_view key;
    std::string_view value;

    static Result<KvConfigRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// Of 101.
struct KvConfigResponse {
    std::string_view value;

    static Result<KvConfigResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 219.
struct KvNamespaceRequest {
    std::string_view nameSpace;

    static Result<KvNamespaceRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 205, 327.
struct BrokerNameRequest {
    std::string_view brokerName;

    static Result<BrokerNameRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// Of 205.
struct WipeWritePermResponse {
    std::int32_t wipeTopicCount = 0;

    static Result<WipeWritePermResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// Of 327.
struct AddWritePermResponse {
    std::int32_t addTopicCount = 0;

    static Result<AddWritePermResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 216. clusterName empty or absent: in all clusters. A missing topic is answered like one that is already gone.
struct DeleteTopicInNamesrvRequest {
    std::string_view topic;
    std::string_view clusterName;

    static Result<DeleteTopicInNamesrvRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 224.
struct TopicsByClusterRequest {
    std::string_view cluster;

    static Result<TopicsByClusterRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 322.
struct QueryDataVersionRequest {
    std::string_view brokerName;
    std::string_view brokerAddr;
    std::string_view clusterName;
    std::int64_t brokerId = 0;

    static Result<QueryDataVersionRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// Of 322.
struct QueryDataVersionResponse {
    bool changed = false;

    static Result<QueryDataVersionResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 901.
struct BrokerMemberGroupRequest {
    std::string_view clusterName;
    std::string_view brokerName;

    static Result<BrokerMemberGroupRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 904; a name server needs the first three only.
struct BrokerHeartbeatRequest {
    std::string_view clusterName;
    std::string_view brokerAddr;
    std::string_view brokerName;
    std::optional<std::int64_t> brokerId;
    std::optional<std::int32_t> epoch;
    std::optional<std::int64_t> maxOffset;
    std::optional<std::int64_t> confirmOffset;
    std::optional<std::int64_t> heartbeatTimeoutMillis;  ///< misspelt heartbeatTimeoutMills on the wire
    std::optional<std::int32_t> electionPriority;

    static Result<BrokerHeartbeatRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

}  // namespace patchbay::protocol
