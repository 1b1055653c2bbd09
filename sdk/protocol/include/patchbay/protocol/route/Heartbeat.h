// HeartbeatData: what a client tells a broker about its producers and consumers (body of 34).
#pragma once

#include "patchbay/protocol/route/SubscriptionData.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

// The values are the ordinals of Java's enums, which some clients send instead of the names.
enum class ConsumeType : std::uint8_t { Actively, Passively, Pop };
enum class MessageModel : std::uint8_t { Broadcasting, Clustering };
enum class ConsumeFromWhere : std::uint8_t {
    LastOffset,
    LastOffsetAndFromMinWhenBootFirst,
    MinOffset,
    MaxOffset,
    FirstOffset,
    Timestamp,
};

/// Names as on the wire, e.g. "CONSUME_PASSIVELY".
[[nodiscard]] std::string_view toString(ConsumeType value) noexcept;
[[nodiscard]] std::string_view toString(MessageModel value) noexcept;
[[nodiscard]] std::string_view toString(ConsumeFromWhere value) noexcept;

/// Unknown enumerators become absent, as in Java.
struct ConsumerData {
    std::string groupName;
    std::optional<ConsumeType> consumeType;
    std::optional<MessageModel> messageModel;
    std::optional<ConsumeFromWhere> consumeFromWhere;
    std::vector<SubscriptionData> subscriptionDataSet;
    bool unitMode = false;
    friend bool operator==(const ConsumerData&, const ConsumerData&) = default;
    void write(json::Writer& out) const;
    static Result<ConsumerData> read(json::Value value);
};

struct HeartbeatData {
    std::string clientId;
    std::vector<std::string> producerGroups;  ///< producerDataSet[].groupName
    std::vector<ConsumerData> consumerDataSet;
    std::int32_t heartbeatFingerprint = 0;  ///< 0: a classic heartbeat; otherwise one of the second version
    bool withoutSub = false;                ///< second version: subscriptions are left out, the known ones stay

    friend bool operator==(const HeartbeatData&, const HeartbeatData&) = default;

    void write(json::Writer& out) const;
    static Result<HeartbeatData> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<HeartbeatData> fromJson(std::string_view text) { return json::decode<HeartbeatData>(text); }
};

}  // namespace patchbay::protocol
