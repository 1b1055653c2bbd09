#include "patchbay/protocol/headers/ConsumerOffset.h"

#include "FieldBinding.h"

#include <algorithm>

namespace patchbay::protocol {

namespace {

constexpr auto kQueryConsumerOffsetRequest = [](auto& f, auto& h) {
    f.required("consumerGroup", h.consumerGroup);
    f.required("topic", h.topic);
    f.required("queueId", h.queueId);
    f.optional("setZeroIfNotFound", h.setZeroIfNotFound);
};

constexpr auto kUpdateConsumerOffsetRequest = [](auto& f, auto& h) {
    f.required("consumerGroup", h.consumerGroup);
    f.required("topic", h.topic);
    f.optional("queueId", h.queueId);
    f.optional("commitOffset", h.commitOffset);
};

constexpr auto kSearchOffsetRequest = [](auto& f, auto& h) {
    f.required("topic", h.topic);
    f.required("queueId", h.queueId);
    f.required("timestamp", h.timestamp);
    f.optional("boundaryType", h.boundaryType);
};

constexpr auto kQueueRequest = [](auto& f, auto& h) {
    f.required("topic", h.topic);
    f.required("queueId", h.queueId);
    f.optional("committed", h.committed);
};

constexpr auto kOffsetResponse = [](auto& f, auto& h) { f.required("offset", h.offset); };

constexpr auto kStoreTimeResponse = [](auto& f, auto& h) { f.required("timestamp", h.timestamp); };

}  // namespace

Status QueryConsumerOffsetRequest::parse(const CommandView& command, QueryConsumerOffsetRequest& out) {
    return parseInto(command, out, kQueryConsumerOffsetRequest);
}

void QueryConsumerOffsetRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kQueryConsumerOffsetRequest);
}

Status UpdateConsumerOffsetRequest::parse(const CommandView& command, UpdateConsumerOffsetRequest& out) {
    return parseInto(command, out, kUpdateConsumerOffsetRequest);
}

void UpdateConsumerOffsetRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kUpdateConsumerOffsetRequest);
}

Result<SearchOffsetRequest> SearchOffsetRequest::parse(const CommandView& command) {
    return parseHeader<SearchOffsetRequest>(command, kSearchOffsetRequest);
}

bool SearchOffsetRequest::upper() const noexcept {
    constexpr std::string_view kUpper = "upper";
    return std::equal(boundaryType.begin(), boundaryType.end(), kUpper.begin(), kUpper.end(),
                      [](char a, char b) { return (a | 0x20) == b; });
}

void SearchOffsetRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kSearchOffsetRequest);
}

Result<QueueRequest> QueueRequest::parse(const CommandView& command) {
    return parseHeader<QueueRequest>(command, kQueueRequest);
}

void QueueRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kQueueRequest);
}

Result<OffsetResponse> OffsetResponse::parse(const CommandView& command) {
    return parseHeader<OffsetResponse>(command, kOffsetResponse);
}

void OffsetResponse::write(FieldList& fields) const {
    writeHeader(*this, fields, kOffsetResponse);
}

Result<StoreTimeResponse> StoreTimeResponse::parse(const CommandView& command) {
    return parseHeader<StoreTimeResponse>(command, kStoreTimeResponse);
}

void StoreTimeResponse::write(FieldList& fields) const {
    writeHeader(*this, fields, kStoreTimeResponse);
}

}  // namespace patchbay::protocol
