// Headers of transactions (37, 39).
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::protocol {

// The rules of parse() and write() are in SendMessage.h.

/// 37. commitOrRollback: 0 unknown, 8 commit, 12 rollback.
struct EndTransactionRequest {
    std::string_view topic;
    std::string_view producerGroup;
    std::int64_t tranStateTableOffset = 0;  ///< in the half messages' queue
    std::int64_t commitLogOffset = 0;
    std::int32_t commitOrRollback = 0;
    bool fromTransactionCheck = false;
    std::string_view msgId;
    std::string_view transactionId;

    static Result<EndTransactionRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 39, from the broker to a producer.
struct CheckTransactionStateRequest {
    std::string_view topic;
    std::int64_t tranStateTableOffset = 0;
    std::int64_t commitLogOffset = 0;
    std::string_view msgId;
    std::string_view transactionId;
    std::string_view offsetMsgId;
    std::string_view brokerName;

    static Result<CheckTransactionStateRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

}  // namespace patchbay::protocol
