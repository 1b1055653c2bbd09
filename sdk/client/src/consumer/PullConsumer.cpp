#include "patchbay/client/PullConsumer.h"

#include "consumer/ConsumerCheck.h"
#include "consumer/PullWork.h"
#include "message/Namespace.h"
#include "runtime/OnLoop.h"

#include <future>
#include <mutex>
#include <set>
#include <utility>

namespace patchbay::client {

class PullConsumer::Impl {
public:
    Impl(ClientInstance::Pointer instance, PullOptions options)
        : options_(std::move(options)), instance_(std::move(instance)), core_(makeOnLoop<ConsumerCore>(instance_->runtime(), instance_, options_.consumer)),
          work_(makeOnLoop<PullWork>(instance_->runtime(), core_)) {}
    ~Impl() { close(); }

    Status start();
    void close();
    Status assign(const std::vector<MessageQueue>& queues);
    Result<std::vector<ReceivedMessage>> poll(std::chrono::milliseconds timeout);
    Status commit();
    Result<RoutePtr> route(const std::string& topic);
    [[nodiscard]] Runtime& runtime() noexcept { return instance_->runtime(); }
    [[nodiscard]] std::string fullName(std::string_view topic) const { return withNamespace(options_.consumer.client.nameSpace, topic); }
    [[nodiscard]] MessageQueue fullName(const MessageQueue& queue) const { return {fullName(queue.topic), queue.brokerName, queue.queueId}; }

    enum class Mode : std::uint8_t { None, Subscribed, Assigned };
    Status setMode(Mode mode);

    const PullOptions options_;
    const ClientInstance::Pointer instance_;
    const std::shared_ptr<ConsumerCore> core_;
    const std::shared_ptr<PullWork> work_;

private:
    std::mutex mutex_;
    Mode mode_ = Mode::None;
    bool started_ = false;
    bool closed_ = false;
};

Status PullConsumer::Impl::setMode(Mode mode) {
    const std::lock_guard lock(mutex_);
    if (closed_) return {StatusCode::Unavailable, "the consumer is closed"};
    if (mode_ != Mode::None && mode_ != mode) return {StatusCode::InvalidArgument, "subscribe() and assign() exclude each other; use another consumer"};
    mode_ = mode;
    return Status::ok();
}

Status PullConsumer::Impl::start() {
    const std::lock_guard lock(mutex_);
    if (started_) return Status::ok();
    std::promise<Status> promise;
    runtime().loop().post([&] {
        core_->begin({.lite = true, .orderly = false}, *work_, [&promise](const Status& status) { promise.set_value(status); });
    });
    auto status = promise.get_future().get();
    started_ = status.isOk();
    return status;
}

void PullConsumer::Impl::close() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    work_->wake();
    if (started_) {
        std::promise<void> gone;
        runtime().loop().post([&] { core_->end([&gone] { gone.set_value(); }); });
        gone.get_future().wait();
    }
    instance_->giveBack({true, options_.consumer.group});
}

Result<RoutePtr> PullConsumer::Impl::route(const std::string& topic) {
    std::promise<Result<RoutePtr>> promise;
    runtime().loop().post([&] {
        instance_->routes().get(topic, instance_->asker().deadlineIn(instance_->options().requestTimeout),
                                [&promise](Result<RoutePtr> found) { promise.set_value(std::move(found)); });
    });
    return promise.get_future().get();
}

Status PullConsumer::Impl::assign(const std::vector<MessageQueue>& queues) {
    if (auto status = setMode(Mode::Assigned); !status) return status;
    std::map<std::string, std::set<MessageQueue>> byTopic;
    for (const auto& queue : queues) byTopic[fullName(queue.topic)].insert(fullName(queue));
    for (const auto& [topic, wanted] : byTopic) {
        if (auto found = route(topic); !found) return found.error();
    }
    if (auto status = start(); !status) return status;
    runtime().call([&] {
        for (const auto& [queue, consumer] : core_->queues()) byTopic.try_emplace(queue.topic);
        for (const auto& [topic, wanted] : byTopic) core_->assign(topic, wanted);
    });
    return Status::ok();
}

Result<std::vector<ReceivedMessage>> PullConsumer::Impl::poll(std::chrono::milliseconds timeout) {
    const auto deadline = runtime().clock().now() + timeout;
    if (options_.autoCommit) runtime().call([&] { work_->acknowledge(); });
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) return Status(StatusCode::Unavailable, "the consumer is closed");
            if (!started_) return Status(StatusCode::Unavailable, "nothing to poll; call subscribe() or assign() first");
        }
        auto messages = runtime().call([&] { return work_->take(options_.pollMax); });
        const auto left = deadline - runtime().clock().now();
        if (!messages.empty()) ConsumeTrace::Call(core_->trace(), messages).ended(true, false);
        if (!messages.empty() || left.count() <= 0) return messages;
        work_->wait(left);
    }
}

