// MessageQueue: one queue of a topic on one broker, in bodies also as the key of maps.
#pragma once

#include "patchbay/protocol/json/Body.h"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::protocol {

/// Orders by topic, broker, queue, as in Java. A value type.
struct MessageQueue {
    std::string topic;
    std::string brokerName;
    std::int32_t queueId = 0;

    friend auto operator<=>(const MessageQueue&, const MessageQueue&) noexcept = default;
    friend bool operator==(const MessageQueue&, const MessageQueue&) noexcept = default;

    void write(json::Writer& out) const;
    static Result<MessageQueue> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<MessageQueue> fromJson(std::string_view text) { return json::decode<MessageQueue>(text); }
};

}  // namespace patchbay::protocol
