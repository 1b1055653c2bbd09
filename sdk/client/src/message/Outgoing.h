// Outgoing: a message as it goes over the wire, whatever attempt it is.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/client/Producer.h"
#include "patchbay/protocol/RequestCode.h"
#include "patchbay/protocol/message/MessageId.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

struct Outgoing {
    protocol::RequestCode code = protocol::RequestCode::SendMessageV2;
    std::string topic;  ///< with its namespace
    std::string body;   ///< packed, or a batch
    std::string properties;
    std::string id;     ///< ids of a batch joined with commas
    std::string keys;
    std::string tags;
    std::size_t plainBytes = 0;
    std::int64_t bornMs = 0;
    std::int32_t sysFlag = 0;
    std::int32_t flag = 0;
    std::int32_t reconsumeTimes = 0;
    std::optional<std::int32_t> maxReconsumeTimes;
    bool batch = false;
    bool gathered = false;  ///< a batch of the client's own making, which the application knows as single messages
    bool delayed = false;
};

/// Checks messages and makes them ready. Any thread; owned by a producer.
class Outfitter {
public:
    Outfitter(const ProducerOptions& options, protocol::UniqueIdGenerator& ids, const Clock& clock) noexcept
        : options_(options), ids_(ids), clock_(clock) {}

    /// `more`: properties of the client's own, as appendProperty writes them. InvalidArgument says which rule the message breaks.
    [[nodiscard]] Result<Outgoing> one(Message message, std::string_view more = {}) const;
    [[nodiscard]] Result<Outgoing> batch(std::span<const Message> messages) const;
    /// One more of a batch: what emptyBatch() made, or the messages before have begun. When it is refused, the batch is as it was.
    [[nodiscard]] Status append(const Message& message, Outgoing& batch) const;
    [[nodiscard]] Outgoing emptyBatch(const Message& first) const;

private:
    [[nodiscard]] Status check(const Message& message) const;
    [[nodiscard]] std::string propertiesOf(const Message& message, std::string_view id, std::string_view more) const;
    [[nodiscard]] Status pack(Outgoing& out) const;

    const ProducerOptions& options_;
    protocol::UniqueIdGenerator& ids_;
    const Clock& clock_;
};

/// The ids of a batch; empty words when there are not as many as messages.
[[nodiscard]] std::vector<std::string> splitIds(std::string_view joined, std::size_t count);

/// Whether the protocol or the client uses that name itself.
[[nodiscard]] bool isReservedProperty(std::string_view name) noexcept;

}  // namespace patchbay::client
