#include "patchbay/protocol/headers/Recall.h"

#include "FieldBinding.h"

namespace patchbay::protocol {

namespace {

constexpr auto kRecallMessageRequest = [](auto& f, auto& h) {
    f.optional("producerGroup", h.producerGroup);
    f.required("topic", h.topic);
    f.required("recallHandle", h.recallHandle);
};

constexpr auto kRecallMessageResponse = [](auto& f, auto& h) { f.required("msgId", h.msgId); };

}  // namespace

Result<RecallMessageRequest> RecallMessageRequest::parse(const CommandView& command) {
    return parseHeader<RecallMessageRequest>(command, kRecallMessageRequest);
}

void RecallMessageRequest::write(FieldList& fields) const { writeHeader(*this, fields, kRecallMessageRequest); }

Result<RecallMessageResponse> RecallMessageResponse::parse(const CommandView& command) {
    return parseHeader<RecallMessageResponse>(command, kRecallMessageResponse);
}

void RecallMessageResponse::write(FieldList& fields) const { writeHeader(*this, fields, kRecallMessageResponse); }

}  // namespace patchbay::protocol
