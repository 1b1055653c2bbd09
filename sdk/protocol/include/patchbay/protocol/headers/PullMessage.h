// Headers of pulling (11, 361).
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::protocol {

// The rules of parse() and write() are in SendMessage.h.

/// Times are milliseconds.
struct PullMessageRequest {
    std::string_view consumerGroup;
    std::string_view topic;
    std::int32_t queueId = 0;
    std::int64_t queueOffset = 0;
    std::int32_t maxMsgNums = 0;
    std::int32_t sysFlag = 0;  ///< 1 commit, 2 suspend, 4 subscription given, 8 class filter, 16 lite
    std::int64_t commitOffset = 0;
    std::int64_t suspendTimeoutMillis = 0;
    std::string_view subscription;
    std::int64_t subVersion = 0;
    std::string_view expressionType;  ///< absent means TAG
    std::optional<std::int32_t> maxMsgBytes;
    std::optional<std::int32_t> requestSource;
    std::string_view proxyForwardClientId;

    static Status parse(const CommandView& command, PullMessageRequest& out);
    void write(FieldList& fields) const;
};

/// Of 11 and 361.
struct PullMessageResponse {
    std::int64_t suggestWhichBrokerId = 0;
    std::int64_t nextBeginOffset = 0;
    std::int64_t minOffset = 0;
    std::int64_t maxOffset = 0;
    std::optional<std::int64_t> offsetDelta;
    std::optional<std::int32_t> topicSysFlag;
    std::optional<std::int32_t> groupSysFlag;
    std::optional<std::int32_t> forbiddenType;

    static Result<PullMessageResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

}  // namespace patchbay::protocol
