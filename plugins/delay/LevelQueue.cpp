#include "LevelQueue.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/Hash.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace patchbay::plugins::delay {

using service::AppendItem;
using service::AppendStatus;
using service::ReadStatus;
using std::chrono::milliseconds;

namespace {

constexpr service::ReadLimits kBatchLimits{256, 1 << 20, false};
constexpr milliseconds kRetryAfter{100};
// The wall clock may be set forward while a level waits by the monotonic one.
constexpr std::int64_t kWaitMsMax = 10'000;

/// True when another try cannot end differently.
bool isHopeless(AppendStatus status) noexcept {
    return status == AppendStatus::MessageIllegal || status == AppendStatus::PropertiesSizeExceeded;
}

}  // namespace

LevelQueue::LevelQueue(const LevelContext& context, LevelOwner& owner, std::int32_t level, std::int64_t delayMs)
    : context_(context), owner_(owner), level_(level), queueId_(level - 1), delayMs_(delayMs), next_(context.progress.at(level)) {}

void LevelQueue::done() noexcept {
    ended_.store(true, std::memory_order_release);
    owner_.appendEnded();
}

MonotonicTime LevelQueue::step() {
    settle();
    if (inFlight_ || idle_.load(std::memory_order_relaxed)) return MonotonicTime::max();
    if (context_.clock.now() < notBefore_) return notBefore_;
    if (items.empty()) {
        const MonotonicTime again = lookAtHead();
        // Who sleeps is woken by a message and must not wait then.
        notBefore_ = again == MonotonicTime::max() ? MonotonicTime{} : again;
        if (items.empty()) return again;
    }
    submit();
    return MonotonicTime::max();
}

void LevelQueue::settle() {
    if (!inFlight_ || !ended_.exchange(false, std::memory_order_acquire)) return;
    inFlight_ = false;
    const std::size_t before = items.size();
    std::uint64_t hopeless = 0;
    std::erase_if(items, [&](const AppendItem& item) {
        if (!isHopeless(item.status)) return service::isStored(item.status);
        ++hopeless;
        context_.log.limited(plugin::LogLevel::Error, "a delayed message is refused for good and passed over",
                             {{"topic", item.topic}, {"queue", item.queueId}, {"level", level_}, {"below", next_}});
        return true;
    });
    context_.undeliverable.add(hopeless);
    context_.delivered.add(before - items.size() - hopeless);
    if (items.empty()) {
        context_.progress.set(level_, next_);
        read_.clear();
        return;
    }
    notBefore_ = context_.clock.now() + kRetryAfter;
    context_.log.limited(plugin::LogLevel::Warn, "delayed messages are refused by the store and tried again",
                         {{"level", level_}, {"messages", items.size()}, {"problem", failure.message()}});
}

MonotonicTime LevelQueue::lookAtHead() {
    while (items.empty()) {
        const auto stored = context_.store.storeTimeAt(protocol::kTopicSchedule, queueId_, next_);
        if (stored) {
            const std::int64_t wait = waitMs(*stored);
            if (wait > 0) return context_.clock.now() + milliseconds(std::min(wait, kWaitMsMax));
        }
        const std::int64_t before = next_;
        readDue();
        if (!items.empty()) break;
        if (next_ != before) {
            context_.progress.set(level_, next_);
            continue;
        }
        if (read_.status == ReadStatus::Found || read_.status == ReadStatus::Gone) return context_.clock.now() + kRetryAfter;
        if (isUnreadable()) return context_.clock.now() + milliseconds(kWaitMsMax);
        if (sleep()) return MonotonicTime::max();
    }
    return {};
}

bool LevelQueue::isUnreadable() const {
    if (read_.status == ReadStatus::Failed) return true;
    if (read_.status != ReadStatus::NoSuchQueue) return false;
    return std::ranges::any_of(context_.store.queues(), [this](const service::QueueKey& queue) {
        return queue.topic == protocol::kTopicSchedule && queue.queueId == queueId_;
    });
}