Status PullConsumer::Impl::commit() {
    std::promise<Status> written;
    runtime().loop().post([&] {
        work_->acknowledge();
        core_->offsets().persist([&written](const Status& status) { written.set_value(status); });
    });
    return written.get_future().get();
}

PullConsumer::PullConsumer(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
PullConsumer::PullConsumer(PullConsumer&&) noexcept = default;
PullConsumer& PullConsumer::operator=(PullConsumer&& other) noexcept {
    if (this == &other) return *this;
    close();
    impl_ = std::move(other.impl_);
    return *this;
}
PullConsumer::~PullConsumer() { close(); }

Result<PullConsumer> PullConsumer::create(PullOptions options) {
    if (auto status = client::check(options.consumer); !status) return status;
    if (options.pollMax < 1) return Status(StatusCode::InvalidArgument, "pollMax has to be at least 1");
    auto instance = ClientInstance::acquire(withStableName(options.consumer), {true, options.consumer.group});
    if (!instance) return instance.error();
    return PullConsumer(std::make_shared<Impl>(std::move(*instance), std::move(options)));
}

Status PullConsumer::subscribe(std::string_view topic, const Filter& filter) {
    auto data = subscriptionOf(impl_->options_.consumer.client.nameSpace, topic, filter);
    if (!data) return data.error();
    if (auto status = impl_->setMode(Impl::Mode::Subscribed); !status) return status;
    impl_->runtime().call([&] { impl_->core_->subscribe(std::move(*data)); });
    return impl_->start();
}

void PullConsumer::unsubscribe(std::string_view topic) {
    impl_->runtime().call([&] { impl_->core_->unsubscribe(impl_->fullName(topic)); });
}

Status PullConsumer::assign(const std::vector<MessageQueue>& queues) { return impl_->assign(queues); }
Result<std::vector<ReceivedMessage>> PullConsumer::poll(std::chrono::milliseconds timeout) { return impl_->poll(timeout); }
Status PullConsumer::commit() { return impl_->commit(); }

Status PullConsumer::seek(const MessageQueue& queue, std::int64_t offset) {
    const auto name = impl_->fullName(queue);
    return impl_->runtime().call([&] {
        const auto found = impl_->core_->queues().find(name);
        if (found == impl_->core_->queues().end()) {
            return Status(StatusCode::NotFound, "queue " + std::to_string(queue.queueId) + " of '" + queue.topic + "' on " + queue.brokerName + " is not this consumer's; see assignment()");
        }
        impl_->work_->forget(name);
        impl_->core_->offsets().update(name, offset, false);
        found->second->seek(offset);
        return Status::ok();
    });
}

void PullConsumer::pause(std::span<const MessageQueue> queues) {
    impl_->runtime().call([&] {
        for (const auto& queue : queues) {
            const auto found = impl_->core_->queues().find(impl_->fullName(queue));
            if (found != impl_->core_->queues().end()) found->second->paused = true;
        }
    });
}

void PullConsumer::resume(std::span<const MessageQueue> queues) {
    impl_->runtime().call([&] {
        for (const auto& queue : queues) {
            const auto found = impl_->core_->queues().find(impl_->fullName(queue));
            if (found == impl_->core_->queues().end()) continue;
            found->second->paused = false;
            found->second->drained();
        }
        impl_->work_->wake();
    });
}

Result<std::vector<MessageQueue>> PullConsumer::queuesOf(std::string_view topic) {
    const auto found = impl_->route(impl_->fullName(topic));
    if (!found) return found.error();
    return (*found)->toRead;
}

std::vector<MessageQueue> PullConsumer::assignment() const {
    return impl_->runtime().call([&] {
        std::vector<MessageQueue> queues;
        for (const auto& [queue, consumer] : impl_->core_->queues()) queues.push_back(queue);
        return queues;
    });
}

Result<std::int64_t> PullConsumer::committed(const MessageQueue& queue) {
    const auto name = impl_->fullName(queue);
    if (auto found = impl_->route(name.topic); !found) return found.error();
    std::promise<Result<std::int64_t>> promise;
    impl_->runtime().loop().post([&] {
        impl_->core_->offsets().read(name, [&promise](const Result<std::optional<std::int64_t>>& read) {
            if (!read) promise.set_value(read.error());
            else promise.set_value(read->value_or(-1));
        });
    });
    return promise.get_future().get();
}

const std::string& PullConsumer::clientId() const noexcept { return impl_->instance_->clientId(); }
void PullConsumer::close() {
    if (impl_) impl_->close();
}

}  // namespace patchbay::client
