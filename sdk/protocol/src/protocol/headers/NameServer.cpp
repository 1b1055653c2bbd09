#include "patchbay/protocol/headers/NameServer.h"

#include "FieldBinding.h"

namespace patchbay::protocol {

namespace {

constexpr auto kRegisterBrokerRequest = [](auto& f, auto& h) {
    f.required("brokerName", h.brokerName);
    f.required("brokerAddr", h.brokerAddr);
    f.required("clusterName", h.clusterName);
    f.required("haServerAddr", h.haServerAddr);
    f.required("brokerId", h.brokerId);
    f.optional("heartbeatTimeoutMillis", h.heartbeatTimeoutMillis);
    f.optional("enableActingMaster", h.enableActingMaster);
    f.optional("compressed", h.compressed);
    f.optional("bodyCrc32", h.bodyCrc32);
    f.optional("__ZONE_NAME", h.zoneName);
};

constexpr auto kRegisterBrokerResponse = [](auto& f, auto& h) {
    f.optional("haServerAddr", h.haServerAddr);
    f.optional("masterAddr", h.masterAddr);
};

constexpr auto kUnregisterBrokerRequest = [](auto& f, auto& h) {
    f.required("brokerName", h.brokerName);
    f.required("brokerAddr", h.brokerAddr);
    f.required("clusterName", h.clusterName);
    f.required("brokerId", h.brokerId);
};

constexpr auto kRouteRequest = [](auto& f, auto& h) {
    f.optional("topic", h.topic);
    f.optional("acceptStandardJsonOnly", h.acceptStandardJsonOnly);
};

constexpr auto kKvConfigRequest = [](auto& f, auto& h) {
    f.optional("namespace", h.nameSpace);
    f.optional("key", h.key);
    f.optional("value", h.value);
};

constexpr auto kKvConfigResponse = [](auto& f, auto& h) { f.optional("value", h.value); };

constexpr auto kKvNamespaceRequest = [](auto& f, auto& h) { f.optional("namespace", h.nameSpace); };

constexpr auto kBrokerNameRequest = [](auto& f, auto& h) { f.required("brokerName", h.brokerName); };

constexpr auto kWipeWritePermResponse = [](auto& f, auto& h) { f.required("wipeTopicCount", h.wipeTopicCount); };

constexpr auto kAddWritePermResponse = [](auto& f, auto& h) { f.required("addTopicCount", h.addTopicCount); };

constexpr auto kDeleteTopicInNamesrvRequest = [](auto& f, auto& h) {
    f.optional("topic", h.topic);
    f.optional("clusterName", h.clusterName);
};

constexpr auto kTopicsByClusterRequest = [](auto& f, auto& h) { f.required("cluster", h.cluster); };

constexpr auto kQueryDataVersionRequest = [](auto& f, auto& h) {
    f.required("brokerName", h.brokerName);
    f.required("brokerAddr", h.brokerAddr);
    f.required("clusterName", h.clusterName);
    f.required("brokerId", h.brokerId);
};

constexpr auto kQueryDataVersionResponse = [](auto& f, auto& h) { f.required("changed", h.changed); };

constexpr auto kBrokerMemberGroupRequest = [](auto& f, auto& h) {
    f.required("clusterName", h.clusterName);
    f.required("brokerName", h.brokerName);
};

constexpr auto kBrokerHeartbeatRequest = [](auto& f, auto& h) {
    f.required("clusterName", h.clusterName);
    f.required("brokerAddr", h.brokerAddr);
    f.required("brokerName", h.brokerName);
    f.optional("brokerId", h.brokerId);
    f.optional("epoch", h.epoch);
    f.optional("maxOffset", h.maxOffset);
    f.optional("confirmOffset", h.confirmOffset);
    f.optional("heartbeatTimeoutMills", h.heartbeatTimeoutMillis);
    f.optional("electionPriority", h.electionPriority);
};

}  // namespace

Result<RegisterBrokerRequest> RegisterBrokerRequest::parse(const CommandView& command) {
    return parseHeader<RegisterBrokerRequest>(command, kRegisterBrokerRequest);
}

void RegisterBrokerRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kRegisterBrokerRequest);
}