std::int64_t LevelQueue::waitMs(std::int64_t storeTimestamp) {
    const std::int64_t now = context_.clock.wallMs();
    // Stored in the future: the clock was set back. Such messages wait as if they had been stored when that was noticed.
    clockAheadMs_ = storeTimestamp > now ? std::max(clockAheadMs_, storeTimestamp - now) : 0;
    return storeTimestamp - clockAheadMs_ + delayMs_ - now;
}

void LevelQueue::readDue() {
    context_.store.read(protocol::kTopicSchedule, queueId_, next_, kBatchLimits, nullptr, read_);
    switch (read_.status) {
        case ReadStatus::Found: {
            bool due = true;
            for (const std::string_view piece : read_.pieces) {
                if (due) takePiece(piece, due);
            }
            return;
        }
        case ReadStatus::OffsetTooSmall:
        case ReadStatus::OffsetBeyondEnd:
        case ReadStatus::Gone: advanceTo(read_.nextOffset); return;
        default:
            // A queue that is not there any more starts at its beginning when it comes back.
            if (next_ > read_.maxOffset && !isUnreadable()) advanceTo(read_.maxOffset);
            return;
    }
}

void LevelQueue::takePiece(std::string_view piece, bool& due) {
    protocol::RecordView record;
    while (due && !piece.empty()) {
        if (protocol::RecordView::parse(piece, record, protocol::RecordCheck::Layout) != protocol::RecordStatus::Message) {
            context_.log.error("a delayed message is damaged and passed over", {{"level", level_}, {"offset", next_}});
            context_.undeliverable.add();
            due = false;
            ++next_;
            return;
        }
        if (waitMs(record.storeTimestamp) > 0) {
            due = false;
            return;
        }
        if (AppendItem item; rebuild(record, item) == Fate::Deliver) items.push_back(item);
        next_ = record.queueOffset + 1;
        piece.remove_prefix(static_cast<std::size_t>(record.size));
    }
}

LevelQueue::Fate LevelQueue::rebuild(const protocol::RecordView& record, AppendItem& item) {
    item.topic = protocol::findProperty(record.properties, protocol::kPropertyRealTopic);
    const std::string_view queue = protocol::findProperty(record.properties, protocol::kPropertyRealQueueId);
    const auto [end, error] = std::from_chars(queue.data(), queue.data() + queue.size(), item.queueId);
    // Half messages come with their transaction, never from here.
    if (item.topic.empty() || item.topic == protocol::kTopicTransHalf || error != std::errc() ||
        end != queue.data() + queue.size() || item.queueId < 0) {
        context_.log.limited(plugin::LogLevel::Error, "a delayed message does not say where it belongs and is passed over",
                             {{"level", level_}, {"position", record.physicalOffset}, {"topic", item.topic}, {"queue", queue}});
        context_.undeliverable.add();
        return Fate::PassOver;
    }
    item.body = record.body;
    item.properties = record.properties;
    item.bornHost = record.bornHost();
    item.storeHost = record.storeHost();
    item.bornTimestamp = record.bornTimestamp;
    item.tagsCode = protocol::tagsCode(protocol::findProperty(record.properties, protocol::kPropertyTags));
    item.flag = record.flag;
    item.sysFlag = record.sysFlag;
    item.reconsumeTimes = record.reconsumeTimes;
    item.waitStored = false;
    return Fate::Deliver;
}

void LevelQueue::submit() {
    inFlight_ = true;
    failure = Status::ok();
    owner_.appendStarts();
    context_.store.append(*this);
}

void LevelQueue::advanceTo(std::int64_t offset) {
    if (offset == next_) return;
    context_.log.warn("the delivery of a delay level goes on at another offset",
                      {{"level", level_}, {"from", next_}, {"to", offset}});
    next_ = offset;
}

bool LevelQueue::sleep() {
    idle_.exchange(true, std::memory_order_acq_rel);
    // A message that became visible before the exchange told nobody.
    if (context_.store.range(protocol::kTopicSchedule, queueId_).max <= next_) return true;
    return !idle_.exchange(false, std::memory_order_acq_rel);
}

}  // namespace patchbay::plugins::delay
