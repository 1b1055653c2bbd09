// ConsumerCore's half that decides which queues it has.
#include "consumer/ConsumerCore.h"
#include "patchbay/protocol/headers/Client.h"
#include "patchbay/protocol/headers/ConsumerOffset.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "runtime/Guarded.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace patchbay::client {

using namespace std::chrono_literals;
using protocol::RemotingCommand;
using protocol::RequestCode;

namespace {

constexpr auto kAgainAfterLock = 500ms;
constexpr auto kAgainAfterError = 1000ms;
constexpr auto kLockTime = 1000ms;
constexpr auto kHalfAnHour = std::chrono::minutes(30);

Result<std::int64_t> offsetIn(const Result<RemotingCommand>& answer) {
    if (!answer) return answer.error();
    if (answer->code != 0) return statusOf(*answer, "a queue's offset");
    const auto text = answer->find("offset").value_or("");
    std::int64_t offset = -1;
    std::from_chars(text.data(), text.data() + text.size(), offset);
    if (offset < 0) return Status(StatusCode::Corrupt, "a broker answered no offset");
    return offset;
}

}  // namespace

void ConsumerCore::rebalanceSoon(std::chrono::milliseconds delay) {
    if (!running_ || (rebalanceNow_.planned() && delay > 10ms)) return;
    rebalanceNow_.once(delay, [this] { rebalance(); });
}

void ConsumerCore::rebalance() {
    if (!running_) return;
    for (const auto& [topic, data] : std::map(subscriptions_)) rebalance(topic);
    for (const auto& [queue, consumer] : std::map(queues_)) {
        if (!kind_.lite && !subscriptions_.contains(queue.topic)) dropQueue(consumer);
    }
}

void ConsumerCore::rebalance(const std::string& topic) {
    const auto route = instance_->routes().known(topic);
    if (!route) return lookAgain(topic);
    if (!isClustering()) return apply(topic, {route->toRead.begin(), route->toRead.end()});
    askMembers(topic, route, 0);
}

// Every broker of the topic knows the group's members by their heartbeats; the next one is asked when one does not answer.
void ConsumerCore::askMembers(const std::string& topic, const RoutePtr& route, std::size_t broker) {
    if (!running_ || broker >= route->data.brokerDatas.size()) return;
    const auto address = instance_->routes().addressOf(route->data.brokerDatas[broker].brokerName, protocol::kMasterId);
    if (address.empty()) return askMembers(topic, route, broker + 1);
    protocol::ConsumerGroupRequest header;
    header.consumerGroup = group_;
    auto command = RemotingCommand::request(RequestCode::GetConsumerListByGroup);
    command.setHeader(header);
    auto& asker = instance_->asker();
    asker.ask(address, std::move(command), asker.deadlineIn(instance_->options().requestTimeout),
              [self = shared_from_this(), topic, route, broker](const Result<RemotingCommand>& answer) {
                  if (!self->running_ || (!answer && answer.error().code() == StatusCode::Cancelled)) return;
                  if (!answer || answer->code != 0) return self->askMembers(topic, route, broker + 1);
                  auto list = protocol::ConsumerIdList::fromJson(answer->body);
                  if (!list) return self->askMembers(topic, route, broker + 1);
                  self->divide(topic, route, std::move(list->consumerIdList));
              });
}

// The retry topic of a new group is made by its first heartbeat, so it is looked for some times without waiting for the next refresh.
void ConsumerCore::lookAgain(const std::string& topic) {
    auto& asker = instance_->asker();
    instance_->routes().refresh(topic, asker.deadlineIn(instance_->options().requestTimeout), [](const Result<RoutePtr>&) {});
    if (quickLooks_ == 0) return;
    --quickLooks_;
    rebalanceSoon(kAgainAfterLock);
}

void ConsumerCore::divide(const std::string& topic, const RoutePtr& route, std::vector<std::string> consumers) {
    std::sort(consumers.begin(), consumers.end());
    // Before the broker has heard of this consumer nothing is decided; afterwards it means that the broker has forgotten it.
    if (!std::binary_search(consumers.begin(), consumers.end(), instance_->clientId())) {
        instance_->heartbeat(true);
        return rebalanceSoon(kAgainAfterError);
    }
    std::string thrown;
    const auto mine = guarded([&] { return allocation_->allocate(instance_->clientId(), route->toRead, consumers); }, std::vector<MessageQueue>(), thrown);
    if (!thrown.empty()) return instance_->log().error("the allocation strategy threw; the queues of '" + topic + "' stay as they are: " + thrown);
    apply(topic, {mine.begin(), mine.end()});
}

void ConsumerCore::apply(const std::string& topic, const std::set<MessageQueue>& wanted) {
    for (const auto& [queue, consumer] : std::map(queues_)) {
        if (queue.topic == topic && !wanted.contains(queue)) dropQueue(consumer);
    }
    for (const auto& queue : wanted) {
        if (!queues_.contains(queue) && !busy_.contains(queue)) add(queue);
    }
}

void ConsumerCore::add(const MessageQueue& queue) {
    busy_.insert(queue);
    const auto begin = [self = shared_from_this(), queue](bool locked) {
        self->startOffset(queue, [self, queue, locked](const Result<std::int64_t>& offset) {
            if (offset) return self->add(queue, *offset, locked);
            if (offset.error().code() != StatusCode::Cancelled) self->instance_->log().warn("a queue is taken up later: " + offset.error().message());
            self->giveUp(queue, kAgainAfterError);
        });
    };
    if (!isOrderly()) return begin(false);
    lock(queue.brokerName, {queue}, [self = shared_from_this(), queue, begin](const std::set<MessageQueue>& granted) {
        if (granted.contains(queue)) begin(true);
        else self->giveUp(queue, kAgainAfterLock);
    });
}

