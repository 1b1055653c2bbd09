#include "producer/SendJob.h"

#include "patchbay/protocol/headers/SendMessage.h"

#include <algorithm>
#include <utility>

namespace patchbay::client {

using protocol::ResponseCode;
using std::chrono::milliseconds;

namespace {

// A single broker that has just failed gets this long before it is tried again, twice as long each time.
constexpr milliseconds kPauseBeforeSameBroker{40};

bool mayRetry(std::int32_t code) noexcept {
    switch (static_cast<ResponseCode>(code)) {
        case ResponseCode::TopicNotExist:
        case ResponseCode::ServiceNotAvailable:
        case ResponseCode::SystemError:
        case ResponseCode::SystemBusy:
        case ResponseCode::NoPermission:
        case ResponseCode::NoBuyerId:
        case ResponseCode::NotInCurrentUnit:
        case ResponseCode::GoAway: return true;
        default: return false;
    }
}

SendStatus statusOfSend(std::int32_t code) noexcept {
    switch (static_cast<ResponseCode>(code)) {
        case ResponseCode::FlushDiskTimeout: return SendStatus::FlushDiskTimeout;
        case ResponseCode::FlushSlaveTimeout: return SendStatus::FlushSlaveTimeout;
        case ResponseCode::SlaveNotAvailable: return SendStatus::SlaveNotAvailable;
        default: return SendStatus::Ok;
    }
}

}  // namespace

SendJob::SendJob(std::shared_ptr<ProducerCore> core, Outgoing message, ProducerCore::Target target, MonotonicTime deadline,
                 ProducerCore::Done done)
    : core_(std::move(core)), message_(std::move(message)), target_(std::move(target)), deadline_(deadline), done_(std::move(done)),
      started_(core_->instance().runtime().clock().now()), startedMs_(core_->instance().runtime().clock().wallMs()),
      left_(core_->options().retries) {}

SendJob::~SendJob() {
    if (done_) core_->finished();
}

void SendJob::start(Self self) {
    auto& job = *self;
    auto& instance = job.core_->instance();
    if (const auto route = instance.routes().known(job.message_.topic)) {
        if (const auto status = job.prepare(*route); !status) return job.end(status);
    }
    instance.runtime().loop().post(*self.release());
}

void SendJob::run() noexcept {
    Self self(this);
    if (frame_.bytes.size() > 0) return write(std::move(self));
    attempt(std::move(self));
}

void SendJob::discard() noexcept {
    const Self self(this);
    end(Status(StatusCode::Cancelled, "the client was closed"));
}

void SendJob::attempt(Self self) {
    auto& routes = core_->instance().routes();
    // Shared only to fit into a std::function; there is one owner.
    auto held = std::make_shared<Self>(std::move(self));
    routes.getToWrite(message_.topic, core_->options().queuesOfNewTopics, deadline_, [held](const Result<RoutePtr>& route) {
        Self job = std::move(*held);
        SendJob& its = *job;
        if (!route) {
            const bool final = route.error().code() == StatusCode::NotFound || route.error().code() == StatusCode::Cancelled;
            return final ? its.end(route.error()) : its.again(std::move(job), route.error());
        }
        if (const auto status = its.prepare(**route); !status) return its.end(status);
        its.write(std::move(job));
    });
}

Status SendJob::prepare(const Route& route) {
    auto queue = core_->choose(route, target_, failedBroker_);
    if (!queue) return queue.error();
    queue_ = std::move(*queue);
    const auto* address = route.masterOf(queue_.brokerName);
    address_ = address != nullptr ? *address : core_->instance().routes().addressOf(queue_.brokerName, protocol::kMasterId, true);
    if (address_.empty()) {
        return {StatusCode::Unavailable, "broker '" + queue_.brokerName + "' of topic '" + message_.topic + "' has no master just now"};
    }
    auto frame = core_->frameFor(message_, queue_);
    if (!frame) return frame.error();
    frame_ = std::move(*frame);
    return Status::ok();
}

void SendJob::write(Self self) {
    started_ = core_->instance().runtime().clock().now();
    core_->instance().channels().send(address_, std::exchange(frame_, {}), deadline_, CallPtr(std::move(self)));
}

milliseconds SendJob::elapsed() const {
    return std::chrono::duration_cast<milliseconds>(core_->instance().runtime().clock().now() - started_);
}

void SendJob::answered(CallPtr call, const protocol::CommandView& answer) noexcept {
    auto self = own(std::move(call));
    if (accepts(answer.code)) {
        auto receipt = receiptOf(answer);
        if (core_->options().avoidSlowBrokers) core_->faults().note(queue_.brokerName, elapsed(), false, true);
        const bool stored = receipt && receipt->status == SendStatus::Ok;
        if (stored || !core_->options().retryWhenNotStored || left_ == 0) return end(std::move(receipt));
        return again(std::move(self), {StatusCode::Unavailable, "the broker could not secure the message in time"});
    }
    if (core_->options().avoidSlowBrokers) core_->faults().note(queue_.brokerName, elapsed(), true, !core_->options().probeSlowBrokers);
    const auto why = statusOf(answer.code, answer.remark(), "sending to '" + message_.topic + "' on " + address_);
    if (!mayRetry(answer.code)) return end(why);
    again(std::move(self), why);
}

void SendJob::failed(CallPtr call, const Status& why) noexcept {
    auto self = own(std::move(call));
    if (why.code() == StatusCode::Cancelled) return end(why);
    if (core_->options().avoidSlowBrokers) core_->faults().note(queue_.brokerName, elapsed(), true, !core_->options().probeSlowBrokers);
    again(std::move(self), why);
}

bool SendJob::accepts(std::int32_t code) const noexcept {
    return code == 0 || statusOfSend(code) != SendStatus::Ok;
}

Result<SendReceipt> SendJob::receiptOf(const protocol::CommandView& answer) {
    const auto header = protocol::SendMessageResponse::parse(answer);
    if (!header) return header.error();
    SendReceipt receipt;
    receipt.status = statusOfSend(answer.code);
    receipt.messageId = header->batchUniqId.empty() ? message_.id : std::string(header->batchUniqId);
    receipt.offsetMessageId = header->msgId;
    receipt.queue = queue_;
    receipt.queue.queueId = header->queueId;
    receipt.queueOffset = header->queueOffset;
    receipt.transactionId = header->transactionId;
    receipt.recallHandle = header->recallHandle;
    if (auto* observer = core_->observer(); observer != nullptr && header->traceOn.value_or(false)) {
        observer->sent(message_, receipt, header->region, address_, startedMs_, elapsed());
    }
    return receipt;
}

void SendJob::again(Self self, const Status& why) {
    const auto now = core_->instance().runtime().clock().now();
    if (left_ == 0 || now >= deadline_) return end(why);
    --left_;
    const bool sameBroker = failedBroker_ == queue_.brokerName || core_->instance().routes().brokers(false).size() < 2;
    failedBroker_ = queue_.brokerName;
    // The broker may have moved; what is known stays in use until the name server answers.
    core_->instance().routes().refresh(message_.topic, deadline_, [](const Result<RoutePtr>&) {});
    if (!sameBroker) return attempt(std::move(self));
    const auto pause = std::min<std::chrono::nanoseconds>(kPauseBeforeSameBroker * (1 << std::min(core_->options().retries - left_, 6)), deadline_ - now);
    auto held = std::make_shared<Self>(std::move(self));
    core_->instance().runtime().loop().after(std::chrono::ceil<milliseconds>(pause), [held, instance = core_->shared(), why] {
        if (instance->runtime().clock().now() >= (*held)->deadline_) return (*held)->end(why);
        auto& job = **held;
        job.attempt(std::move(*held));
    });
}

void SendJob::end(Result<SendReceipt> result) {
    core_->finished();
    std::exchange(done_, {})(std::move(result));
}

}  // namespace patchbay::client
