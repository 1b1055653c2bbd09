// PushConsumer: calls a listener for each message.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/client/ConsumerOptions.h"
#include "patchbay/client/Message.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

enum class ConsumeResult : std::uint8_t {
    Success,
    Later,  ///< all messages of the call come again after a while; after maxReconsumeTimes they go to the dead letters, %DLQ%group
};

/// What a concurrent listener may say beside its result.
struct ConsumeContext {
    MessageQueue queue{};
    /// Of Later: after how long they come again, as a delay level; 0: the broker decides, longer each time; -1: to the dead letters now.
    int delayLevel = 0;
    /// Of Success: how many messages from the front succeeded; the rest is treated as Later.
    std::size_t succeeded = SIZE_MAX;
};

enum class OrderlyResult : std::uint8_t {
    Success,
    Suspend,  ///< the same messages again after a pause; the queue waits meanwhile
};

struct OrderlyContext {
    MessageQueue queue{};
    std::chrono::milliseconds suspendTime{0};  ///< of Suspend; set to ConsumerOptions::suspendTime before the call
};

/// Runs on the consumer's own threads, several at once. An exception that leaves it counts as Later. It may take as long as consumeTimeout.
using Listener = std::function<ConsumeResult(std::span<const ReceivedMessage>, ConsumeContext&)>;
/// The same, but for each queue one call at a time, in the order of the queue; other consumers of the group are kept off the queue by a lock at
/// the broker. An exception counts as Suspend.
using OrderlyListener = std::function<OrderlyResult(std::span<const ReceivedMessage>, OrderlyContext&)>;

/// A move-only handle, safe from several threads. Messages come at least once: after a failure, or when queues move between consumers, the
/// same message may come twice.
/// The destructor closes: messages in work are finished, progress is told to the broker, the group is left. It may be called inside a listener;
/// then that one call is not waited for, and its messages come again.
class PushConsumer {
public:
    /// InvalidArgument for options that cannot be.
    [[nodiscard]] static Result<PushConsumer> create(ConsumerOptions options);
    PushConsumer(PushConsumer&&) noexcept;
    PushConsumer& operator=(PushConsumer&&) noexcept;
    ~PushConsumer();

    /// Before or after the start. InvalidArgument for an expression of tags that cannot be; SQL is judged by the broker (at the start, or here when
    /// started). A second call for a topic replaces its filter.
    [[nodiscard]] Status subscribe(std::string_view topic, const Filter& filter = {});
    void unsubscribe(std::string_view topic);

    /// Starts, once; one of both. Returns when brokers know of the consumer or requestTimeout has passed; a topic that does not exist yet is
    /// taken up when it does. InvalidArgument when a broker refuses a filter.
    [[nodiscard]] Status consume(Listener listener);
    [[nodiscard]] Status consumeOrderly(OrderlyListener listener);

    /// No new messages are taken from the broker, what is here already is still consumed.
    void suspend();
    void resume();

    /// The queues that are this consumer's now, with the offset up to which messages have been consumed (-1: none yet).
    [[nodiscard]] std::map<MessageQueue, std::int64_t> progress() const;
    [[nodiscard]] const std::string& clientId() const noexcept;
    /// As the destructor. A second call does nothing.
    void close();

private:
    class Impl;
    explicit PushConsumer(std::shared_ptr<Impl> impl) noexcept;
    std::shared_ptr<Impl> impl_;
};

}  // namespace patchbay::client
