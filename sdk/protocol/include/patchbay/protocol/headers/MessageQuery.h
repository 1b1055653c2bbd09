// Headers of looking messages up (12, 33).
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"

#include <cstdint>
#include <string_view>

namespace patchbay::protocol {

// The rules of parse() and write() are in SendMessage.h.

/// 12. Times are ms since the epoch.
struct QueryMessageRequest {
    std::string_view topic;
    std::string_view key;
    std::int32_t maxNum = 0;
    std::int64_t beginTimestamp = 0;
    std::int64_t endTimestamp = 0;
    bool uniqueKey = false;  ///< _UNIQUE_KEY_QUERY: `key` is a client's message id

    static Result<QueryMessageRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// Of 12.
struct QueryMessageResponse {
    std::int64_t indexLastUpdateTimestamp = 0;
    std::int64_t indexLastUpdatePhyoffset = 0;

    static Result<QueryMessageResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 33.
struct ViewMessageRequest {
    std::string_view topic;
    std::int64_t offset = 0;  ///< in the commit log

    static Result<ViewMessageRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

}  // namespace patchbay::protocol
