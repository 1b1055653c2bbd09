#include "consumer/ConcurrentWork.h"

#include "consumer/ListenerCall.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::client {

using namespace std::chrono_literals;
using protocol::RemotingCommand;

namespace {

constexpr auto kLocalRetry = 5000ms;
constexpr int kRetriesDefault = 16;
constexpr int kLevelOfOverdue = 3;
// Outcomes that nobody has told of, and calls that a blocked thread keeps waiting, are looked for after so long; later each time nothing has changed.
constexpr auto kLookAgainMin = 1ms;
constexpr auto kLookAgainMax = 100ms;
// Then a helper makes room for other tasks of the pool.
constexpr auto kHelpFor = 50ms;

}  // namespace

ConcurrentWork::ConcurrentWork(std::shared_ptr<ConsumerCore> core, std::shared_ptr<ListenerPool> pool, Listener listener)
    : core_(std::move(core)), pool_(std::move(pool)), listener_(std::move(listener)),
      calls_(core_->options().batchMax, core_->options().threads), sendBack_(*core_), expiry_(core_->loop()), lookAgain_(core_->loop()) {
    const auto period = std::chrono::milliseconds(core_->options().consumeTimeout);
    if (core_->isClustering()) expiry_.every(period, period, [this] { expire(); });
}

int ConcurrentWork::maxTimes() const noexcept { return core_->options().maxReconsumeTimes < 0 ? kRetriesDefault : core_->options().maxReconsumeTimes; }

ConsumeResult ConcurrentWork::call(std::span<const ReceivedMessage> batch, ConsumeContext& context, std::string& thrown) const {
    return guarded([&] { return listener_(batch, context); }, ConsumeResult::Later, thrown);
}

void ConcurrentWork::arrived(const QueuePtr& queue) {
    auto& inbox = queue->inbox();
    if (inbox.waiting() == 0) return;
    startHelpers(calls_.add(queue, inbox.take(inbox.waiting())));
    if (pause_ != kLookAgainMin || !lookAgain_.planned()) lookAgainIn(kLookAgainMin);
}

void ConcurrentWork::startHelpers(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) pool_->post([self = shared_from_this()] { self->help(); });
}

void ConcurrentWork::help() {
    const auto& clock = core_->instance().runtime().clock();
    const auto begun = clock.now();
    const auto until = begun + kHelpFor;
    auto call = calls_.next(begun);
    while (call) {
        // The other calls come again, elsewhere.
        if (pool_->isClosed()) return;
        auto outcome = make(*call);
        const auto now = clock.now();
        const bool yields = now > until;
        const auto then = calls_.ended(std::move(outcome), now, yields, call);
        if (then.tell) core_->loop().post([self = shared_from_this()] { self->takeIn(); });
        startHelpers(then.helpers);
    }
}

CallQueue::Outcome ConcurrentWork::make(const CallQueue::Call& call) const {
    const auto& queue = call.portion->queue;
    CallQueue::Outcome outcome{.call = call};
    if (queue->isDropped()) return outcome;
    const auto messages = call.messages();
    ConsumeContext context{.queue = queue->queue()};
    std::string thrown;
    ConsumeTrace::Call traced(core_->trace(), messages);
    outcome.result = this->call(messages, context, thrown);
    traced.ended(outcome.result == ConsumeResult::Success, !thrown.empty());
    if (!thrown.empty()) core_->instance().log().warn("a listener threw: " + thrown);
    outcome.delayLevel = context.delayLevel;
    outcome.succeeded = context.succeeded;
    return outcome;
}

void ConcurrentWork::takeIn() {
    std::vector<QueuePtr> changed;
    for (const auto& outcome : calls_.takeOutcomes()) {
        finished(outcome);
        const auto& queue = outcome.call.portion->queue;
        if (std::find(changed.begin(), changed.end(), queue) == changed.end()) changed.push_back(queue);
    }
    for (const auto& queue : changed) {
        if (!queue->isDropped()) settled(queue);
    }
    if (!changed.empty()) pause_ = 0ms;
}

void ConcurrentWork::lookAgainIn(std::chrono::milliseconds delay) {
    pause_ = delay;
    lookAgain_.once(delay, [this] { lookAgain(); });
}

void ConcurrentWork::lookAgain() {
    takeIn();
    startHelpers(calls_.oneMore());
    // What waits when the pool closes is never called, and the close itself takes in what was.
    if (!calls_.isIdle() && !pool_->isClosed()) lookAgainIn(std::clamp<std::chrono::milliseconds>(pause_ * 2, kLookAgainMin, kLookAgainMax));
}

// The result for a queue that is another's now does not count: its new owner has got the messages, too.
void ConcurrentWork::finished(const CallQueue::Outcome& outcome) {
    const auto& queue = outcome.call.portion->queue;
    if (queue->isDropped()) return;
    const auto messages = outcome.call.messages();
    queue->lastConsume = core_->loop().now();
    const auto good = outcome.result == ConsumeResult::Success ? std::min(outcome.succeeded, messages.size()) : 0;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (i < good) queue->inbox().remove(messages[i].queueOffset());
        else failed(queue, messages[i], outcome.delayLevel);
    }
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
    for (const auto& call : calls_.overdue(core_->loop().now() - core_->options().consumeTimeout)) {
        const auto& queue = call.portion->queue;
        if (queue->isDropped()) continue;
        for (const auto& message : call.messages()) {
            if (!queue->inbox().contains(message.queueOffset())) continue;  // it was handed back before
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
