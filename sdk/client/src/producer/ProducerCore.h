// ProducerCore: what all sends of one producer share.
#pragma once

#include "instance/ClientInstance.h"
#include "message/Outgoing.h"
#include "patchbay/client/Producer.h"
#include "producer/FaultTable.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>

namespace patchbay::client {

/// Told of every message that a broker has taken, on the loop.
class SendObserver {
public:
    virtual ~SendObserver() = default;
    virtual void sent(const Outgoing& message, const SendReceipt& receipt, std::string_view region, std::string_view address,
                      std::int64_t startedMs, std::chrono::milliseconds took) = 0;
    /// The producer closes: what is kept goes out now.
    virtual void flush() = 0;
};

/// Counted, because sends may outlive the producer's handle. Functions: any thread unless said otherwise.
class ProducerCore : public std::enable_shared_from_this<ProducerCore> {
public:
    /// Called once, on the loop, or on the caller's thread when nothing was sent.
    using Done = std::function<void(Result<SendReceipt>)>;
    struct Target {
        std::string orderKey;
        std::optional<MessageQueue> queue;
        QueueSelector selector;
    };

    ProducerCore(ClientInstance::Pointer instance, const ProducerOptions& options);
    /// `firstTurn`: which queue is first, modulo their number, and so on; for tests.
    ProducerCore(ClientInstance::Pointer instance, const ProducerOptions& options, std::uint64_t firstTurn);

    /// Sends, and again if need be, until `deadline`. Waits while too much is under way.
    void send(Outgoing message, Target target, MonotonicTime deadline, Done done);
    /// The same in two parts, for what is prepared in between: a place for one message under way, which sendEntered() or finished() gives back.
    [[nodiscard]] Status enter(MonotonicTime deadline) { return enter(inFlight_, deadline); }
    void sendEntered(Outgoing message, Target target, MonotonicTime deadline, Done done);
    /// Waits as well: a message is under way until the socket has taken it.
    Status sendOneway(Outgoing message, Target target, MonotonicTime deadline);

    [[nodiscard]] ClientInstance& instance() noexcept { return *instance_; }
    [[nodiscard]] const ClientInstance::Pointer& shared() const noexcept { return instance_; }
    [[nodiscard]] const ProducerOptions& options() const noexcept { return options_; }
    [[nodiscard]] const Outfitter& outfitter() const noexcept { return outfitter_; }
    [[nodiscard]] const std::string& group() const noexcept { return group_; }  ///< with its namespace
    [[nodiscard]] FaultTable& faults() noexcept { return faults_; }
    [[nodiscard]] MonotonicTime deadlineIn(std::chrono::milliseconds timeout) const { return instance_->runtime().clock().now() + timeout; }
    [[nodiscard]] MonotonicTime deadlineOf(const SendOptions& options) const { return deadlineIn(options.timeout.value_or(options_.sendTimeout)); }
    void observe(std::shared_ptr<SendObserver> observer) { observer_ = std::move(observer); }  ///< before the first send
    [[nodiscard]] SendObserver* observer() const noexcept { return observer_.get(); }

    /// For jobs: the queue of the next attempt; `avoid`: the broker that failed. Unavailable when the topic has none to write to.
    [[nodiscard]] Result<MessageQueue> choose(const Route& route, const Target& target, std::string_view avoid);
    [[nodiscard]] Result<Frame> frameFor(const Outgoing& message, const MessageQueue& queue, bool oneway = false);
    void finished() noexcept { inFlight_.release(); }

    /// No more sends; waits for those under way, but not for one-way ones. Not on the loop.
    void close();
    [[nodiscard]] bool isClosed() const noexcept { return closed_.load(std::memory_order_acquire); }
    /// Loop thread: asks brokers that failed whether they are back.
    void probe();

private:
    using Places = std::counting_semaphore<>;
    [[nodiscard]] Status enter(Places& places, MonotonicTime deadline);
    [[nodiscard]] std::optional<MessageQueue> roundRobin(const Route& route, std::string_view avoid, bool onlyGood);

    const ClientInstance::Pointer instance_;
    const ProducerOptions options_;
    const std::string group_;
    Outfitter outfitter_;
    FaultTable faults_;
    std::shared_ptr<SendObserver> observer_;
    std::atomic<std::uint64_t> next_;
    Places inFlight_;
    const std::shared_ptr<Places> onewayInFlight_;  // held by what waits in channels
    std::atomic<bool> closed_{false};
};

}  // namespace patchbay::client
