#include "producer/ProducerImpl.h"

#include "patchbay/protocol/message/Names.h"
#include "runtime/Guarded.h"
#include "trace/SendTrace.h"

#include <future>
#include <utility>

namespace patchbay::client {

using namespace std::chrono_literals;

Status check(const ProducerOptions& options) {
    if (options.group.empty()) return {StatusCode::InvalidArgument, "ProducerOptions::group is empty; name the part of the application that sends"};
    if (auto status = protocol::validateGroupName(options.group); !status) return status;
    if (options.sendTimeout < 1ms) return {StatusCode::InvalidArgument, "sendTimeout has to be at least 1 ms"};
    if (options.retries < 0 || options.retries > 100) return {StatusCode::InvalidArgument, "retries has to be 0 to 100"};
    if (options.inFlightMax < 1 || options.inFlightMax > 1'000'000) return {StatusCode::InvalidArgument, "inFlightMax has to be 1 to 1000000"};
    if (options.gatherTime < 0ms || options.gatherTime > 1s) return {StatusCode::InvalidArgument, "gatherTime has to be 0 ms to 1 s"};
    if (options.gatherTime > 0ms) {
        if (options.gatherTime > options.sendTimeout / 2) {
            return {StatusCode::InvalidArgument, "gatherTime has to be at most half of sendTimeout, which begins when a message is given and not when its batch leaves"};
        }
        if (options.gatherBytes < 1 || options.gatherBytes > options.messageBytesMax / 2) {
            return {StatusCode::InvalidArgument, "gatherBytes has to be 1 to half of messageBytesMax"};
        }
    }
    if (options.queuesOfNewTopics < 1) return {StatusCode::InvalidArgument, "queuesOfNewTopics has to be at least 1"};
    return Status::ok();
}

Result<std::shared_ptr<Producer::Impl>> Producer::Impl::make(const ProducerOptions& options, CheckHandler handler) {
    if (auto status = client::check(options); !status) return status;
    auto instance = ClientInstance::acquire(options.client, {false, options.group});
    if (!instance) return instance.error();
    auto core = std::make_shared<ProducerCore>(*instance, options);
    if (options.trace) core->observe(std::make_shared<SendTrace>(*instance, options));
    auto impl = std::make_shared<Impl>(std::move(core), std::move(handler));
    (*instance)->runtime().call([&] { impl->open(); });
    return impl;
}

Producer::Impl::Impl(std::shared_ptr<ProducerCore> core, CheckHandler check) : core_(std::move(core)), check_(std::move(check)),
      gatherer_(core_->options().gatherTime.count() > 0 ? std::make_shared<Gatherer>(core_) : nullptr) {}

void Producer::Impl::send(Message message, const SendOptions& options, ProducerCore::Done done) {
    ProducerCore::Target target{options.orderKey, options.queue, options.selector};
    const auto deadline = core_->deadlineOf(options);
    if (gatherer_) {
        if (gatherer_->takes(message, options)) return gatherer_->send(std::move(message), std::move(target), deadline, std::move(done));
        gatherer_->flush(message.topic, target);
    }
    auto out = core_->outfitter().one(std::move(message));
    if (!out) return done(out.error());
    core_->send(std::move(*out), std::move(target), deadline, std::move(done));
}

void Producer::Impl::keepOrder(const std::string& topic, const ProducerCore::Target& target) {
    if (gatherer_ && (!target.orderKey.empty() || target.queue)) gatherer_->flush(topic, target);
}

void Producer::Impl::open() {
    core_->instance().add(*this);
    if (!core_->options().avoidSlowBrokers || !core_->options().probeSlowBrokers) return;
    probe_ = std::make_unique<LoopTimer>(core_->instance().runtime().loop());
    probe_->every(3s, 3s, [this] { core_->probe(); });
}

void Producer::Impl::close() {
    const bool inCallback = core_->instance().runtime().callbacks().onOwnThread();
    // Nobody waits for a callback that closes as well: it would wait for whoever began.
    if (inCallback) allDelivered();
    std::call_once(closed_, [this, inCallback] {
        if (gatherer_) gatherer_->flush();
        core_->close();
        auto& instance = core_->instance();
        std::promise<void> gone;
        instance.runtime().loop().post([&] {
            probe_.reset();
            if (auto* observer = core_->observer()) observer->flush();
            instance.remove(*this, [&gone] { gone.set_value(); });
        });
        gone.get_future().wait();
        instance.giveBack({false, core_->options().group});
        if (inCallback) return;
        instance.runtime().loop().post([self = shared_from_this()] { self->deliver([self] { self->allDelivered(); }); });
    });
    if (!inCallback) delivered_.wait();
}

void Producer::Impl::allDelivered() {
    std::call_once(told_, [this] { deliveredPromise_.set_value(); });
}

void Producer::Impl::run(const std::function<void()>& callback) const {
    std::string thrown;
    static_cast<void>(guarded([&] { return callback(), true; }, false, thrown));
    if (!thrown.empty()) core_->instance().log().warn("a callback threw: " + thrown);
}

void Producer::Impl::deliver(std::function<void()> callback) {
    auto& runtime = core_->instance().runtime();
    if (!runtime.loop().inLoop()) return runtime.callbacks().post([self = shared_from_this(), callback = std::move(callback)] { self->run(callback); });
    batch_.push_back(std::move(callback));
    if (batch_.size() > 1) return;
    runtime.loop().post([self = shared_from_this(), &runtime] {
        runtime.callbacks().post([self, batch = std::exchange(self->batch_, {})] {
            for (const auto& one : batch) self->run(one);
        });
    });
}

void Producer::Impl::serverRequest(Channel& channel, const protocol::RemotingCommand& request, protocol::SerializeType) {
    if (check_ && request.code == static_cast<std::int32_t>(protocol::RequestCode::CheckTransactionState)) check_(channel, request);
}

}  // namespace patchbay::client
