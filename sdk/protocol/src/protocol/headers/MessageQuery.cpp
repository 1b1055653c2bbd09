#include "patchbay/protocol/headers/MessageQuery.h"

#include "FieldBinding.h"

namespace patchbay::protocol {

namespace {

constexpr auto kQueryMessageRequest = [](auto& f, auto& h) {
    f.required("topic", h.topic);
    f.required("key", h.key);
    f.required("maxNum", h.maxNum);
    f.required("beginTimestamp", h.beginTimestamp);
    f.required("endTimestamp", h.endTimestamp);
    f.optional("_UNIQUE_KEY_QUERY", h.uniqueKey);
};

constexpr auto kQueryMessageResponse = [](auto& f, auto& h) {
    f.required("indexLastUpdateTimestamp", h.indexLastUpdateTimestamp);
    f.required("indexLastUpdatePhyoffset", h.indexLastUpdatePhyoffset);
};

constexpr auto kViewMessageRequest = [](auto& f, auto& h) {
    f.optional("topic", h.topic);
    f.required("offset", h.offset);
};

}  // namespace

Result<QueryMessageRequest> QueryMessageRequest::parse(const CommandView& command) {
    return parseHeader<QueryMessageRequest>(command, kQueryMessageRequest);
}

void QueryMessageRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kQueryMessageRequest);
}

Result<QueryMessageResponse> QueryMessageResponse::parse(const CommandView& command) {
    return parseHeader<QueryMessageResponse>(command, kQueryMessageResponse);
}

void QueryMessageResponse::write(FieldList& fields) const {
    writeHeader(*this, fields, kQueryMessageResponse);
}

Result<ViewMessageRequest> ViewMessageRequest::parse(const CommandView& command) {
    return parseHeader<ViewMessageRequest>(command, kViewMessageRequest);
}

void ViewMessageRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kViewMessageRequest);
}

}  // namespace patchbay::protocol