Result<RegisterBrokerResponse> RegisterBrokerResponse::parse(const CommandView& command) {
    return parseHeader<RegisterBrokerResponse>(command, kRegisterBrokerResponse);
}

void RegisterBrokerResponse::write(FieldList& fields) const {
    writeHeader(*this, fields, kRegisterBrokerResponse);
}

Result<UnregisterBrokerRequest> UnregisterBrokerRequest::parse(const CommandView& command) {
    return parseHeader<UnregisterBrokerRequest>(command, kUnregisterBrokerRequest);
}

void UnregisterBrokerRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kUnregisterBrokerRequest);
}

Result<RouteRequest> RouteRequest::parse(const CommandView& command) {
    return parseHeader<RouteRequest>(command, kRouteRequest);
}

void RouteRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kRouteRequest);
}

Result<KvConfigRequest> KvConfigRequest::parse(const CommandView& command) {
    return parseHeader<KvConfigRequest>(command, kKvConfigRequest);
}

void KvConfigRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kKvConfigRequest);
}

Result<KvConfigResponse> KvConfigResponse::parse(const CommandView& command) {
    return parseHeader<KvConfigResponse>(command, kKvConfigResponse);
}

void KvConfigResponse::write(FieldList& fields) const {
    writeHeader(*this, fields, kKvConfigResponse);
}

Result<KvNamespaceRequest> KvNamespaceRequest::parse(const CommandView& command) {
    return parseHeader<KvNamespaceRequest>(command, kKvNamespaceRequest);
}

void KvNamespaceRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kKvNamespaceRequest);
}

Result<BrokerNameRequest> BrokerNameRequest::parse(const CommandView& command) {
    return parseHeader<BrokerNameRequest>(command, kBrokerNameRequest);
}

void BrokerNameRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kBrokerNameRequest);
}

Result<WipeWritePermResponse> WipeWritePermResponse::parse(const CommandView& command) {
    return parseHeader<WipeWritePermResponse>(command, kWipeWritePermResponse);
}

void WipeWritePermResponse::write(FieldList& fields) const {
    writeHeader(*this, fields, kWipeWritePermResponse);
}

Result<AddWritePermResponse> AddWritePermResponse::parse(const CommandView& command) {
    return parseHeader<AddWritePermResponse>(command, kAddWritePermResponse);
}

void AddWritePermResponse::write(FieldList& fields) const {
    writeHeader(*this, fields, kAddWritePermResponse);
}

Result<DeleteTopicInNamesrvRequest> DeleteTopicInNamesrvRequest::parse(const CommandView& command) {
    return parseHeader<DeleteTopicInNamesrvRequest>(command, kDeleteTopicInNamesrvRequest);
}

void DeleteTopicInNamesrvRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kDeleteTopicInNamesrvRequest);
}

Result<TopicsByClusterRequest> TopicsByClusterRequest::parse(const CommandView& command) {
    return parseHeader<TopicsByClusterRequest>(command, kTopicsByClusterRequest);
}

void TopicsByClusterRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kTopicsByClusterRequest);
}

Result<QueryDataVersionRequest> QueryDataVersionRequest::parse(const CommandView& command) {
    return parseHeader<QueryDataVersionRequest>(command, kQueryDataVersionRequest);
}

void QueryDataVersionRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kQueryDataVersionRequest);
}

Result<QueryDataVersionResponse> QueryDataVersionResponse::parse(const CommandView& command) {
    return parseHeader<QueryDataVersionResponse>(command, kQueryDataVersionResponse);
}

void QueryDataVersionResponse::write(FieldList& fields) const {
    writeHeader(*this, fields, kQueryDataVersionResponse);
}

Result<BrokerMemberGroupRequest> BrokerMemberGroupRequest::parse(const CommandView& command) {
    return parseHeader<BrokerMemberGroupRequest>(command, kBrokerMemberGroupRequest);
}

void BrokerMemberGroupRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kBrokerMemberGroupRequest);
}

Result<BrokerHeartbeatRequest> BrokerHeartbeatRequest::parse(const CommandView& command) {
    return parseHeader<BrokerHeartbeatRequest>(command, kBrokerHeartbeatRequest);
}

void BrokerHeartbeatRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kBrokerHeartbeatRequest);
}

}  // namespace patchbay::protocol
