// Message and ReceivedMessage: what is sent and what arrives.
#pragma once

#include "patchbay/base/SocketAddress.h"
#include "patchbay/protocol/route/MessageQueue.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// One queue of a topic on one broker.
using MessageQueue = protocol::MessageQueue;

/// What a producer sends. An aggregate: producer.send({.topic = "Orders", .body = "..."}). A value type.
struct Message {
    std::string topic{};
    std::string body{};               ///< any bytes, not empty; compressed by the producer when large
    std::string tags{};               ///< one tag, by which consumers choose
    std::vector<std::string> keys{};  ///< by which administrators find it; without blanks
    /// Names and values for SQL92 filters and the application; without bytes 1 and 2. Names that the protocol uses itself are refused.
    std::map<std::string, std::string, std::less<>> properties{};
    /// Delivery later: after a level (1 to 18: 1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h), after a time, or at a time.
    /// Give at most one of the three. Times need a broker with timer messages and are exact to a second.
    std::optional<int> delayLevel{};
    std::optional<std::chrono::milliseconds> delay{};
    std::optional<std::chrono::system_clock::time_point> deliverAt{};
    /// With flushDiskType=SYNC_FLUSH or a synchronous slave: whether the answer waits for them.
    bool waitForStore = true;
    std::int32_t flag = 0;  ///< the application's own number
};

/// What a consumer or an administrator is given. Copying shares the bytes, which are not changed any more; a message may be kept and used on
/// any thread. Views live as long as any copy.
class ReceivedMessage {
public:
    struct Data;
    explicit ReceivedMessage(std::shared_ptr<const Data> data) noexcept : data_(std::move(data)) {}

    [[nodiscard]] std::string_view topic() const noexcept;
    [[nodiscard]] std::string_view body() const noexcept;
    [[nodiscard]] std::string_view tags() const noexcept;
    /// Joined with blanks.
    [[nodiscard]] std::string_view keys() const noexcept;
    /// The producer's id of the message; the same for all copies and retries of it.
    [[nodiscard]] std::string_view id() const noexcept;
    /// The broker's id: where the record lies.
    [[nodiscard]] std::string offsetId() const;
    /// Empty when there is none; values are never empty.
    [[nodiscard]] std::string_view property(std::string_view name) const noexcept;
    /// All of them, the protocol's own as well.
    [[nodiscard]] std::map<std::string, std::string> properties() const;
    /// Those that the sender chose, so that they can be sent again: without the names that Message::properties refuses.
    [[nodiscard]] std::map<std::string, std::string, std::less<>> userProperties() const;

    [[nodiscard]] std::string_view brokerName() const noexcept;
    [[nodiscard]] std::int32_t queueId() const noexcept;
    [[nodiscard]] std::int64_t queueOffset() const noexcept;
    [[nodiscard]] MessageQueue queue() const;
    [[nodiscard]] std::int64_t commitLogOffset() const noexcept;
    /// How often it has been handed to a consumer of this group before, in vain.
    [[nodiscard]] std::int32_t reconsumeTimes() const noexcept;
    [[nodiscard]] std::int32_t flag() const noexcept;
    [[nodiscard]] std::int32_t sysFlag() const noexcept;
    [[nodiscard]] std::chrono::system_clock::time_point bornAt() const noexcept;
    [[nodiscard]] std::chrono::system_clock::time_point storedAt() const noexcept;
    [[nodiscard]] SocketAddress bornHost() const noexcept;
    [[nodiscard]] SocketAddress storeHost() const noexcept;

    /// For the library.
    [[nodiscard]] const Data& data() const noexcept { return *data_; }
    [[nodiscard]] const std::shared_ptr<const Data>& shared() const noexcept { return data_; }

private:
    std::shared_ptr<const Data> data_;
};

}  // namespace patchbay::client
