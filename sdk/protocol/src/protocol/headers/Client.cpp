#include "patchbay/protocol/headers/Client.h"

#include "FieldBinding.h"

namespace patchbay::protocol {

namespace {

constexpr auto kUnregisterClientRequest = [](auto& f, auto& h) {
    f.required("clientID", h.clientId);
    f.optional("producerGroup", h.producerGroup);
    f.optional("consumerGroup", h.consumerGroup);
};

constexpr auto kConsumerGroupRequest = [](auto& f, auto& h) { f.required("consumerGroup", h.consumerGroup); };

constexpr auto kProducerGroupRequest = [](auto& f, auto& h) { f.required("producerGroup", h.producerGroup); };

}  // namespace

Result<UnregisterClientRequest> UnregisterClientRequest::parse(const CommandView& command) {
    return parseHeader<UnregisterClientRequest>(command, kUnregisterClientRequest);
}

void UnregisterClientRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kUnregisterClientRequest);
}

Result<ConsumerGroupRequest> ConsumerGroupRequest::parse(const CommandView& command) {
    return parseHeader<ConsumerGroupRequest>(command, kConsumerGroupRequest);
}

void ConsumerGroupRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kConsumerGroupRequest);
}

Result<ProducerGroupRequest> ProducerGroupRequest::parse(const CommandView& command) {
    return parseHeader<ProducerGroupRequest>(command, kProducerGroupRequest);
}

void ProducerGroupRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kProducerGroupRequest);
}

}  // namespace patchbay::protocol
