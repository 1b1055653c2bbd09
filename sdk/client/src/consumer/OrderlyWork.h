// OrderlyWork: a listener that gets each queue's messages one call at a time.
#pragma once

#include "consumer/ConsumerCore.h"
#include "consumer/ListenerPool.h"
#include "consumer/SendBack.h"
#include "patchbay/client/PushConsumer.h"

#include <memory>

namespace patchbay::client {

/// Loop thread, made by makeOnLoop(); the listener runs in the pool. A queue whose lock has not been confirmed for 30 s is not consumed.
class OrderlyWork final : public MessageSink, public std::enable_shared_from_this<OrderlyWork> {
public:
    OrderlyWork(std::shared_ptr<ConsumerCore> core, std::shared_ptr<ListenerPool> pool, OrderlyListener listener);

    void arrived(const QueuePtr& queue) override;
    void dropped(const QueuePtr& queue, std::function<void()> done) override;
    bool serverRequest(Channel& channel, const protocol::RemotingCommand& request, protocol::SerializeType type) override;
    void describe(std::map<std::string, std::string>& properties) const override;
    [[nodiscard]] std::size_t pending() const noexcept { return sendBack_.pending(); }

private:
    using Batch = std::vector<ReceivedMessage>;
    [[nodiscard]] bool mayConsume(const QueueConsumer& queue) const;
    [[nodiscard]] OrderlyResult call(std::span<const ReceivedMessage> batch, OrderlyContext& context, std::string& thrown) const;
    void finished(const QueuePtr& queue, const Batch& batch, OrderlyResult result, const OrderlyContext& context);
    void suspend(const QueuePtr& queue, const Batch& batch, std::chrono::milliseconds time);
    void tryAgain(const QueuePtr& queue, const ReceivedMessage& message);
    void settled(const QueuePtr& queue);

    const std::shared_ptr<ConsumerCore> core_;
    const std::shared_ptr<ListenerPool> pool_;
    const OrderlyListener listener_;
    SendBack sendBack_;
};

}  // namespace patchbay::client
