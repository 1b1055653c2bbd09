// ConcurrentWork: a listener that runs on many threads, in no order.
#pragma once

#include "consumer/ConsumerCore.h"
#include "consumer/ListenerPool.h"
#include "consumer/SendBack.h"
#include "patchbay/client/PushConsumer.h"

#include <memory>

namespace patchbay::client {

/// Loop thread, made by makeOnLoop(); the listener runs in the pool. Messages leave the inbox when they were consumed or handed back.
class ConcurrentWork final : public MessageSink, public std::enable_shared_from_this<ConcurrentWork> {
public:
    ConcurrentWork(std::shared_ptr<ConsumerCore> core, std::shared_ptr<ListenerPool> pool, Listener listener);

    void arrived(const QueuePtr& queue) override;
    void dropped(const QueuePtr&, std::function<void()> done) override { done(); }
    bool serverRequest(Channel& channel, const protocol::RemotingCommand& request, protocol::SerializeType type) override;
    void describe(std::map<std::string, std::string>& properties) const override;
    [[nodiscard]] std::size_t pending() const noexcept { return sendBack_.pending(); }

private:
    using Batch = std::vector<ReceivedMessage>;
    void finished(const QueuePtr& queue, const Batch& batch, ConsumeResult result, const ConsumeContext& context);
    void failed(const QueuePtr& queue, const ReceivedMessage& message, int delayLevel);
    void settled(const QueuePtr& queue);
    void expire();
    [[nodiscard]] int maxTimes() const noexcept;
    /// In the pool.
    [[nodiscard]] ConsumeResult call(std::span<const ReceivedMessage> batch, ConsumeContext& context, std::string& thrown) const;

    const std::shared_ptr<ConsumerCore> core_;
    const std::shared_ptr<ListenerPool> pool_;
    const Listener listener_;
    SendBack sendBack_;
    LoopTimer expiry_;
};

}  // namespace patchbay::client
