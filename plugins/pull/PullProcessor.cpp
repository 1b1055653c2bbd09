#include "PullProcessor.h"

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>

namespace patchbay::plugins::pull {

using protocol::ResponseCode;
using service::ReadStatus;

namespace {

// How often a read goes on that found nothing among as many messages as a store looks at. Tags lie in the queue, side by side.
constexpr int kFurtherByTags = 15;
constexpr int kFurtherByRecord = 3;

/// By the tags code that the queue keeps; clients compare the tags themselves.
class TagFilter final : public service::ReadFilter {
public:
    explicit TagFilter(const std::vector<std::int32_t>& codes) : codes_(codes) {}
    [[nodiscard]] bool matchesTags(std::int64_t tagsCode) const noexcept override {
        return std::ranges::find(codes_, static_cast<std::int32_t>(tagsCode)) != codes_.end();
    }

private:
    const std::vector<std::int32_t>& codes_;
};

/// By an expression over the properties.
class RecordFilter final : public service::ReadFilter {
public:
    explicit RecordFilter(const service::PropertyFilter& filter) : filter_(filter) {}
    [[nodiscard]] bool matchesTags(std::int64_t) const noexcept override { return true; }
    [[nodiscard]] bool needsRecord() const noexcept override { return true; }
    [[nodiscard]] bool matchesRecord(std::string_view record) const noexcept override {
        protocol::RecordView view;
        // What cannot be read is not for a filter to hide.
        if (protocol::RecordView::parse(record, view, protocol::RecordCheck::Layout) != protocol::RecordStatus::Message) return true;
        return filter_.matches(view.properties);
    }

private:
    const service::PropertyFilter& filter_;
};

ResponseCode codeOf(ReadStatus status, std::int64_t asked) noexcept {
    switch (status) {
        case ReadStatus::Found: return ResponseCode::Success;
        case ReadStatus::NoMatchedMessage:
        case ReadStatus::Gone: return ResponseCode::PullRetryImmediately;
        case ReadStatus::NoSuchQueue:
        case ReadStatus::QueueEmpty: return asked == 0 ? ResponseCode::PullNotFound : ResponseCode::PullOffsetMoved;
        case ReadStatus::OffsetAtEnd: return ResponseCode::PullNotFound;
        case ReadStatus::OffsetTooSmall:
        case ReadStatus::OffsetBeyondEnd: return ResponseCode::PullOffsetMoved;
        case ReadStatus::NotResident:
        case ReadStatus::Failed: break;
    }
    return ResponseCode::SystemError;
}

// RocketMQ's names of these outcomes; clients print them.
std::string_view remarkOf(ReadStatus status) noexcept {
    switch (status) {
        case ReadStatus::Found: return "FOUND";
        case ReadStatus::NoMatchedMessage: return "NO_MATCHED_MESSAGE";
        case ReadStatus::Gone: return "MESSAGE_WAS_REMOVING";
        // RocketMQ makes a queue when it is asked for, so its clients never hear of one that is not there.
        case ReadStatus::NoSuchQueue: return "NO_MESSAGE_IN_QUEUE";
        case ReadStatus::QueueEmpty: return "NO_MESSAGE_IN_QUEUE";
        case ReadStatus::OffsetAtEnd: return "OFFSET_OVERFLOW_ONE";
        case ReadStatus::OffsetTooSmall: return "OFFSET_TOO_SMALL";
        case ReadStatus::OffsetBeyondEnd: return "OFFSET_OVERFLOW_BADLY";
        case ReadStatus::NotResident:
        case ReadStatus::Failed: break;
    }
    return "store getMessage return null";
}

service::PullOutcome outcomeOf(ResponseCode code, bool held) noexcept {
    switch (code) {
        case ResponseCode::Success: return service::PullOutcome::Delivered;
        case ResponseCode::PullRetryImmediately: return service::PullOutcome::Filtered;
        case ResponseCode::PullOffsetMoved: return service::PullOutcome::Moved;
        default: return held ? service::PullOutcome::Held : service::PullOutcome::AtEnd;
    }
}

}  // namespace

void PullProcessor::process(plugin::Request request) {
    protocol::PullMessageRequest pull;
    if (const auto parsed = protocol::PullMessageRequest::parse(request.command(), pull); !parsed) {
        std::move(request).respond(ResponseCode::SystemError, parsed.message());
        return;
    }
    const bool lite = request.command().code == static_cast<std::int32_t>(protocol::RequestCode::LitePullMessage);
    Admission admission;
    if (auto refusal = checks_.admit(pull, lite, request.peer(), admission)) {
        plugin::Response response(refusal->code, std::move(refusal->remark));
        response.fields().markPresent();
        if (refusal->forbiddenType != 0) response.fields().add("forbiddenType", refusal->forbiddenType);
        std::move(request).respond(std::move(response));
        return;
    }
    if (!request.again() && (pull.sysFlag & protocol::kPullFlagCommitOffset) != 0) {
        services_.offsets->commitFrom(request.peer(), pull.consumerGroup, pull.topic, pull.queueId, pull.commitOffset);
    }
    service::ReadResult& result = lanes_[request.lane()].result;
    // Before a reset is taken, which is given out once: what follows may ask for the ends of the queue and must not wait for them here.
    read(pull, admission, !request.deferred(), result);
    if (result.status == ReadStatus::NotResident) {
        std::move(request).defer();
        return;
    }
    std::string_view remark = remarkOf(result.status);
    if (const std::int64_t start = startedElsewhere(pull, admission, request.peer()); start >= 0) {
        const auto [min, max] = std::pair(result.minOffset, result.maxOffset);
        result.clear();
        result.status = ReadStatus::OffsetBeyondEnd;
        result.nextOffset = start;
        result.minOffset = min;
        result.maxOffset = max;
        remark = "OFFSET_RESET";
    }
    const ResponseCode code = codeOf(result.status, pull.queueOffset);
    const bool mayHold = !request.again() && (pull.sysFlag & protocol::kPullFlagSuspend) != 0 && code == ResponseCode::PullNotFound;
    note(pull, admission, request.peer(), result, mayHold);
    if (mayHold) {
        if (Seat seat = hold_.seatFor(request.peer()); !seat) {
            remark = unseatedRemark_;
            log_.limited(plugin::LogLevel::Warn, "a connection has as many pulls held as it may (heldPullsOfConnectionMax)",
                         {{"client", request.peer().remote().toString()}, {"held", config_.heldPullsOfConnectionMax}});
        } else if (tryHold(pull, admission, std::move(seat), request)) {
            return;
        }
    }
    answer(std::move(request), pull, admission, result, remark);
}

std::int64_t PullProcessor::startedElsewhere(const protocol::PullMessageRequest& pull, const Admission& admission,
                                             const plugin::Peer& peer) const {
    if (const auto reset = services_.offsets->takeReset(pull.consumerGroup, pull.topic, pull.queueId)) return *reset;
    if (!admission.broadcasting) return -1;
    std::string clientId;
    return services_.offsets->broadcastStart(broadcastPull(pull, peer, clientId));
}

service::BroadcastPull PullProcessor::broadcastPull(const protocol::PullMessageRequest& pull, const plugin::Peer& peer,
                                                    std::string& clientId) const {
    const bool viaProxy = !pull.proxyForwardClientId.empty();
    clientId = viaProxy ? std::string(pull.proxyForwardClientId) : services_.clients->clientId(pull.consumerGroup, peer.id());
    return {pull.consumerGroup, pull.topic, clientId, pull.queueId, pull.queueOffset, viaProxy};
}

void PullProcessor::note(const protocol::PullMessageRequest& pull, const Admission& admission, const plugin::Peer& peer,
                         const service::ReadResult& result, bool mayHold) const {
    service::PullNote note;
    note.nextOffset = result.nextOffset;
    note.peer = peer.id();
    note.outcome = outcomeOf(codeOf(result.status, pull.queueOffset), mayHold);
    note.delivered = result.messages;
    note.bytes = result.bytes;
    note.readUs = result.tookUs;
    if (result.status == ReadStatus::Found || result.status == ReadStatus::NoMatchedMessage) {
        note.filtered = std::max<std::int64_t>(result.nextOffset - pull.queueOffset - result.messages, 0);
    }
    services_.offsets->notePull(pull.consumerGroup, pull.topic, pull.queueId, note);
    if (!admission.broadcasting) return;
    std::string clientId;
    const auto broadcast = broadcastPull(pull, peer, clientId);
    if (clientId.empty()) return;
    services_.offsets->noteBroadcast(broadcast, note.outcome == service::PullOutcome::Moved ? result.nextOffset : pull.queueOffset);
}

void PullProcessor::read(const protocol::PullMessageRequest& pull, const Admission& admission, bool hotOnly,
                         service::ReadResult& result) const {
    service::ReadLimits limits;
    // RocketMQ answers one message to a client that asks for none.
    limits.messagesMax = std::clamp(pull.maxMsgNums, 1, limits_.messagesMax.load(std::memory_order_relaxed));
    limits.bytesMax = limits_.bytesMax.load(std::memory_order_relaxed);
    limits.hotOnly = hotOnly;
    const auto readBy = [&](const service::ReadFilter* filter, int further) {
        services_.store->read(pull.topic, pull.queueId, pull.queueOffset, limits, filter, result);
        // Otherwise the client would be told to ask again, and who wants a few of many messages gets each of them by two pulls.
        while (further-- > 0 && result.status == ReadStatus::NoMatchedMessage && result.nextOffset < result.maxOffset) {
            const auto [next, took] = std::pair(result.nextOffset, result.tookUs);
            services_.store->read(pull.topic, pull.queueId, next, limits, filter, result);
            result.tookUs += took;
            if (result.status == ReadStatus::Found || result.status == ReadStatus::NoMatchedMessage) continue;
            // What is wrong there the next pull is told.
            result.status = ReadStatus::NoMatchedMessage;
            result.nextOffset = next;
            return;
        }
    };
    if (admission.filter) {
        const RecordFilter filter(*admission.filter);
        readBy(&filter, kFurtherByRecord);
    } else if (!admission.tagCodes.empty()) {
        const TagFilter filter(admission.tagCodes);
        readBy(&filter, kFurtherByTags);
    } else {
        readBy(nullptr, 0);
    }
}

bool PullProcessor::tryHold(const protocol::PullMessageRequest& pull, Admission& admission, Seat seat, plugin::Request& request) {
    const auto asked = config_.longPolling ? std::chrono::milliseconds(std::max<std::int64_t>(pull.suspendTimeoutMillis, 0))
                                           : config_.shortPolling;
    const auto wait = std::min(asked, std::chrono::milliseconds(std::chrono::hours(24)));
    const std::int32_t queueId = pull.queueId;
    const std::int64_t offset = pull.queueOffset;
    // hold() moves the header, and with it the text of the topic.
    const std::string topic(pull.topic);
    const QueueRef queue{topic, queueId};
    auto share = hold_.shareFor(request.command().header().size() + PullHold::bytesOfTags(admission.tagCodes.size()));
    if (!share) {
        log_.limited(plugin::LogLevel::Warn, "held pulls take as much memory as they may (heldPullsBytesMax)",
                     {{"client", request.peer().remote().toString()}, {"limit", config_.heldPullsBytesMax}});
        return false;
    }
    Wanted wanted{offset, std::move(admission.filter), std::move(seat), std::move(*share)};
    if (!hold_.hold(queue, admission.tagCodes, std::move(wanted), clock_.now() + wait, request)) return false;
    if (const auto end = services_.store->range(topic, queueId).max; end > offset) hold_.wakeBelow(queue, end);
    return true;
}

void PullProcessor::answer(plugin::Request request, const protocol::PullMessageRequest& pull, const Admission& admission,
                           service::ReadResult& result, std::string_view remark) const {
    plugin::Response response(codeOf(result.status, pull.queueOffset));
    response.remark = remark;
    protocol::PullMessageResponse header;
    header.nextBeginOffset = result.nextOffset;
    header.minOffset = result.minOffset;
    header.maxOffset = result.maxOffset;
    if (config_.slaveRead) {
        header.suggestWhichBrokerId = result.farBehind ? admission.group.whichBrokerWhenConsumeSlowly : admission.group.brokerId;
    }
    header.topicSysFlag = admission.topic.sysFlag;
    header.groupSysFlag = admission.group.sysFlag;
    header.write(response.fields());
    if (result.status == ReadStatus::Found) {
        response.body.swap(result.pieces);
        response.keep.swap(result.keep);
    }
    std::move(request).respond(std::move(response));
}

}  // namespace patchbay::plugins::pull
