// Producer: sends messages.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/client/ClientOptions.h"
#include "patchbay/client/Message.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// How large bodies are packed. Consumers older than RocketMQ 5 understand Zlib only.
enum class Compression : std::uint8_t { None, Zlib, Lz4, Zstd };

/// A value type; the defaults are those of RocketMQ's Java client.
struct ProducerOptions {
    ClientOptions client{};
    std::string group{};                             ///< name of the application's part that sends; required
    std::chrono::milliseconds sendTimeout{3000};     ///< over all attempts of one message, from 1 ms
    int retries = 2;                                 ///< further attempts after the first, 0 to 100; another broker is preferred
    bool retryWhenNotStored = false;                 ///< also when the broker has the message but not yet on disk or on a slave
    Compression compression = Compression::Zlib;
    int compressionLevel = 5;                        ///< as the codec takes it
    std::size_t compressFrom = 4096;                 ///< bodies of at least that many bytes are packed
    std::size_t messageBytesMax = 4U << 20;          ///< of a body; brokers refuse more than 4 MB unless told otherwise
    std::int32_t queuesOfNewTopics = 4;              ///< for topics that the broker creates with their first message
    std::size_t inFlightMax = 10'000;                ///< messages without an answer yet, and as many one-way ones that the socket has not taken; a further send waits, within its time-out
    /// Above 0: send() and sendAsync() wait so long for more messages to the same topic and the same order key or queue, and send them together, which
    /// costs both sides less; each has its own receipt. 1 ms to 1 s, at most half of sendTimeout. Not gathered: messages with a delay, a selector or a
    /// time-out of their own, those to retry topics, and large ones.
    std::chrono::milliseconds gatherTime{0};
    std::size_t gatherBytes = 32U << 10;             ///< a batch of so many bytes does not wait any longer
    bool avoidSlowBrokers = false;                   ///< a broker that was slow or failed is left out for a while (latency fault table)
    bool probeSlowBrokers = false;                   ///< and asked in the background whether it answers again
    bool trace = false;                              ///< records of each message go to traceTopic
    std::string traceTopic = "RMQ_SYS_TRACE_TOPIC";
};

/// All four mean that the broker has the message. The last three: it has not been flushed to disk, or copied to a slave, in the time
/// that the broker waits for it; a crash of the machine just now could lose it.
enum class SendStatus : std::uint8_t { Ok, FlushDiskTimeout, FlushSlaveTimeout, SlaveNotAvailable };

struct SendReceipt {
    SendStatus status = SendStatus::Ok;
    std::string messageId{};        ///< the producer's id; ids of a batch joined with commas
    std::string offsetMessageId{};  ///< the broker's id
    MessageQueue queue{};
    std::int64_t queueOffset = 0;   ///< of the first message of a batch
    std::string transactionId{};
    std::string recallHandle{};     ///< of a message with a delay or a time: see recall()
};

/// Chooses one of the topic's queues, by its index: called on the sending thread, or on the client's thread when the route had to be
/// asked for first; must be quick and must not call the client. When it throws, nothing is sent: InvalidArgument.
using QueueSelector = std::function<std::size_t(std::span<const MessageQueue> queues)>;

/// Where one message goes, and how long it may take. At most one of the first three.
struct SendOptions {
    /// Messages with the same key go to the same queue, as long as the number of queues stays, in the order of sending; but one that is tried again comes
    /// behind those that were sent before its first attempt had ended. Who cannot have that waits for each receipt, or sets retries to 0.
    std::string orderKey{};
    std::optional<MessageQueue> queue{};
    QueueSelector selector{};
    std::optional<std::chrono::milliseconds> timeout{};  ///< instead of ProducerOptions::sendTimeout
};

using SendCallback = std::function<void(const Result<SendReceipt>&)>;

/// A move-only handle, safe from several threads. Errors of sending: InvalidArgument (the message breaks a rule, nothing was sent), NotFound (no
/// such topic and none may be created), Busy (over a limit, try later), DeadlineExceeded (it may have been stored), Unavailable (no broker
/// could be reached), Denied. A message that failed may be sent again: consumers have to be able to take a message twice anyway.
/// The destructor closes: it waits for messages under way, at most their time-out, and for their callbacks, unless it is called by one.
class Producer {
public:
    /// InvalidArgument for options that cannot be. Connects with the first message.
    [[nodiscard]] static Result<Producer> create(ProducerOptions options);
    Producer(Producer&&) noexcept;
    Producer& operator=(Producer&&) noexcept;
    ~Producer();

    /// Sends and waits. From any thread, also from callbacks.
    Result<SendReceipt> send(const Message& message, const SendOptions& options = {});
    /// Several messages of one topic as one request: all or none are stored, in one queue, in order. No delays.
    Result<SendReceipt> send(std::span<const Message> batch, const SendOptions& options = {});

    /// Returns when the message was handed over; waits only while inFlightMax messages are under way. `done` runs once, also for errors, on
    /// the client's callback thread, which all clients of the process share: it must not take long. What it throws is logged.
    void sendAsync(Message message, SendCallback done, const SendOptions& options = {});
    [[nodiscard]] std::future<Result<SendReceipt>> sendAsync(Message message, const SendOptions& options = {});

    /// Without an answer: for what may get lost. Ok means handed over, no more. Not retried. Waits only while the socket has not taken
    /// inFlightMax of them; Busy when it does not in time.
    Status sendOneway(const Message& message, const SendOptions& options = {});

    /// Sends and waits for the reply of a consumer (see reply()). The time is that of the whole exchange.
    Result<ReceivedMessage> request(const Message& message, std::chrono::milliseconds timeout, const SendOptions& options = {});
    /// `done` runs as with sendAsync().
    void requestAsync(Message message, std::chrono::milliseconds timeout, std::function<void(const Result<ReceivedMessage>&)> done,
                      const SendOptions& options = {});
    /// In a consumer's listener: answers a message that was sent by request(). InvalidArgument when it was not.
    Result<SendReceipt> reply(const ReceivedMessage& request, std::string body);

    /// Takes a delayed message back, by the handle of its receipt, as long as it has not been delivered; the message's id. Denied
    /// when the broker does not allow recalls.
    Result<std::string> recall(std::string_view topic, std::string_view recallHandle);

    /// The queues that messages to the topic go to.
    Result<std::vector<MessageQueue>> queues(std::string_view topic);
    [[nodiscard]] const std::string& clientId() const noexcept;
    /// As the destructor. Later sends fail with Unavailable. A second call does nothing.
    void close();

private:
    friend class TransactionProducer;
    class Impl;
    explicit Producer(std::shared_ptr<Impl> impl) noexcept;
    std::shared_ptr<Impl> impl_;
};

}  // namespace patchbay::client
