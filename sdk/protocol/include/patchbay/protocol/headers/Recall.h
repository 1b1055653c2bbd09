// Headers of calling a timed message back (370).
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"

#include <string_view>

namespace patchbay::protocol {

// The rules of parse() and write() are in SendMessage.h.

/// 370. The handle is what the answer to the send of the message said; see RecallHandle.h.
struct RecallMessageRequest {
    std::string_view producerGroup;
    std::string_view topic;
    std::string_view recallHandle;

    static Result<RecallMessageRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// msgId is the unique key of the message that was called back.
struct RecallMessageResponse {
    std::string_view msgId;

    static Result<RecallMessageResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

}  // namespace patchbay::protocol
