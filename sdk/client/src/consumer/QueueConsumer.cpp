#include "consumer/QueueConsumer.h"

#include "consumer/ConsumerCore.h"
#include "message/MessageData.h"
#include "patchbay/protocol/message/PropertyNames.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <utility>

namespace patchbay::client {

using namespace std::chrono_literals;
using protocol::PullMessageResponse;
using protocol::ResponseCode;

namespace {

// How much longer than the broker may keep the question its answer may take.
constexpr auto kAnswerTime = 5s;
constexpr auto kPauseAfterError = 1000ms;
constexpr auto kPauseAfterFlowControl = 20ms;
constexpr std::int32_t kAnswerBytes = 262'144;

}  // namespace

QueueConsumer::QueueConsumer(ConsumerCore& core, MessageQueue queue, std::int64_t offset)
    : core_(core), queue_(std::move(queue)), next_(offset), timer_(core.loop()), startedAt_(core.loop().now()) {}

void QueueConsumer::drop() noexcept {
    dropped_.store(true, std::memory_order_release);
    timer_.cancel();
}

void QueueConsumer::seek(std::int64_t offset) {
    inbox_.clear();
    next_ = offset;
    ++turn_;
    asking_ = false;
    timer_.cancel();
    pull();
}

bool QueueConsumer::isFull() const {
    const auto& options = core_.options();
    if (inbox_.count() >= options.queueMessagesMax || inbox_.bytes() >= options.queueBytesMax) return true;
    return !core_.isOrderly() && inbox_.span() > options.spanMax;
}

// A full inbox needs no timer: whoever empties it calls drained().
void QueueConsumer::pull() {
    if (isDropped() || asking_ || timer_.planned() || paused || core_.isPaused() || isFull()) return;
    if (core_.isOrderly() && !locked) return;
    const auto address = core_.instance().routes().addressOf(queue_.brokerName, brokerId_);
    if (address.empty()) return later(kPauseAfterError);
    auto frame = request();
    if (!frame) return failed(frame.error(), 0);
    asking_ = true;
    lastPull_ = core_.loop().now();
    const auto deadline = core_.loop().clock().now() + core_.options().pullSuspend + kAnswerTime;
    core_.instance().channels().send(address, std::move(*frame), deadline,
                                     makeCall([self = shared_from_this(), turn = turn_](const Status& status, const protocol::CommandView* answer) {
                                         self->answered(turn, status, answer);
                                     }));
}

void QueueConsumer::drained() {
    if (!timer_.planned()) pull();
}

void QueueConsumer::later(std::chrono::milliseconds delay) {
    if (!isDropped()) timer_.once(delay, [this] { pull(); });
}

Result<Frame> QueueConsumer::request() {
    const auto* subscription = core_.subscription(queue_.topic);
    const auto committed = core_.isClustering() && !core_.isLite() ? core_.offsets().known(queue_) : -1;
    protocol::PullMessageRequest header;
    header.consumerGroup = core_.group();
    header.topic = queue_.topic;
    header.queueId = queue_.queueId;
    header.queueOffset = next_;
    header.maxMsgNums = core_.options().pullBatch;
    header.sysFlag = protocol::kPullFlagSuspend;
    if (committed > 0 && brokerId_ == protocol::kMasterId) header.sysFlag |= protocol::kPullFlagCommitOffset;
    header.commitOffset = committed > 0 ? committed : 0;
    header.suspendTimeoutMillis = core_.options().pullSuspend.count();
    header.maxMsgBytes = kAnswerBytes;
    if (core_.isLite()) header.sysFlag |= protocol::kPullFlagSubscription | protocol::kPullFlagLitePull;
    if (subscription != nullptr) {
        header.subVersion = core_.isLite() ? 0 : subscription->subVersion;
        header.expressionType = subscription->expressionType;
        if (core_.isLite()) header.subscription = subscription->subString;
    } else {
        header.expressionType = protocol::kExpressionTypeTag;
        if (core_.isLite()) header.subscription = protocol::kSubscribeAll;
    }
    protocol::FieldList fields;
    header.write(fields);
    fields.add("bname", queue_.brokerName);
    const auto code = core_.isLite() ? protocol::RequestCode::LitePullMessage : protocol::RequestCode::PullMessage;
    return core_.instance().frames().request(static_cast<std::int32_t>(code), fields, {});
}

void QueueConsumer::answered(std::uint64_t turn, const Status& status, const protocol::CommandView* answer) {
    if (isDropped() || turn != turn_) return;
    asking_ = false;
    if (!status) return failed(status, 0);
    const auto code = static_cast<ResponseCode>(answer->code);
    const bool known = code == ResponseCode::Success || code == ResponseCode::PullNotFound || code == ResponseCode::PullRetryImmediately ||
                       code == ResponseCode::PullOffsetMoved;
    if (!known) return failed(statusOf(answer->code, answer->remark(), "pulling from '" + queue_.topic + "'"), answer->code);
    const auto header = PullMessageResponse::parse(*answer);
    if (!header) return failed(header.error(), 0);
    brokerId_ = header->suggestWhichBrokerId;
    if (code == ResponseCode::Success) return found(*header, answer->body);
    if (code == ResponseCode::PullOffsetMoved) return core_.offsetMoved(shared_from_this(), header->nextBeginOffset);
    nothing(*header);
}

void QueueConsumer::found(const PullMessageResponse& header, std::string_view body) {
    auto messages = decodeMessages(body, queue_.brokerName, core_.adjuster());
    if (!messages) return failed(messages.error(), 0);
    core_.filter(queue_.topic, *messages);
    next_ = header.nextBeginOffset;
    if (messages->empty()) {
        nothing(header);
        return;
    }
    inbox_.add(*messages);
    inbox_.passed(next_);
    const auto self = shared_from_this();
    if (core_.options().pullInterval.count() > 0) later(core_.options().pullInterval);
    else pull();
    core_.arrived(self);
}

// Nothing that is wanted: progress goes on over what was passed by.
void QueueConsumer::nothing(const PullMessageResponse& header) {
    next_ = header.nextBeginOffset;
    if (inbox_.count() == 0) core_.passed(*this, next_);
    else inbox_.passed(next_);   // for the commit after the last one that is here: the next answer may be long in coming
    pull();
}

void QueueConsumer::failed(const Status& why, std::int32_t code) {
    if (why.code() == StatusCode::Cancelled) return;
    const auto meaning = static_cast<ResponseCode>(code);
    if (meaning == ResponseCode::FlowControl) return later(kPauseAfterFlowControl);
    brokerId_ = protocol::kMasterId;
    // The broker has lost, or not yet heard, what this group wants.
    if (meaning == ResponseCode::SubscriptionNotExist || meaning == ResponseCode::SubscriptionNotLatest) core_.instance().heartbeat(true);
    else core_.instance().log().info("pulling queue " + std::to_string(queue_.queueId) + " of '" + queue_.topic + "': " + why.message());
    later(kPauseAfterError);
}

}  // namespace patchbay::client
