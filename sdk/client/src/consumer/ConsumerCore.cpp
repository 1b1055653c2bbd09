#include "consumer/ConsumerCore.h"

#include "message/Namespace.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"

#include <algorithm>
#include <utility>

namespace patchbay::client {

using namespace std::chrono_literals;
using protocol::RemotingCommand;
using protocol::RequestCode;

namespace {

constexpr auto kLockInterval = 20s;

// What the application sees: its own names, and the topic that a retried message came from.
AdjustMessage adjusterFor(const std::string& nameSpace) {
    return [nameSpace](ReceivedMessage::Data& data) {
        if (protocol::isRetryTopic(data.topic)) {
            if (const auto origin = protocol::findProperty(data.properties, protocol::kPropertyRetryTopic); !origin.empty()) data.topic = origin;
        }
        if (!nameSpace.empty()) data.topic = withoutNamespace(nameSpace, data.topic);
    };
}

/// Body of 46.
std::string checkBody(const std::string& clientId, const std::string& group, const protocol::SubscriptionData& data) {
    std::string text;
    json::Writer writer(text);
    writer.beginObject();
    writer.member("clientId", clientId);
    writer.member("group", group);
    writer.key("subscriptionData");
    data.write(writer);
    writer.endObject();
    return text;
}

protocol::ConsumeFromWhere whereOf(ConsumeFrom from) noexcept {
    switch (from) {
        case ConsumeFrom::FirstOffset: return protocol::ConsumeFromWhere::FirstOffset;
        case ConsumeFrom::Timestamp: return protocol::ConsumeFromWhere::Timestamp;
        case ConsumeFrom::LastOffset: break;
    }
    return protocol::ConsumeFromWhere::LastOffset;
}

}  // namespace

ConsumerCore::ConsumerCore(ClientInstance::Pointer instance, const ConsumerOptions& options)
    : instance_(std::move(instance)), options_(options), group_(withNamespace(options.client.nameSpace, options.group)),
      allocation_(options.allocation ? options.allocation : allocateAveragely()), startedMs_(instance_->runtime().clock().wallMs()),
      trace_(ConsumeTrace::make(instance_, options)), offsets_(options.model == ConsumerModel::Clustering ? makeRemoteOffsets(*instance_, group_)
                                                          : makeLocalOffsets(*instance_, group_, options.offsetDirectory)),
      adjuster_(adjusterFor(options.client.nameSpace)), rebalanceTimer_(loop()), rebalanceNow_(loop()), persistTimer_(loop()), lockTimer_(loop()) {}

void ConsumerCore::begin(ConsumerKind kind, MessageSink& sink, std::function<void(Status)> done) {
    kind_ = kind;
    sink_ = &sink;
    if (isClustering() && !kind.lite) {
        auto retry = protocol::SubscriptionData::build(protocol::retryTopic(group_), protocol::kSubscribeAll);
        if (retry) subscribe(std::move(*retry));
    }
    prepareRoutes([self = shared_from_this(), done = std::move(done)] {
        self->checkFilters([self, done](const Status& status) {
            if (!status) return done(status);
            self->running_ = true;
            self->instance_->add(*self);
            self->instance_->heartbeat([self, done] {
                self->rebalance();
                done(Status::ok());
            });
            self->rebalanceTimer_.every(self->options_.rebalanceInterval, self->options_.rebalanceInterval, [core = self.get()] { core->rebalance(); });
            self->persistTimer_.every(self->options_.offsetInterval, self->options_.offsetInterval, [core = self.get()] { core->offsets_->persist({}); });
            if (self->isOrderly()) self->lockTimer_.every(kLockInterval, kLockInterval, [core = self.get()] { core->lockAll(); });
        });
    });
}

// A topic without a route is no failure: it may be made later.
void ConsumerCore::prepareRoutes(const std::function<void()>& done) {
    auto left = std::make_shared<std::size_t>(subscriptions_.size() + 1);
    const auto finish = [left, done] {
        if (--*left == 0) done();
    };
    const auto deadline = instance_->asker().deadlineIn(instance_->options().requestTimeout);
    for (const auto& [topic, data] : subscriptions_) {
        instance_->routes().refresh(topic, deadline, [self = shared_from_this(), topic = topic, finish](const Result<RoutePtr>& route) {
            if (!route && !protocol::isRetryTopic(topic)) self->instance_->log().warn("subscribed all the same: " + route.error().message());
            finish();
        });
    }
    finish();
}

void ConsumerCore::checkFilters(const std::function<void(Status)>& done) {
    auto left = std::make_shared<std::size_t>(1);
    auto worst = std::make_shared<Status>();
    const auto finish = [left, worst, done](const Status& status) {
        if (!status) *worst = status;
        if (--*left == 0) done(*worst);
    };
    for (const auto& [topic, data] : subscriptions_) {
        const auto route = instance_->routes().known(topic);
        if (protocol::isTagExpression(data.expressionType) || !route || route->masters.empty()) continue;
        auto command = RemotingCommand::request(RequestCode::CheckClientConfig);
        command.body = checkBody(instance_->clientId(), group_, data);
        ++*left;
        auto& asker = instance_->asker();
        asker.ask(route->masters.begin()->second, std::move(command), asker.deadlineIn(instance_->options().requestTimeout),
                  [finish](const Result<RemotingCommand>& answer) {
                      // A broker that cannot be asked now refuses later, if it has to, with a line in the log.
                      if (!answer || answer->code == 0) return finish(Status::ok());
                      auto why = statusOf(*answer, "the filter");
                      finish({StatusCode::InvalidArgument, why.message()});
                  });
    }
    finish(Status::ok());
}

void ConsumerCore::stopPulling() {
    running_ = false;
    rebalanceTimer_.cancel();
    rebalanceNow_.cancel();
    lockTimer_.cancel();
}

void ConsumerCore::end(std::function<void()> done) {
    stopPulling();
    persistTimer_.cancel();
    if (trace_) trace_->flush();
    const auto queues = std::exchange(queues_, {});
    for (const auto& [queue, consumer] : queues) consumer->drop();
    offsets_->persist([self = shared_from_this(), queues, done = std::move(done)](const Status& written) {
        if (!written) self->instance_->log().warn("the last progress of group " + self->group_ + " was not written, messages come again: " + written.message());
        if (self->isOrderly()) {
            for (const auto& [queue, consumer] : queues) self->unlock(queue);
        }
        self->instance_->remove(*self, done);
    });
}

void ConsumerCore::subscribe(protocol::SubscriptionData data) {
    data.subVersion = instance_->runtime().clock().wallMs();
    const auto topic = data.topic;
    subscriptions_[topic] = std::move(data);
    if (!running_) return;
    instance_->routes().get(topic, instance_->asker().deadlineIn(instance_->options().requestTimeout),
                            [self = shared_from_this()](const Result<RoutePtr>&) {
                                self->instance_->heartbeat([self] { self->rebalanceSoon(); });
                            });
}

void ConsumerCore::unsubscribe(const std::string& topic) {
    if (subscriptions_.erase(topic) == 0 || !running_) return;
    apply(topic, {});
    instance_->heartbeat(true);
}

const protocol::SubscriptionData* ConsumerCore::subscription(const std::string& topic) const {
    const auto found = subscriptions_.find(topic);
    return found == subscriptions_.end() ? nullptr : &found->second;
}

void ConsumerCore::setPaused(bool paused) {
    paused_ = paused;
    if (paused) return;
    for (const auto& [queue, consumer] : queues_) consumer->drained();
}

void ConsumerCore::filter(const std::string& topic, std::vector<ReceivedMessage>& messages) const {
    const auto* wanted = subscription(topic);
    if (wanted == nullptr || wanted->tagsSet.empty() || !protocol::isTagExpression(wanted->expressionType)) return;
    std::erase_if(messages, [&](const ReceivedMessage& message) {
        return std::find(wanted->tagsSet.begin(), wanted->tagsSet.end(), message.tags()) == wanted->tagsSet.end();
    });
}

// A lite consumer commits what its application has seen, which is its own business.
void ConsumerCore::passed(QueueConsumer& queue, std::int64_t offset) {
    if (!kind_.lite) offsets_->update(queue.queue(), offset);
}

// The broker has other offsets in mind: what is below is gone, or an administrator has set them.
void ConsumerCore::offsetMoved(const QueuePtr& queue, std::int64_t offset) {
    instance_->log().warn("queue " + std::to_string(queue->queue().queueId) + " of '" + queue->queue().topic + "' goes on at offset " +
                          std::to_string(offset) + ", as its broker says");
    if (kind_.lite) return queue->seek(offset);
    offsets_->freeze(queue->queue(), offset);
    dropQueue(queue, [self = shared_from_this()] { self->rebalanceSoon(); });
}

void ConsumerCore::describe(protocol::HeartbeatData& heartbeat) const {
    protocol::ConsumerData data;
    data.groupName = group_;
    data.consumeType = kind_.lite ? protocol::ConsumeType::Actively : protocol::ConsumeType::Passively;
    data.messageModel = isClustering() ? protocol::MessageModel::Clustering : protocol::MessageModel::Broadcasting;
    data.consumeFromWhere = whereOf(options_.from);
    for (const auto& [topic, subscription] : subscriptions_) data.subscriptionDataSet.push_back(subscription);
    heartbeat.consumerDataSet.push_back(std::move(data));
}

void ConsumerCore::routeChanged(const std::string& topic, const RoutePtr&) {
    if (subscriptions_.contains(topic)) rebalanceSoon();
}

}  // namespace patchbay::client
