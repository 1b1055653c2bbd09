// Gatherer: makes batches of messages that are sent one by one.
#pragma once

#include "producer/ProducerCore.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::client {

/// Keeps one batch open for each topic and place that it goes to. A batch leaves when it is full, when ProducerOptions::gatherTime has passed since its
/// first message, or with flush(); it counts as one message under way from its first message on. Owned by a producer and by the timers of its batches.
/// Any thread.
class Gatherer : public std::enable_shared_from_this<Gatherer> {
public:
    explicit Gatherer(std::shared_ptr<ProducerCore> core) : core_(std::move(core)) {}

    /// Whether a message may share a request with others: not with a delay, a selector or a time-out of its own, or a body that is packed or fills a batch
    /// by itself, or to a retry topic.
    [[nodiscard]] bool takes(const Message& message, const SendOptions& options) const;
    /// Waits like ProducerCore::send(). `done` as there; a message that breaks a rule does not spoil the batch.
    void send(Message message, ProducerCore::Target target, MonotonicTime deadline, ProducerCore::Done done);
    /// What does not come through here must not overtake what was gathered for the same place.
    void flush(const std::string& topic, const ProducerCore::Target& target);
    void flush();

private:
    struct Key {
        std::string topic;
        std::string orderKey;
        std::optional<MessageQueue> queue;
        bool waitForStore = true;
        auto operator<=>(const Key&) const = default;
    };
    struct Batch {
        std::uint64_t number = 0;
        std::optional<Message> only;   ///< while there is one, as it may go out as what it is
        Outgoing out;
        std::vector<ProducerCore::Done> done;
        MonotonicTime deadline;        ///< the earliest of its messages'
        [[nodiscard]] std::size_t bytes() const noexcept { return only ? only->body.size() : out.body.size(); }
    };
    using Batches = std::map<Key, Batch>;
    [[nodiscard]] static Key keyOf(const Message& message, const ProducerCore::Target& target) { return {message.topic, target.orderKey, target.queue, message.waitForStore}; }
    void add(Batches::iterator at, Message message, ProducerCore::Done done);
    void openUntilTime(const Key& key, std::uint64_t number);
    void send(Batches::iterator at);
    void sendIfOpen(const Key& key);
    static ProducerCore::Done forAll(std::vector<ProducerCore::Done> done);

    const std::shared_ptr<ProducerCore> core_;
    std::mutex mutex_;
    Batches open_;
    std::uint64_t numbers_ = 0;
};

}  // namespace patchbay::client
