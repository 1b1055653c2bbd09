// Headers of sending (10, 310, 320, 324, 325) and of sending back (36).
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::protocol {

// Rules of all headers/: texts are views of the parsed command, or of whatever the writer put there, and live as long.
// A text that is absent has data() == nullptr. parse() fails with InvalidArgument and the name of the field when a
// required field is missing or a number is not one; it ignores fields that it does not know. write() leaves out what is
// absent.

/// Codes 310, 320 and 325 use one-letter keys, 10 and 324 long ones; parse() goes by the code.
/// producerGroup, defaultTopic and defaultTopicQueueNums may be absent although clients always send them, as from Java.
struct SendMessageRequest {
    std::string_view producerGroup;
    std::string_view topic;
    std::string_view defaultTopic;
    std::int32_t defaultTopicQueueNums = 0;
    std::int32_t queueId = 0;  ///< negative: the broker picks one
    std::int32_t sysFlag = 0;
    std::int64_t bornTimestamp = 0;  ///< ms since the epoch
    std::int32_t flag = 0;  ///< the sender's own
    std::string_view properties;
    std::int32_t reconsumeTimes = 0;
    bool unitMode = false;
    bool batch = false;  ///< this, not the code, says that the body is a batch
    std::optional<std::int32_t> maxReconsumeTimes;
    std::string_view brokerName;

    static Status parse(const CommandView& command, SendMessageRequest& out);
    /// With one-letter keys.
    void write(FieldList& fields) const;
    /// With long keys.
    void writeLong(FieldList& fields) const;
};

/// Of all send codes. msgId of a batch: all ids, joined with commas.
struct SendMessageResponse {
    std::string_view msgId;
    std::int32_t queueId = 0;
    std::int64_t queueOffset = 0;  ///< of the first message
    std::string_view transactionId;
    std::string_view batchUniqId;
    std::string_view recallHandle;
    std::string_view region;  ///< MSG_REGION
    std::optional<bool> traceOn;  ///< TRACE_ON

    static Result<SendMessageResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 36. delayLevel -1: to the dead letters; 0: the broker counts; above: that level.
struct ConsumerSendMsgBackRequest {
    std::int64_t offset = 0;  ///< in the commit log
    std::string_view group;
    std::int32_t delayLevel = 0;
    std::string_view originMsgId;
    std::string_view originTopic;
    bool unitMode = false;
    std::optional<std::int32_t> maxReconsumeTimes;

    static Result<ConsumerSendMsgBackRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

}  // namespace patchbay::protocol
