// Headers by which operators set offsets of consumer groups and ask their members (220–223, 307–309, 314, 353).
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::protocol {

// The rules of parse() and write() are in SendMessage.h.

/// 222, and 220 to clients. timestamp: ms, below zero the end of the queue. queueId: absent or -1 for all.
struct ResetOffsetRequest {
    std::string_view group;
    std::string_view topic;
    std::int64_t timestamp = 0;
    bool isForce = false;
    std::optional<std::int32_t> queueId;
    std::optional<std::int64_t> offset;   ///< absent or -1: by time

    static Result<ResetOffsetRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 223, and 221 to clients. clientAddr: a client id, empty for all members.
struct ConsumerStatusRequest {
    std::string_view group;
    std::string_view topic;
    std::string_view clientAddr;

    static Result<ConsumerStatusRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 307 and 309, which the broker hands on to a client. msgId: an offset message id, with 309 only.
struct ConsumerRelayRequest {
    std::string_view consumerGroup;
    std::string_view clientId;
    std::string_view msgId;
    std::string_view topic;

    static Result<ConsumerRelayRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 314. topic: empty for all of the group; offline: also those that an online group does not subscribe.
struct CloneGroupOffsetRequest {
    std::string_view srcGroup;
    std::string_view destGroup;
    std::string_view topic;
    bool offline = false;

    static Result<CloneGroupOffsetRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 308. filterGroups: names joined with ",".
struct CorrectionOffsetRequest {
    std::string_view filterGroups;
    std::string_view compareGroup;
    std::string_view topic;

    static Result<CorrectionOffsetRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 353. readable: absent to ask only.
struct GroupForbiddenRequest {
    std::string_view group;
    std::string_view topic;
    std::optional<bool> readable;

    static Result<GroupForbiddenRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

}  // namespace patchbay::protocol
