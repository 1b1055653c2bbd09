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

constexpr std::int32_t kReadMin = 16;
constexpr std::int32_t kReadMax = 256;
constexpr std::int32_t kReadBytes = 1 << 20;
constexpr milliseconds kRetryAfter{100};
// The wall clock may be set forward while a level waits by the monotonic one.
constexpr std::int64_t kWaitMsMax = 10'000;

/// True when another try cannot end differently.
bool isHopeless(AppendStatus status) noexcept {
    return status == AppendStatus::MessageIllegal || status == AppendStatus::PropertiesSizeExceeded;
}

}  // namespace

LevelQueue::LevelQueue(const LevelContext& context, std::int32_t level, std::int64_t delayMs)
    : context_(context), level_(level), queueId_(level - 1), delayMs_(delayMs), next_(context.progress.at(level)),
      readMax_(kReadMax) {}

MonotonicTime LevelQueue::gather(std::vector<AppendItem>& into) {
    full_ = false;
    if (idle_.load(std::memory_order_relaxed)) return MonotonicTime::max();
    if (context_.clock.now() < notBefore_) return notBefore_;
    if (items_.empty()) {
        const MonotonicTime again = lookAtHead();
        // Who sleeps is woken by a message and must not wait then.
        notBefore_ = again == MonotonicTime::max() ? MonotonicTime{} : again;
        if (items_.empty()) return again;
    }
    into.insert(into.end(), items_.begin(), items_.end());
    return {};
}

void LevelQueue::settle(std::span<const AppendItem> items, const Status& failure) {
    std::uint64_t hopeless = 0;
    items_.clear();
    for (const AppendItem& item : items) {
        if (service::isStored(item.status)) continue;
        if (!isHopeless(item.status)) {
            items_.push_back(item);
            continue;
        }
        ++hopeless;
        context_.log.limited(plugin::LogLevel::Error, "a delayed message is refused for good and passed over",
                             {{"topic", item.topic}, {"queue", item.queueId}, {"level", level_}, {"below", next_}});
    }
    context_.undeliverable.add(hopeless);
    context_.delivered.add(items.size() - items_.size() - hopeless);
    if (items_.empty()) {
        context_.progress.set(level_, next_);
        read_.clear();
        return;
    }
    full_ = false;
    notBefore_ = context_.clock.now() + kRetryAfter;
    context_.log.limited(plugin::LogLevel::Warn, "delayed messages are refused by the store and tried again",
                         {{"level", level_}, {"messages", items_.size()}, {"problem", failure.message()}});
}

MonotonicTime LevelQueue::lookAtHead() {
    while (items_.empty()) {
        if (headAt_ != next_) {
            const auto stored = context_.store.storeTimeAt(protocol::kTopicSchedule, queueId_, next_);
            headAt_ = stored ? next_ : -1;
            headMs_ = stored ? *stored : 0;
        }
        if (headAt_ == next_) {
            const std::int64_t wait = waitMs(headMs_);
            if (wait > 0) return context_.clock.now() + milliseconds(std::min(wait, kWaitMsMax));
        }
        const std::int64_t before = next_;
        readDue();
        if (!items_.empty()) break;
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
    const service::ReadLimits limits{readMax_, kReadBytes, false};
    context_.store.read(protocol::kTopicSchedule, queueId_, next_, limits, nullptr, read_);
    switch (read_.status) {
        case ReadStatus::Found: {
            bool due = true;
            for (const std::string_view piece : read_.pieces) {
                if (due) takePiece(piece, due);
            }
            full_ = due && next_ < read_.maxOffset;
            readMax_ = std::clamp(2 * static_cast<std::int32_t>(items_.size()), kReadMin, kReadMax);
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
            headAt_ = next_;
            headMs_ = record.storeTimestamp;
            due = false;
            return;
        }
        if (AppendItem item; rebuild(record, item) == Fate::Deliver) items_.push_back(item);
        next_ = record.queueOffset + 1;
        piece.remove_prefix(static_cast<std::size_t>(record.size));
    }
}

LevelQueue::Fate LevelQueue::rebuild(const protocol::RecordView& record, AppendItem& item) {
    std::string_view queue;
    std::string_view tags;
    protocol::PropertyReader reader(record.properties);
    for (std::string_view name, value; reader.next(name, value);) {
        if (name == protocol::kPropertyRealTopic) item.topic = value;
        if (name == protocol::kPropertyRealQueueId) queue = value;
        if (name == protocol::kPropertyTags) tags = value;
    }
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
    item.tagsCode = protocol::tagsCode(tags);
    item.flag = record.flag;
    item.sysFlag = record.sysFlag;
    item.reconsumeTimes = record.reconsumeTimes;
    item.waitStored = false;
    return Fate::Deliver;
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
