// InnerBatch: a record that holds several messages, as RocketMQ stores batches for topics with batch consume queues.
#pragma once

#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/PropertyNames.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::mmapstore {

/// Messages that one record can hold: the unit of a batch queue counts them in 16 bits.
inline constexpr std::int32_t kInnerMessagesMax = INT16_MAX;

struct InnerBatch {
    std::int64_t base = 0;       ///< offset of its first message
    std::int32_t messages = 1;
};

/// What INNER_NUM says; nothing when it is not there or not a number of messages.
[[nodiscard]] inline std::optional<std::int32_t> innerMessagesOf(std::string_view properties) noexcept {
    const std::string_view text = protocol::findProperty(properties, protocol::kPropertyInnerNum);
    std::int32_t messages = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), messages);
    if (error != std::errc() || end != text.data() + text.size() || messages < 1 || messages > kInnerMessagesMax) return std::nullopt;
    return messages;
}

/// What the unit of a record has from its properties, whatever its flags say; nothing for a record with one message.
[[nodiscard]] inline std::optional<InnerBatch> innerBatchOf(std::string_view properties) noexcept {
    const std::string_view text = protocol::findProperty(properties, protocol::kPropertyInnerBase);
    if (text.empty()) return std::nullopt;
    const std::optional<std::int32_t> messages = innerMessagesOf(properties);
    std::int64_t base = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), base);
    if (!messages || error != std::errc() || end != text.data() + text.size() || base < 0) return std::nullopt;
    return InnerBatch{base, *messages};
}

}  // namespace patchbay::mmapstore
