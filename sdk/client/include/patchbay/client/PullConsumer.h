// PullConsumer: messages when the application asks for them.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/client/ConsumerOptions.h"
#include "patchbay/client/Message.h"

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

struct PullOptions {
    ConsumerOptions consumer{};
    std::size_t pollMax = 32;  ///< messages of one poll(), from 1
    /// What poll() has handed out counts as consumed with the next poll(), and is told to the broker every offsetInterval. Otherwise commit() does both.
    bool autoCommit = true;
};

/// Fetches ahead in the background, hands out in poll(). Either the group's queues are divided among its consumers (subscribe()), or the application says
/// which it wants (assign()). A move-only handle; poll(), commit() and seek() belong to one thread at a time, the rest to any.
/// The destructor closes; with autoCommit the last poll's messages do not count as consumed.
class PullConsumer {
public:
    /// InvalidArgument for options that cannot be. Nothing is fetched before the first subscribe() or assign().
    [[nodiscard]] static Result<PullConsumer> create(PullOptions options);
    PullConsumer(PullConsumer&&) noexcept;
    PullConsumer& operator=(PullConsumer&&) noexcept;
    ~PullConsumer();

    /// InvalidArgument after assign(), or for a filter that cannot be. Takes effect within the rebalance that it starts.
    [[nodiscard]] Status subscribe(std::string_view topic, const Filter& filter = {});
    void unsubscribe(std::string_view topic);
    /// Instead of what was assigned before. InvalidArgument after subscribe(); NotFound when the topic of a queue does not exist.
    [[nodiscard]] Status assign(const std::vector<MessageQueue>& queues);

    /// Waits up to `timeout` for the first message. Empty when none came. Messages of one queue are in order.
    [[nodiscard]] Result<std::vector<ReceivedMessage>> poll(std::chrono::milliseconds timeout);
    /// All that poll() has handed out is consumed; told to the brokers before it returns. An error says why one of them was not told: another
    /// commit() tells it again, and so does the client every offsetInterval.
    Status commit();

    /// The next poll() of that queue begins there; an offset that the queue does not have is moved to its nearest by the broker. NotFound when
    /// the queue is not this consumer's.
    Status seek(const MessageQueue& queue, std::int64_t offset);
    void pause(std::span<const MessageQueue> queues);
    void resume(std::span<const MessageQueue> queues);

    /// All queues of a topic, whoever has them.
    [[nodiscard]] Result<std::vector<MessageQueue>> queuesOf(std::string_view topic);
    /// Those that are this consumer's now.
    [[nodiscard]] std::vector<MessageQueue> assignment() const;
    /// What the brokers know; -1 when the group has no progress there.
    [[nodiscard]] Result<std::int64_t> committed(const MessageQueue& queue);
    [[nodiscard]] const std::string& clientId() const noexcept;
    void close();

private:
    class Impl;
    explicit PullConsumer(std::shared_ptr<Impl> impl) noexcept;
    std::shared_ptr<Impl> impl_;
};

}  // namespace patchbay::client
