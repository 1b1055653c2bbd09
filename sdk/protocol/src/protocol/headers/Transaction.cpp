#include "patchbay/protocol/headers/Transaction.h"

#include "FieldBinding.h"

namespace patchbay::protocol {

namespace {

constexpr auto kEndTransactionRequest = [](auto& f, auto& h) {
    f.optional("topic", h.topic);
    f.required("producerGroup", h.producerGroup);
    f.required("tranStateTableOffset", h.tranStateTableOffset);
    f.required("commitLogOffset", h.commitLogOffset);
    f.required("commitOrRollback", h.commitOrRollback);
    f.optional("fromTransactionCheck", h.fromTransactionCheck);
    f.required("msgId", h.msgId);
    f.optional("transactionId", h.transactionId);
};

constexpr auto kCheckTransactionStateRequest = [](auto& f, auto& h) {
    f.optional("topic", h.topic);
    f.required("tranStateTableOffset", h.tranStateTableOffset);
    f.required("commitLogOffset", h.commitLogOffset);
    f.optional("msgId", h.msgId);
    f.optional("transactionId", h.transactionId);
    f.optional("offsetMsgId", h.offsetMsgId);
    f.optional("bname", h.brokerName);
};

}  // namespace

Result<EndTransactionRequest> EndTransactionRequest::parse(const CommandView& command) {
    return parseHeader<EndTransactionRequest>(command, kEndTransactionRequest);
}

void EndTransactionRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kEndTransactionRequest);
}

Result<CheckTransactionStateRequest> CheckTransactionStateRequest::parse(const CommandView& command) {
    return parseHeader<CheckTransactionStateRequest>(command, kCheckTransactionStateRequest);
}

void CheckTransactionStateRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kCheckTransactionStateRequest);
}

}  // namespace patchbay::protocol
