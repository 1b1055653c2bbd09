#include "patchbay/protocol/headers/ConsumerAdmin.h"

#include "FieldBinding.h"

namespace patchbay::protocol {

namespace {

constexpr auto kResetOffset = [](auto& f, auto& h) {
    f.required("group", h.group);
    f.required("topic", h.topic);
    f.required("timestamp", h.timestamp);
    f.required("isForce", h.isForce);
    f.optional("queueId", h.queueId);
    f.optional("offset", h.offset);
};

constexpr auto kConsumerStatus = [](auto& f, auto& h) {
    f.required("group", h.group);
    f.required("topic", h.topic);
    f.optional("clientAddr", h.clientAddr);
};

constexpr auto kConsumerRelay = [](auto& f, auto& h) {
    f.required("consumerGroup", h.consumerGroup);
    f.optional("clientId", h.clientId);
    f.optional("msgId", h.msgId);
    f.optional("topic", h.topic);
};

constexpr auto kCloneGroupOffset = [](auto& f, auto& h) {
    f.required("srcGroup", h.srcGroup);
    f.required("destGroup", h.destGroup);
    f.optional("topic", h.topic);
    f.optional("offline", h.offline);
};

constexpr auto kCorrectionOffset = [](auto& f, auto& h) {
    f.optional("filterGroups", h.filterGroups);
    f.required("compareGroup", h.compareGroup);
    f.required("topic", h.topic);
};

constexpr auto kGroupForbidden = [](auto& f, auto& h) {
    f.required("group", h.group);
    f.required("topic", h.topic);
    f.optional("readable", h.readable);
};

}  // namespace

Result<ResetOffsetRequest> ResetOffsetRequest::parse(const CommandView& command) {
    return parseHeader<ResetOffsetRequest>(command, kResetOffset);
}

void ResetOffsetRequest::write(FieldList& fields) const { writeHeader(*this, fields, kResetOffset); }

Result<ConsumerStatusRequest> ConsumerStatusRequest::parse(const CommandView& command) {
    return parseHeader<ConsumerStatusRequest>(command, kConsumerStatus);
}

void ConsumerStatusRequest::write(FieldList& fields) const { writeHeader(*this, fields, kConsumerStatus); }

Result<ConsumerRelayRequest> ConsumerRelayRequest::parse(const CommandView& command) {
    return parseHeader<ConsumerRelayRequest>(command, kConsumerRelay);
}

void ConsumerRelayRequest::write(FieldList& fields) const { writeHeader(*this, fields, kConsumerRelay); }

Result<CloneGroupOffsetRequest> CloneGroupOffsetRequest::parse(const CommandView& command) {
    return parseHeader<CloneGroupOffsetRequest>(command, kCloneGroupOffset);
}

void CloneGroupOffsetRequest::write(FieldList& fields) const { writeHeader(*this, fields, kCloneGroupOffset); }

Result<CorrectionOffsetRequest> CorrectionOffsetRequest::parse(const CommandView& command) {
    return parseHeader<CorrectionOffsetRequest>(command, kCorrectionOffset);
}

void CorrectionOffsetRequest::write(FieldList& fields) const { writeHeader(*this, fields, kCorrectionOffset); }

Result<GroupForbiddenRequest> GroupForbiddenRequest::parse(const CommandView& command) {
    return parseHeader<GroupForbiddenRequest>(command, kGroupForbidden);
}

void GroupForbiddenRequest::write(FieldList& fields) const { writeHeader(*this, fields, kGroupForbidden); }

}  // namespace patchbay::protocol
