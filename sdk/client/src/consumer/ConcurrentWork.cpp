#include "consumer/ConcurrentWork.h"

#include "consumer/ListenerCall.h"

#include <algorithm>
#include <utility>

namespace patchbay::client {

using namespace std::chrono_literals;
using protocol::RemotingCommand;

namespace {

constexpr auto kLocalRetry = 5000ms;
constexpr int kRetriesDefault = 16;
constexpr int kLevelOfOverdue = 3;
constexpr std::size_t kOverdueMax = 16;

}  // namespace

ConcurrentWork::ConcurrentWork(std::shared_ptr<ConsumerCore> core, std::shared_ptr<ListenerPool> pool, Listener listener)
    : core_(std::move(core)), pool_(std::move(pool)), listener_(std::move(listener)), sendBack_(*core_),
      expiry_(core_->loop()) {
    const auto period = std::chrono::milliseconds(core_->options().consumeTimeout);
    if (core_->isClustering()) expiry_.every(period, period, [this] { expire(); });
}

int ConcurrentWork::maxTimes() const noexcept { return core_->options().maxReconsumeTimes < 0 ? kRetriesDefault : core_->options().maxReconsumeTimes; }

ConsumeResult ConcurrentWork::call(std::span<const ReceivedMessage> batch, ConsumeContext& context, std::string& thrown) const {
    return guarded([&] { return listener_(batch, context); }, ConsumeResult::Later, thrown);
}

void ConcurrentWork::arrived(const QueuePtr& queue) {
    auto& inbox = queue->inbox();
    while (inbox.waiting() > 0) {
        auto batch = std::make_shared<Batch>(inbox.take(core_->options().batchMax, core_->loop().now()));
        pool_->post([self = shared_from_this(), queue, batch] {
            if (queue->isDropped()) return;
            ConsumeContext context{.queue = queue->queue()};
            std::string thrown;
            ConsumeTrace::Call traced(self->core_->trace(), *batch);
            const auto result = self->call(*batch, context, thrown);
            traced.ended(result == ConsumeResult::Success, !thrown.empty());
            if (!thrown.empty()) self->core_->instance().log().warn("a listener threw: " + thrown);
            self->core_->loop().post([self, queue, batch, result, context] { self->finished(queue, *batch, result, context); });
        });
    }
}

// The result for a queue that is another's now does not count: its new owner has got the messages, too.
void ConcurrentWork::finished(const QueuePtr& queue, const Batch& batch, ConsumeResult result, const ConsumeContext& context) {
    if (queue->isDropped()) return;
    queue->lastConsume = core_->loop().now();
    const auto good = result == ConsumeResult::Success ? std::min(context.succeeded, batch.size()) : 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (i < good) queue->inbox().remove(batch[i].queueOffset());
        else failed(queue, batch[i], context.delayLevel);
    }
    settled(queue);
}

void ConcurrentWork::failed(const QueuePtr& queue, const ReceivedMessage& message, int delayLevel) {
    const auto offset = message.queueOffset();
    if (!core_->isClustering()) {
        core_->instance().log().warn("a broadcast message was not consumed and is given up: " + std::string(message.id()));
        return queue->inbox().remove(offset);
    }
    // One that was handed back as overdue is not handed back twice.
    if (!queue->inbox().contains(offset)) return;
    sendBack_.send(message, delayLevel, maxTimes(), [self = shared_from_this(), queue, offset](bool good) {
        if (queue->isDropped()) return;
        if (good) {
            queue->inbox().remove(offset);
            return self->settled(queue);
        }
        // Progress cannot pass it meanwhile.
        self->core_->loop().after(kLocalRetry, [self, queue, offset] {
            if (queue->isDropped()) return;
            queue->inbox().giveBack(offset);
            self->arrived(queue);
        });
    });
}

void ConcurrentWork::settled(const QueuePtr& queue) {
    if (const auto offset = queue->inbox().commitOffset()) core_->offsets().update(queue->queue(), *offset);
    queue->drained();
}

void ConcurrentWork::expire() {
    const auto since = core_->loop().now() - core_->options().consumeTimeout;
    for (const auto& [name, queue] : core_->queues()) {
        for (const auto& message : queue->inbox().overdue(since, kOverdueMax)) {
            core_->instance().log().warn("a listener has been at work on message " + std::string(message.id()) + " for more than consumeTimeout; it goes back to the broker");
            sendBack_.send(message, kLevelOfOverdue, maxTimes(), [self = shared_from_this(), queue = queue, offset = message.queueOffset()](bool good) {
                if (!good || queue->isDropped()) return;
                queue->inbox().remove(offset);
                self->settled(queue);
            });
        }
    }
}

bool ConcurrentWork::serverRequest(Channel& channel, const RemotingCommand& request, protocol::SerializeType type) {
    return consumeDirectly(core_, *pool_, channel, request, type, false, [self = shared_from_this()](auto batch) {
        ConsumeContext context{.queue = batch.front().queue()};
        DirectOutcome outcome;
        outcome.success = self->call(batch, context, outcome.thrown) == ConsumeResult::Success;
        return outcome;
    });
}

void ConcurrentWork::describe(std::map<std::string, std::string>& properties) const {
    properties["PROP_THREADPOOL_CORE_SIZE"] = std::to_string(pool_->threads());
    properties["consumeMessageBatchMaxSize"] = std::to_string(core_->options().batchMax);
    properties["maxReconsumeTimes"] = std::to_string(core_->options().maxReconsumeTimes);
}

}  // namespace patchbay::client
