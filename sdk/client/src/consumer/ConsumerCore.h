// ConsumerCore: subscriptions, queues and progress of one consumer, whatever becomes of its messages.
#pragma once

#include "consumer/OffsetStore.h"
#include "consumer/QueueConsumer.h"
#include "instance/ClientInstance.h"
#include "message/MessageData.h"
#include "patchbay/client/ConsumerOptions.h"
#include "patchbay/protocol/route/SubscriptionData.h"
#include "runtime/OnLoop.h"
#include "trace/ConsumeTrace.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// What becomes of messages. Loop thread.
class MessageSink {
public:
    virtual ~MessageSink() = default;
    /// New ones are in the queue's inbox.
    virtual void arrived(const QueuePtr& queue) = 0;
    /// The queue was dropped; `done` is called when nothing of it is in work that order depends on.
    virtual void dropped(const QueuePtr& queue, std::function<void()> done) = 0;
    /// What listeners have answered so far counts from now on.
    virtual void takeIn() {}
    /// A broker's request that only this kind of consumer understands (309). False: not understood.
    virtual bool serverRequest(Channel& channel, const protocol::RemotingCommand& request, protocol::SerializeType type) = 0;
    /// Of this kind, for running info.
    virtual void describe(std::map<std::string, std::string>& properties) const = 0;
};

/// How a consumer is set up, beside its options.
struct ConsumerKind {
    bool lite = false;     ///< pulled by the application
    bool orderly = false;  ///< queues are locked at the broker
};

/// Lives on the loop; made by makeOnLoop().
class ConsumerCore final : public Member, public std::enable_shared_from_this<ConsumerCore> {
public:
    ConsumerCore(ClientInstance::Pointer instance, const ConsumerOptions& options);

    // Any thread.
    [[nodiscard]] ClientInstance& instance() noexcept { return *instance_; }
    [[nodiscard]] const ClientInstance::Pointer& shared() const noexcept { return instance_; }
    [[nodiscard]] net::EventLoop& loop() noexcept { return instance_->runtime().loop(); }
    [[nodiscard]] const ConsumerOptions& options() const noexcept { return options_; }
    [[nodiscard]] const std::string& group() const noexcept override { return group_; }
    /// Null when nothing is traced.
    [[nodiscard]] const ConsumeTrace* trace() const noexcept { return trace_.get(); }
    [[nodiscard]] bool isClustering() const noexcept { return options_.model == ConsumerModel::Clustering; }

    // Loop thread: life.
    /// Routes, the brokers' opinion of the filters, heartbeats, queues; `done` says how it went.
    void begin(ConsumerKind kind, MessageSink& sink, std::function<void(Status)> done);
    /// No more pulling; what is here may still be finished.
    void stopPulling();
    /// Progress is written, locks are given back, the group is left.
    void end(std::function<void()> done);
    [[nodiscard]] bool isRunning() const noexcept { return running_; }

    // Loop thread: subscriptions and queues.
    void subscribe(protocol::SubscriptionData data);
    void unsubscribe(const std::string& topic);
    [[nodiscard]] const std::map<std::string, protocol::SubscriptionData>& subscriptions() const noexcept { return subscriptions_; }
    [[nodiscard]] const protocol::SubscriptionData* subscription(const std::string& topic) const;
    [[nodiscard]] const std::map<MessageQueue, QueuePtr>& queues() const noexcept { return queues_; }
    /// These and no others, without dividing them among a group.
    void assign(const std::string& topic, const std::set<MessageQueue>& queues) { apply(topic, queues); }
    void setPaused(bool paused);
    void rebalanceSoon(std::chrono::milliseconds delay = std::chrono::milliseconds(10));
    void dropQueue(const QueuePtr& queue, const std::function<void()>& done = {});
    void reset(const std::map<MessageQueue, std::int64_t>& offsets);
    /// A broker granted or refused the lock of these queues; see QueueLocks.
    void lockAll(const std::function<void()>& done = {});

    // For its queues.
    [[nodiscard]] bool isLite() const noexcept { return kind_.lite; }
    [[nodiscard]] bool isOrderly() const noexcept { return kind_.orderly && isClustering(); }
    [[nodiscard]] bool isPaused() const noexcept { return paused_ || !running_; }
    [[nodiscard]] OffsetStore& offsets() noexcept { return *offsets_; }
    [[nodiscard]] const AdjustMessage& adjuster() const noexcept { return adjuster_; }
    /// Drops what this consumer does not want; the broker filters by hash.
    void filter(const std::string& topic, std::vector<ReceivedMessage>& messages) const;
    void arrived(const QueuePtr& queue) { sink_->arrived(queue); }
    void passed(QueueConsumer& queue, std::int64_t offset);
    void offsetMoved(const QueuePtr& queue, std::int64_t offset);

    // Member.
    [[nodiscard]] bool isConsumer() const noexcept override { return true; }
    void describe(protocol::HeartbeatData& heartbeat) const override;
    void routeChanged(const std::string& topic, const RoutePtr& route) override;
    void groupChanged() override { rebalanceSoon(); }
    void serverRequest(Channel& channel, const protocol::RemotingCommand& request, protocol::SerializeType type) override;

private:
    void prepareRoutes(const std::function<void()>& done);
    void checkFilters(const std::function<void(Status)>& done);
    void rebalance();
    void rebalance(const std::string& topic);
    void askMembers(const std::string& topic, const RoutePtr& route, std::size_t broker);
    void lookAgain(const std::string& topic);
    void divide(const std::string& topic, const RoutePtr& route, std::vector<std::string> consumers);
    void apply(const std::string& topic, const std::set<MessageQueue>& wanted);
    void add(const MessageQueue& queue);
    void add(const MessageQueue& queue, std::int64_t offset, bool locked);
    void giveUp(const MessageQueue& queue, std::chrono::milliseconds again);
    void lock(const std::string& broker, std::vector<MessageQueue> queues, std::function<void(const std::set<MessageQueue>&)> done);
    void unlock(const MessageQueue& queue);
    void startOffset(const MessageQueue& queue, std::function<void(Result<std::int64_t>)> done);
    void firstOffset(const MessageQueue& queue, std::function<void(Result<std::int64_t>)> done);
    [[nodiscard]] std::string runningInfo() const;
    [[nodiscard]] std::string consumerStatus(const std::string& topic) const;

    const ClientInstance::Pointer instance_;
    const ConsumerOptions options_;
    const std::string group_;
    const AllocationPtr allocation_;
    const std::int64_t startedMs_;
    const std::shared_ptr<const ConsumeTrace> trace_;
    ConsumerKind kind_;
    MessageSink* sink_ = nullptr;
    std::unique_ptr<OffsetStore> offsets_;
    AdjustMessage adjuster_;
    std::map<std::string, protocol::SubscriptionData> subscriptions_;
    std::map<MessageQueue, QueuePtr> queues_;
    std::set<MessageQueue> busy_;  // being added, or dropped and not finished
    LoopTimer rebalanceTimer_;
    LoopTimer rebalanceNow_;
    LoopTimer persistTimer_;
    LoopTimer lockTimer_;
    int quickLooks_ = 20;
    bool running_ = false;
    bool paused_ = false;
};

}  // namespace patchbay::client
