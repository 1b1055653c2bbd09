#include "consumer/OrderlyWork.h"

#include "consumer/ListenerCall.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace patchbay::client {

using namespace std::chrono_literals;
using protocol::RemotingCommand;

namespace {

constexpr auto kLockValid = 30s;

}  // namespace

OrderlyWork::OrderlyWork(std::shared_ptr<ConsumerCore> core, std::shared_ptr<ListenerPool> pool, OrderlyListener listener)
    : core_(std::move(core)), pool_(std::move(pool)), listener_(std::move(listener)), sendBack_(*core_) {}

bool OrderlyWork::mayConsume(const QueueConsumer& queue) const {
    if (queue.isDropped() || queue.working || queue.suspended) return false;
    return !core_->isOrderly() || (queue.locked && core_->loop().now() - queue.lockedAt < kLockValid);
}

void OrderlyWork::arrived(const QueuePtr& queue) {
    if (!mayConsume(*queue) || queue->inbox().waiting() == 0) return;
    auto batch = std::make_shared<Batch>(queue->inbox().take(core_->options().batchMax));
    queue->working = true;
    pool_->post([self = shared_from_this(), queue, batch] {
        OrderlyContext context{.queue = queue->queue(), .suspendTime = self->core_->options().suspendTime};
        std::string thrown;
        ConsumeTrace::Call traced(self->core_->trace(), *batch);
        const auto result = self->call(*batch, context, thrown);
        traced.ended(result == OrderlyResult::Success, !thrown.empty());
        if (!thrown.empty()) self->core_->instance().log().warn("a listener threw: " + thrown);
        self->core_->loop().post([self, queue, batch, result, context] { self->finished(queue, *batch, result, context); });
    });
}

OrderlyResult OrderlyWork::call(std::span<const ReceivedMessage> batch, OrderlyContext& context, std::string& thrown) const {
    return guarded([&] { return listener_(batch, context); }, OrderlyResult::Suspend, thrown);
}

// A queue that was dropped meanwhile is still locked for us, so this result counts before its next owner begins.
void OrderlyWork::finished(const QueuePtr& queue, const Batch& batch, OrderlyResult result, const OrderlyContext& context) {
    queue->working = false;
    queue->lastConsume = core_->loop().now();
    if (result == OrderlyResult::Success) {
        for (const auto& message : batch) queue->inbox().remove(message.queueOffset());
        if (!queue->isDropped() || queue->whenIdle) {
            if (const auto offset = queue->inbox().commitOffset()) core_->offsets().update(queue->queue(), *offset, false);
        }
    }
    if (queue->whenIdle) return std::exchange(queue->whenIdle, {})();
    if (queue->isDropped()) return;
    if (result == OrderlyResult::Suspend) return suspend(queue, batch, context.suspendTime);
    settled(queue);
}

void OrderlyWork::settled(const QueuePtr& queue) {
    queue->drained();
    arrived(queue);
}

void OrderlyWork::suspend(const QueuePtr& queue, const Batch& batch, std::chrono::milliseconds time) {
    queue->suspended = true;
    const auto limit = core_->options().maxReconsumeTimes;
    // Those that were tried often enough leave for the dead letters, and the queue goes on behind them.
    auto left = std::make_shared<std::size_t>(1);
    const auto resume = [self = shared_from_this(), queue, left, wait = std::clamp<std::chrono::milliseconds>(time, 10ms, 30s)] {
        if (--*left > 0) return;
        self->core_->loop().after(wait, [self, queue] {
            queue->suspended = false;
            if (queue->isDropped()) return;
            if (const auto offset = queue->inbox().commitOffset()) self->core_->offsets().update(queue->queue(), *offset, false);
            self->settled(queue);
        });
    };
    for (const auto& message : batch) {
        const auto offset = message.queueOffset();
        if (limit < 0 || message.reconsumeTimes() < limit || !core_->isClustering()) {
            tryAgain(queue, message);
            continue;
        }
        ++*left;
        sendBack_.resend(message, message.reconsumeTimes() + 1, limit, [self = shared_from_this(), queue, message, offset, resume](bool good) {
            if (good) queue->inbox().remove(offset);
            else self->tryAgain(queue, message);
            resume();
        });
    }
    resume();
}

void OrderlyWork::tryAgain(const QueuePtr& queue, const ReceivedMessage& message) {
    auto data = copyOf(message);
    ++data->reconsumeTimes;
    queue->inbox().remove(message.queueOffset());
    queue->inbox().add({ReceivedMessage(std::move(data))});
}

void OrderlyWork::dropped(const QueuePtr& queue, std::function<void()> done) {
    if (queue->working) queue->whenIdle = std::move(done);
    else done();
}

bool OrderlyWork::serverRequest(Channel& channel, const RemotingCommand& request, protocol::SerializeType type) {
    return consumeDirectly(core_, *pool_, channel, request, type, true, [self = shared_from_this()](auto batch) {
        OrderlyContext context{.queue = batch.front().queue(), .suspendTime = self->core_->options().suspendTime};
        DirectOutcome outcome;
        outcome.success = self->call(batch, context, outcome.thrown) == OrderlyResult::Success;
        return outcome;
    });
}

void OrderlyWork::describe(std::map<std::string, std::string>& properties) const {
    properties["PROP_THREADPOOL_CORE_SIZE"] = std::to_string(pool_->threads());
    properties["maxReconsumeTimes"] = std::to_string(core_->options().maxReconsumeTimes);
}

}  // namespace patchbay::client