void ConsumerCore::add(const MessageQueue& queue, std::int64_t offset, bool locked) {
    busy_.erase(queue);
    const bool assigned = kind_.lite && subscriptions_.empty();
    if (!running_ || (!assigned && !subscriptions_.contains(queue.topic))) return;
    auto consumer = makeOnLoop<QueueConsumer>(instance_->runtime(), *this, queue, offset);
    consumer->locked = locked;
    consumer->lockedAt = loop().now();
    queues_[queue] = consumer;
    consumer->pull();
}

void ConsumerCore::giveUp(const MessageQueue& queue, std::chrono::milliseconds again) {
    busy_.erase(queue);
    rebalanceSoon(again);
}

void ConsumerCore::dropQueue(const QueuePtr& consumer, const std::function<void()>& done) {
    const auto queue = consumer->queue();
    // Afterwards they would not count, and what was consumed would come again.
    sink_->takeIn();
    consumer->drop();
    queues_.erase(queue);
    busy_.insert(queue);
    sink_->dropped(consumer, [self = shared_from_this(), queue, done] {
        self->offsets_->forget(queue, [self, queue, done] {
            if (self->isOrderly()) self->unlock(queue);
            self->busy_.erase(queue);
            if (done) done();
        });
    });
}

void ConsumerCore::lock(const std::string& broker, std::vector<MessageQueue> queues, std::function<void(const std::set<MessageQueue>&)> done) {
    const auto address = instance_->routes().addressOf(broker, protocol::kMasterId, true);
    if (address.empty()) return done({});
    protocol::LockBatchRequest body;
    body.consumerGroup = group_;
    body.clientId = instance_->clientId();
    body.mqSet = std::move(queues);
    auto command = RemotingCommand::request(RequestCode::LockBatchMq);
    command.hasFields = true;
    command.body = body.toJson();
    auto& asker = instance_->asker();
    asker.ask(address, std::move(command), asker.deadlineIn(kLockTime), [done = std::move(done)](const Result<RemotingCommand>& answer) {
        if (!answer || answer->code != 0) return done({});
        const auto granted = protocol::LockBatchResponse::fromJson(answer->body);
        if (!granted) return done({});
        done({granted->lockOkMqSet.begin(), granted->lockOkMqSet.end()});
    });
}

void ConsumerCore::unlock(const MessageQueue& queue) {
    const auto address = instance_->routes().addressOf(queue.brokerName, protocol::kMasterId, true);
    if (address.empty()) return;
    protocol::LockBatchRequest body;
    body.consumerGroup = group_;
    body.clientId = instance_->clientId();
    body.mqSet = {queue};
    auto command = RemotingCommand::request(RequestCode::UnlockBatchMq);
    command.hasFields = true;
    command.body = body.toJson();
    instance_->asker().tell(address, command);
}

void ConsumerCore::lockAll(const std::function<void()>& done) {
    std::map<std::string, std::vector<MessageQueue>> byBroker;
    for (const auto& [queue, consumer] : queues_) byBroker[queue.brokerName].push_back(queue);
    for (auto& [broker, queues] : byBroker) {
        lock(broker, queues, [self = shared_from_this(), asked = queues, done](const std::set<MessageQueue>& granted) {
            for (const auto& queue : asked) {
                const auto found = self->queues_.find(queue);
                if (found == self->queues_.end()) continue;
                auto& consumer = *found->second;
                consumer.locked = granted.contains(queue);
                if (!consumer.locked) continue;
                consumer.lockedAt = self->loop().now();
                consumer.drained();
                self->sink_->arrived(found->second);
            }
            if (done) done();
        });
    }
}

void ConsumerCore::startOffset(const MessageQueue& queue, std::function<void(Result<std::int64_t>)> done) {
    offsets_->read(queue, [self = shared_from_this(), queue, done = std::move(done)](const Result<std::optional<std::int64_t>>& read) {
        if (!read) return done(read.error());
        if (!*read || **read < 0) return self->firstOffset(queue, done);
        self->offsets_->update(queue, **read);
        done(**read);
    });
}

void ConsumerCore::firstOffset(const MessageQueue& queue, std::function<void(Result<std::int64_t>)> done) {
    const bool retry = protocol::isRetryTopic(queue.topic);
    if (options_.from == ConsumeFrom::FirstOffset || (retry && options_.from == ConsumeFrom::LastOffset)) return done(std::int64_t{0});
    const auto address = instance_->routes().addressOf(queue.brokerName, protocol::kMasterId);
    if (address.empty()) return done(Status(StatusCode::Unavailable, "broker '" + queue.brokerName + "' is in no route"));
    const bool byTime = options_.from == ConsumeFrom::Timestamp && !retry;
    auto command = RemotingCommand::request(byTime ? RequestCode::SearchOffsetByTimestamp : RequestCode::GetMaxOffset);
    command.set("topic", queue.topic);
    command.set("queueId", std::to_string(queue.queueId));
    command.set("bname", queue.brokerName);
    if (byTime) {
        const auto time = options_.fromTime ? std::chrono::duration_cast<std::chrono::milliseconds>(options_.fromTime->time_since_epoch()).count()
                                            : startedMs_ - std::chrono::milliseconds(kHalfAnHour).count();
        command.set("timestamp", std::to_string(time));
    }
    auto& asker = instance_->asker();
    asker.ask(address, std::move(command), asker.deadlineIn(instance_->options().requestTimeout),
              [done = std::move(done)](const Result<RemotingCommand>& answer) { done(offsetIn(answer)); });
}

}  // namespace patchbay::client
