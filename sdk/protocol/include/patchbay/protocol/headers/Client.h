// Headers about clients and their groups (35, 38, 40, 203, 204).
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"

#include <cstdint>
#include <string_view>

namespace patchbay::protocol {

// The rules of parse() and write() are in SendMessage.h.

/// 35.
struct UnregisterClientRequest {
    std::string_view clientId;
    std::string_view producerGroup;
    std::string_view consumerGroup;

    static Result<UnregisterClientRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 38, 40, 203.
struct ConsumerGroupRequest {
    std::string_view consumerGroup;

    static Result<ConsumerGroupRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 204.
struct ProducerGroupRequest {
    std::string_view producerGroup;

    static Result<ProducerGroupRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

}  // namespace patchbay::protocol
