#include "patchbay/client/PushConsumer.h"

#include "consumer/ConcurrentWork.h"
#include "consumer/ConsumerCheck.h"
#include "consumer/OrderlyWork.h"
#include "message/Namespace.h"
#include "runtime/OnLoop.h"

#include <future>
#include <mutex>
#include <utility>

namespace patchbay::client {

using namespace std::chrono_literals;

class PushConsumer::Impl {
public:
    Impl(ClientInstance::Pointer instance, const ConsumerOptions& options)
        : instance_(std::move(instance)), core_(makeOnLoop<ConsumerCore>(instance_->runtime(), instance_, options)),
          pool_(std::make_shared<ListenerPool>(instance_->runtime().clock(), options.threads)), group_(options.group) {}
    ~Impl() { close(); }

    template <typename Work, typename Handler>
    Status start(Handler handler, bool orderly);
    void close();

    [[nodiscard]] Runtime& runtime() noexcept { return instance_->runtime(); }
    [[nodiscard]] ConsumerCore& core() noexcept { return *core_; }
    [[nodiscard]] ClientInstance& instance() noexcept { return *instance_; }

private:
    void waitForSendBacks();

    const ClientInstance::Pointer instance_;
    const std::shared_ptr<ConsumerCore> core_;
    const std::shared_ptr<ListenerPool> pool_;
    const std::string group_;
    std::shared_ptr<MessageSink> work_;
    std::function<std::size_t()> pending_;  // messages on their way back
    std::mutex mutex_;                      // start and close
    bool started_ = false;
    bool closed_ = false;
};

template <typename Work, typename Handler>
Status PushConsumer::Impl::start(Handler handler, bool orderly) {
    const std::lock_guard lock(mutex_);
    if (closed_) return {StatusCode::Unavailable, "the consumer is closed"};
    if (started_) return {StatusCode::AlreadyExists, "the consumer has been started already"};
    if (!handler) return {StatusCode::InvalidArgument, "the listener is empty"};
    auto work = runtime().call([&] { return makeOnLoop<Work>(runtime(), core_, pool_, std::move(handler)); });
    work_ = work;
    pending_ = [work] { return work->pending(); };
    std::promise<Status> promise;
    runtime().loop().post([&] {
        core_->begin({.lite = false, .orderly = orderly}, *work_, [&promise](const Status& status) { promise.set_value(status); });
    });
    auto status = promise.get_future().get();
    started_ = status.isOk();
    return status;
}

// Messages in work are finished first, then those that failed are handed back, then progress is written: whoever gets the queues next begins
// behind all of them.
void PushConsumer::Impl::close() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    runtime().call([&] { core_->stopPulling(); });
    if (!pool_->close(core_->options().closeTimeout)) {
        instance_->log().warn("a listener was still at work after closeTimeout; its messages come again");
    }
    if (work_) {
        runtime().call([&] { work_->takeIn(); });
        waitForSendBacks();
    }
    if (started_) {
        std::promise<void> gone;
        runtime().loop().post([&] { core_->end([&gone] { gone.set_value(); }); });
        gone.get_future().wait();
    }
    instance_->giveBack({true, group_});
}

void PushConsumer::Impl::waitForSendBacks() {
    // The loop is asked now and then: this happens once in a consumer's life, and mostly there is nothing to wait for.
    for (int i = 0; i < 600 && runtime().call([&] { return pending_(); }) > 0; ++i) {
        std::promise<void> later;
        runtime().loop().post([&] { runtime().loop().after(10ms, [&later] { later.set_value(); }); });
        later.get_future().wait();
    }
}

PushConsumer::PushConsumer(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
PushConsumer::PushConsumer(PushConsumer&&) noexcept = default;
PushConsumer& PushConsumer::operator=(PushConsumer&& other) noexcept {
    if (this == &other) return *this;
    close();
    impl_ = std::move(other.impl_);
    return *this;
}
PushConsumer::~PushConsumer() { close(); }

Result<PushConsumer> PushConsumer::create(ConsumerOptions options) {
    if (auto status = client::check(options); !status) return status;
    auto instance = ClientInstance::acquire(withStableName(options), {true, options.group});
    if (!instance) return instance.error();
    return PushConsumer(std::make_shared<Impl>(std::move(*instance), options));
}

Status PushConsumer::subscribe(std::string_view topic, const Filter& filter) {
    auto& core = impl_->core();
    auto data = subscriptionOf(core.options().client.nameSpace, topic, filter);
    if (!data) return data.error();
    impl_->runtime().call([&] { core.subscribe(std::move(*data)); });
    return Status::ok();
}

void PushConsumer::unsubscribe(std::string_view topic) {
    auto& core = impl_->core();
    impl_->runtime().call([&] { core.unsubscribe(withNamespace(core.options().client.nameSpace, topic)); });
}

Status PushConsumer::consume(Listener listener) { return impl_->start<ConcurrentWork>(std::move(listener), false); }
Status PushConsumer::consumeOrderly(OrderlyListener listener) { return impl_->start<OrderlyWork>(std::move(listener), true); }

void PushConsumer::suspend() {
    impl_->runtime().call([&] { impl_->core().setPaused(true); });
}
void PushConsumer::resume() {
    impl_->runtime().call([&] { impl_->core().setPaused(false); });
}

std::map<MessageQueue, std::int64_t> PushConsumer::progress() const {
    return impl_->runtime().call([&] {
        std::map<MessageQueue, std::int64_t> all;
        for (const auto& [queue, consumer] : impl_->core().queues()) all[queue] = impl_->core().offsets().known(queue);
        return all;
    });
}

const std::string& PushConsumer::clientId() const noexcept { return impl_->instance().clientId(); }
void PushConsumer::close() {
    if (impl_) impl_->close();
}

}  // namespace patchbay::client
