// PullWork: keeps messages until the application polls.
#pragma once

#include "consumer/ConsumerCore.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace patchbay::client {

/// Loop thread, made by makeOnLoop(), except wait() and wake().
class PullWork final : public MessageSink {
public:
    explicit PullWork(std::shared_ptr<ConsumerCore> core) : core_(std::move(core)) {}

    void arrived(const QueuePtr&) override { wake(); }
    void dropped(const QueuePtr&, std::function<void()> done) override { done(); }
    bool serverRequest(Channel&, const protocol::RemotingCommand&, protocol::SerializeType) override { return false; }
    void describe(std::map<std::string, std::string>&) const override {}

    /// Up to `count` messages, queues in turn.
    [[nodiscard]] std::vector<ReceivedMessage> take(std::size_t count);
    /// What was taken so far is consumed.
    void acknowledge();
    void forget(const MessageQueue& queue);

    /// Until wake() was called after the last wait(), or the time has passed.
    void wait(std::chrono::nanoseconds time);
    void wake();

private:
    const std::shared_ptr<ConsumerCore> core_;
    std::map<MessageQueue, std::vector<std::int64_t>> taken_;
    MessageQueue lastTaken_;
    std::mutex mutex_;
    std::condition_variable came_;
    bool woken_ = false;  // under the mutex
};

}  // namespace patchbay::client
