// TransactionProducer: messages that become visible only if a local transaction succeeds.
#pragma once

#include "patchbay/client/Producer.h"

#include <functional>
#include <memory>

namespace patchbay::client {

enum class TransactionState : std::uint8_t {
    Commit,
    Rollback,
    Unknown,  ///< the broker asks again later
};

/// What the application knows of its local transactions.
class TransactionListener {
public:
    virtual ~TransactionListener() = default;
    /// Runs the local transaction for a message that the broker keeps hidden. On the thread that sends. An exception counts as Unknown.
    virtual TransactionState execute(const Message& message, const SendReceipt& receipt) = 0;
    /// What became of it, when the broker was never told, perhaps by a process that does not exist any more: look it up where the local
    /// transaction left its trace. On the client's callback thread. An exception counts as Unknown.
    virtual TransactionState check(const ReceivedMessage& message) = 0;
};

struct TransactionReceipt {
    SendReceipt sent{};
    TransactionState state = TransactionState::Unknown;  ///< what the broker was told
};

/// A move-only handle, safe from several threads. The destructor closes like Producer's; questions of the broker are then answered by the
/// other producers of the group, so all of them have to be able to answer.
class TransactionProducer {
public:
    /// `listener` has to outlive the producer.
    [[nodiscard]] static Result<TransactionProducer> create(ProducerOptions options, TransactionListener& listener);
    TransactionProducer(TransactionProducer&&) noexcept;
    TransactionProducer& operator=(TransactionProducer&&) noexcept;
    ~TransactionProducer();

    /// Stores the message hidden, runs the local transaction, tells the broker how it ended. An error: the message was not stored, or nobody knows,
    /// and the local transaction was not run. Delays are not possible. When telling fails the broker asks later.
    Result<TransactionReceipt> send(const Message& message, const SendOptions& options = {});
    void close();

private:
    class Impl;
    explicit TransactionProducer(std::shared_ptr<Impl> impl) noexcept;
    std::shared_ptr<Impl> impl_;
};

}  // namespace patchbay::client
