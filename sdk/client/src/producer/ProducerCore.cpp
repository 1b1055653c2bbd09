#include "producer/ProducerCore.h"

#include "message/Namespace.h"
#include "patchbay/protocol/headers/ConsumerOffset.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/util/Hash.h"
#include "producer/SendJob.h"
#include "runtime/Guarded.h"

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

namespace patchbay::client {

namespace {

// The queue that Java's SelectMessageQueueByHash takes for the same text, so that producers in both languages keep one order.
std::size_t indexOfKey(std::string_view key, std::size_t queues) {
    const auto hash = protocol::javaHashCode(key);
    if (hash == std::numeric_limits<std::int32_t>::min()) return 0;
    return static_cast<std::size_t>(hash < 0 ? -hash : hash) % queues;
}

}  // namespace

ProducerCore::ProducerCore(ClientInstance::Pointer instance, const ProducerOptions& options)
    : ProducerCore(std::move(instance), options, std::random_device()()) {}

ProducerCore::ProducerCore(ClientInstance::Pointer instance, const ProducerOptions& options, std::uint64_t firstTurn)
    : instance_(std::move(instance)), options_(options), group_(withNamespace(options.client.nameSpace, options.group)),
      outfitter_(options_, instance_->ids(), instance_->runtime().clock()), faults_(instance_->runtime().clock()),
      next_(firstTurn), inFlight_(static_cast<std::ptrdiff_t>(options.inFlightMax)),
      onewayInFlight_(std::make_shared<Places>(static_cast<std::ptrdiff_t>(options.inFlightMax))) {}

Status ProducerCore::enter(Places& places, MonotonicTime deadline) {
    if (places.try_acquire()) return Status::ok();
    // The loop must not wait for what only it can bring.
    const bool onLoop = instance_->runtime().loop().inLoop();
    if (!onLoop && places.try_acquire_for(deadline - instance_->runtime().clock().now())) return Status::ok();
    return {StatusCode::Busy, std::to_string(options_.inFlightMax) + " messages have no answer yet; send slower, or raise inFlightMax"};
}

void ProducerCore::send(Outgoing message, Target target, MonotonicTime deadline, Done done) {
    if (isClosed()) return done(Status(StatusCode::Unavailable, "the producer is closed"));
    if (auto entered = enter(deadline); !entered) return done(std::move(entered));
    sendEntered(std::move(message), std::move(target), deadline, std::move(done));
}

void ProducerCore::sendEntered(Outgoing message, Target target, MonotonicTime deadline, Done done) {
    SendJob::start(std::make_unique<SendJob>(shared_from_this(), std::move(message), std::move(target), deadline, std::move(done)));
}

Status ProducerCore::sendOneway(Outgoing message, Target target, MonotonicTime deadline) {
    if (isClosed()) return {StatusCode::Unavailable, "the producer is closed"};
    if (auto entered = enter(*onewayInFlight_, deadline); !entered) return entered;
    // The channel does not keep this object for it, which would keep the channel in its turn.
    const std::shared_ptr<void> place(onewayInFlight_.get(), [places = onewayInFlight_](Places*) { places->release(); });
    auto topic = message.topic;
    auto work = [self = shared_from_this(), message = std::move(message), target = std::move(target), place](const Result<RoutePtr>& route) {
        const auto report = [&](const Status& why) { self->instance_->log().info("a one-way message was not sent: " + why.message()); };
        if (!route) return report(route.error());
        const auto queue = self->choose(**route, target, {});
        if (!queue) return report(queue.error());
        const auto* address = (*route)->masterOf(queue->brokerName);
        auto frame = self->frameFor(message, *queue, true);
        if (!frame || address == nullptr) return report(frame ? Status(StatusCode::Unavailable, "the broker has no master") : frame.error());
        self->instance_->channels().sendOneway(*address, std::move(*frame), place);
    };
    instance_->runtime().loop().post([self = shared_from_this(), topic = std::move(topic), deadline, work = std::move(work)]() mutable {
        self->instance_->routes().getToWrite(topic, self->options_.queuesOfNewTopics, deadline, std::move(work));
    });
    return Status::ok();
}

std::optional<MessageQueue> ProducerCore::roundRobin(const Route& route, std::string_view avoid, bool onlyGood) {
    const auto& queues = route.toWrite;
    for (std::size_t i = 0; i < queues.size(); ++i) {
        const auto& queue = queues[next_.fetch_add(1, std::memory_order_relaxed) % queues.size()];
        if (queue.brokerName == avoid) continue;
        if (onlyGood && !(faults_.isAvailable(queue.brokerName) && faults_.isReachable(queue.brokerName))) continue;
        return queue;
    }
    return std::nullopt;
}

Result<MessageQueue> ProducerCore::choose(const Route& route, const Target& target, std::string_view avoid) {
    if (target.queue) return *target.queue;
    const auto& queues = route.toWrite;
    if (queues.empty()) {
        return Status(StatusCode::Unavailable, "the topic has no queue to write to; check its permission and that a master is up");
    }
    if (target.selector) {
        std::string thrown;
        const auto index = guarded([&] { return target.selector(queues); }, queues.size(), thrown);
        if (!thrown.empty()) return Status(StatusCode::InvalidArgument, "the selector threw: " + thrown);
        if (index < queues.size()) return queues[index];
        return Status(StatusCode::InvalidArgument, "the selector chose queue " + std::to_string(index) + " of " + std::to_string(queues.size()));
    }
    if (!target.orderKey.empty()) return queues[indexOfKey(target.orderKey, queues.size())];
    if (options_.avoidSlowBrokers) {
        if (auto queue = roundRobin(route, avoid, true)) return *queue;
    }
    if (auto queue = roundRobin(route, avoid, false)) return *queue;
    return *roundRobin(route, {}, false);
}

Result<Frame> ProducerCore::frameFor(const Outgoing& message, const MessageQueue& queue, bool oneway) {
    protocol::SendMessageRequest header;
    header.producerGroup = group_;
    header.topic = message.topic;
    header.defaultTopic = protocol::kTopicAutoCreate;
    header.defaultTopicQueueNums = options_.queuesOfNewTopics;
    header.queueId = queue.queueId;
    header.sysFlag = message.sysFlag;
    header.bornTimestamp = message.bornMs;
    header.flag = message.flag;
    header.properties = message.properties;
    header.reconsumeTimes = message.reconsumeTimes;
    header.maxReconsumeTimes = message.maxReconsumeTimes;
    header.batch = message.batch;
    header.brokerName = queue.brokerName;
    protocol::FieldList fields;
    header.write(fields);
    return instance_->frames().request(static_cast<std::int32_t>(message.code), fields, message.body, oneway);
}

void ProducerCore::close() {
    if (closed_.exchange(true, std::memory_order_acq_rel)) return;
    for (std::size_t i = 0; i < options_.inFlightMax; ++i) inFlight_.acquire();
    inFlight_.release(static_cast<std::ptrdiff_t>(options_.inFlightMax));
}

void ProducerCore::probe() {
    for (const auto& broker : faults_.unreachable()) {
        const auto address = instance_->routes().addressOf(broker, protocol::kMasterId, true);
        if (address.empty()) continue;
        protocol::QueueRequest header;
        header.topic = protocol::kTopicAutoCreate;
        auto command = protocol::RemotingCommand::request(protocol::RequestCode::GetMaxOffset);
        command.setHeader(header);
        instance_->asker().ask(address, std::move(command), instance_->asker().deadlineIn(std::chrono::milliseconds(200)),
                               [self = shared_from_this(), broker](const Result<protocol::RemotingCommand>& answer) {
                                   if (answer) self->faults_.reached(broker);
                               });
    }
}

}  // namespace patchbay::client
