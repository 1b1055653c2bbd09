#include "consumer/ConcurrentWork.h"

#include "patchbay/protocol/json/Body.h"

#include <algorithm>
#include <exception>
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

ConsumeResult callListener(const Listener& listener, std::span<const ReceivedMessage> messages, ConsumeContext& context, std::string& thrown) {
    try {
        return listener(messages, context);
    } catch (const std::exception& failure) {
        thrown = failure.what();
    } catch (...) {
        thrown = "an exception of an unknown type";
    }
    if (thrown.empty()) thrown = "an exception without a text";
    return ConsumeResult::Later;
}

std::string directResult(bool orderly, std::string_view result, std::string_view remark, std::chrono::milliseconds spent) {
    std::string text;
    json::Writer writer(text);
    writer.beginObject();
    writer.member("autoCommit", true);
    writer.member("consumeResult", result);
    writer.member("order", orderly);
    if (!remark.empty()) writer.member("remark", remark);
    writer.member("spentTimeMills", static_cast<std::int64_t>(spent.count()));
    writer.endObject();
    return text;
}

ConcurrentWork::ConcurrentWork(std::shared_ptr<ConsumerCore> core, std::shared_ptr<ListenerPool> pool, Listener listener)
    : core_(std::move(core)), pool_(std::move(pool)), listener_(std::make_shared<const Listener>(std::move(listener))), sendBack_(*core_),
      expiry_(core_->loop()) {
    const auto period = std::chrono::milliseconds(core_->options().consumeTimeout);
    if (core_->isClustering()) expiry_.every(period, period, [this] { expire(); });
}

int ConcurrentWork::maxTimes() const noexcept { return core_->options().maxReconsumeTimes < 0 ? kRetriesDefault : core_->options().maxReconsumeTimes; }

void ConcurrentWork::arrived(const QueuePtr& queue) {
    auto& inbox = queue->inbox();
    while (inbox.waiting() > 0) {
        auto batch = std::make_shared<Batch>(inbox.take(core_->options().batchMax, core_->loop().now()));
        pool_->post([self = shared_from_this(), queue, batch] {
            if (queue->isDropped()) return;
            ConsumeContext context{.queue = queue->queue()};
            std::string thrown;
            const auto result = callListener(*self->listener_, *batch, context, thrown);
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
    if (request.code != static_cast<std::int32_t>(protocol::RequestCode::ConsumeMessageDirectly)) return false;
    auto messages = decodeMessages(request.body, request.find("brokerName").value_or(""), core_->adjuster());
    if (!messages || messages->empty()) return false;
    auto asker = Ref<Channel>::share(&channel);
    pool_->post([self = shared_from_this(), asker, opaque = request.opaque, type, batch = std::move(*messages)]() mutable {
        const auto begun = self->core_->instance().runtime().clock().now();
        ConsumeContext context{.queue = batch.front().queue()};
        std::string thrown;
        const auto result = callListener(*self->listener_, batch, context, thrown);
        const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(self->core_->instance().runtime().clock().now() - begun);
        const auto* name = !thrown.empty() ? "CR_THROW_EXCEPTION" : result == ConsumeResult::Success ? "CR_SUCCESS" : "CR_LATER";
        auto answer = RemotingCommand::response(protocol::ResponseCode::Success, opaque);
        answer.body = directResult(false, name, thrown, spent);
        self->core_->loop().post([asker = std::move(asker), answer, type] { asker->reply(answer, type); });
    });
    return true;
}

void ConcurrentWork::describe(std::map<std::string, std::string>& properties) const {
    properties["PROP_THREADPOOL_CORE_SIZE"] = std::to_string(pool_->threads());
    properties["consumeMessageBatchMaxSize"] = std::to_string(core_->options().batchMax);
    properties["maxReconsumeTimes"] = std::to_string(core_->options().maxReconsumeTimes);
}

}  // namespace patchbay::client
