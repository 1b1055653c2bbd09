// Headers of offsets: a group's (14, 15) and a queue's (29, 30, 31, 32).
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::protocol {

// The rules of parse() and write() are in SendMessage.h.

/// 14.
struct QueryConsumerOffsetRequest {
    std::string_view consumerGroup;
    std::string_view topic;
    std::int32_t queueId = 0;
    std::optional<bool> setZeroIfNotFound;

    static Status parse(const CommandView& command, QueryConsumerOffsetRequest& out);
    void write(FieldList& fields) const;
};

/// 15. The broker answers absent numbers with a code of its own, after other checks.
struct UpdateConsumerOffsetRequest {
    std::string_view consumerGroup;
    std::string_view topic;
    std::optional<std::int32_t> queueId;
    std::optional<std::int64_t> commitOffset;

    static Status parse(const CommandView& command, UpdateConsumerOffsetRequest& out);
    void write(FieldList& fields) const;
};

/// 29.
struct SearchOffsetRequest {
    std::string_view topic;
    std::int32_t queueId = 0;
    std::int64_t timestamp = 0;  ///< ms since the epoch
    std::string_view boundaryType;

    /// Whether the last offset before `timestamp` is asked for; otherwise the first one from it on.
    [[nodiscard]] bool upper() const noexcept;

    static Result<SearchOffsetRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 30, 31, 32. Only 30 has `committed`, which brokers ignore.
struct QueueRequest {
    std::string_view topic;
    std::int32_t queueId = 0;
    std::optional<bool> committed;

    static Result<QueueRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// Of 14, 29, 30, 31.
struct OffsetResponse {
    std::int64_t offset = 0;

    static Result<OffsetResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// Of 32.
struct StoreTimeResponse {
    std::int64_t timestamp = -1;  ///< ms since the epoch; -1: none

    static Result<StoreTimeResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

}  // namespace patchbay::protocol
