// ConcurrentWork: a listener that runs on many threads, in no order.
#pragma once

#include "consumer/CallQueue.h"
#include "consumer/ConsumerCore.h"
#include "consumer/ListenerPool.h"
#include "consumer/SendBack.h"
#include "patchbay/client/PushConsumer.h"

#include <chrono>
#include <cstddef>
#include <memory>

namespace patchbay::client {

/// Loop thread, made by makeOnLoop(); the listener runs in the pool. Messages leave the inbox when they were consumed or handed back.
/// A task of the pool makes one call after another, and what came of them is taken in together: handing each message over and back by itself
/// costs two changes of threads, which is more than all the rest.
class ConcurrentWork final : public MessageSink, public std::enable_shared_from_this<ConcurrentWork> {
public:
    ConcurrentWork(std::shared_ptr<ConsumerCore> core, std::shared_ptr<ListenerPool> pool, Listener listener);

    void arrived(const QueuePtr& queue) override;
    void dropped(const QueuePtr&, std::function<void()> done) override { done(); }
    void takeIn() override;
    bool serverRequest(Channel& channel, const protocol::RemotingCommand& request, protocol::SerializeType type) override;
    void describe(std::map<std::string, std::string>& properties) const override;
    [[nodiscard]] std::size_t pending() const noexcept { return sendBack_.pending(); }

private:
    void finished(const CallQueue::Outcome& outcome);
    void failed(const QueuePtr& queue, const ReceivedMessage& message, int delayLevel);
    void settled(const QueuePtr& queue);
    void expire();
    [[nodiscard]] int maxTimes() const noexcept;
    void startHelpers(std::size_t count);
    void lookAgain();
    void lookAgainIn(std::chrono::milliseconds delay);
    // In the pool.
    void help();
    [[nodiscard]] CallQueue::Outcome make(const CallQueue::Call& call) const;
    [[nodiscard]] ConsumeResult call(std::span<const ReceivedMessage> batch, ConsumeContext& context, std::string& thrown) const;

    const std::shared_ptr<ConsumerCore> core_;
    const std::shared_ptr<ListenerPool> pool_;
    const Listener listener_;
    CallQueue calls_;
    SendBack sendBack_;
    LoopTimer expiry_;
    LoopTimer lookAgain_;
    std::chrono::milliseconds pause_{0};
};

}  // namespace patchbay::client
