#include "patchbay/protocol/headers/Admin.h"

#include "FieldBinding.h"

namespace patchbay::protocol {

namespace {

constexpr auto kCreateTopicRequest = [](auto& f, auto& h) {
    f.required("topic", h.topic);
    f.required("defaultTopic", h.defaultTopic);
    f.required("readQueueNums", h.readQueueNums);
    f.required("writeQueueNums", h.writeQueueNums);
    f.required("perm", h.perm);
    f.required("topicFilterType", h.topicFilterType);
    f.optional("topicSysFlag", h.topicSysFlag);
    f.required("order", h.order);
    f.optional("attributes", h.attributes);
    f.optional("force", h.force);
};

constexpr auto kTopicRequest = [](auto& f, auto& h) {
    f.required("topic", h.topic);
    f.optional("lo", h.logical);
};

constexpr auto kGroupRequest = [](auto& f, auto& h) { f.required("group", h.group); };

constexpr auto kDeleteSubscriptionGroupRequest = [](auto& f, auto& h) {
    f.required("groupName", h.groupName);
    f.optional("cleanOffset", h.cleanOffset);
};

constexpr auto kGetConsumeStatsRequest = [](auto& f, auto& h) {
    f.required("consumerGroup", h.consumerGroup);
    f.optional("topic", h.topic);
    f.optional("topicList", h.topicList);
};

constexpr auto kGetBrokerConfigResponse = [](auto& f, auto& h) { f.required("version", h.version); };

}  // namespace

Result<CreateTopicRequest> CreateTopicRequest::parse(const CommandView& command) {
    return parseHeader<CreateTopicRequest>(command, kCreateTopicRequest);
}

void CreateTopicRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kCreateTopicRequest);
}

Result<TopicRequest> TopicRequest::parse(const CommandView& command) {
    return parseHeader<TopicRequest>(command, kTopicRequest);
}

void TopicRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kTopicRequest);
}

Result<GroupRequest> GroupRequest::parse(const CommandView& command) {
    return parseHeader<GroupRequest>(command, kGroupRequest);
}

void GroupRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kGroupRequest);
}

Result<DeleteSubscriptionGroupRequest> DeleteSubscriptionGroupRequest::parse(const CommandView& command) {
    return parseHeader<DeleteSubscriptionGroupRequest>(command, kDeleteSubscriptionGroupRequest);
}

void DeleteSubscriptionGroupRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kDeleteSubscriptionGroupRequest);
}

Result<GetConsumeStatsRequest> GetConsumeStatsRequest::parse(const CommandView& command) {
    return parseHeader<GetConsumeStatsRequest>(command, kGetConsumeStatsRequest);
}

void GetConsumeStatsRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kGetConsumeStatsRequest);
}

Result<GetBrokerConfigResponse> GetBrokerConfigResponse::parse(const CommandView& command) {
    return parseHeader<GetBrokerConfigResponse>(command, kGetBrokerConfigResponse);
}

void GetBrokerConfigResponse::write(FieldList& fields) const {
    writeHeader(*this, fields, kGetBrokerConfigResponse);
}

}  // namespace patchbay::protocol
