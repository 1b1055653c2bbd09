#include "Delivery.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/PropertyNames.h"
#include "patchbay/protocol/util/Hash.h"

#include <algorithm>
#include <chrono>

namespace patchbay::plugins::timer {

using namespace protocol;
using service::AppendItem;
using service::AppendStatus;
using service::ReadStatus;
using std::chrono::milliseconds;

namespace {

constexpr service::ReadLimits kNewLimits{256, 1 << 20, false};
constexpr std::size_t kBatchMessages = 256;
constexpr std::int64_t kBatchBytes = 4 << 20;
constexpr milliseconds kTogether{20};
// So many in one append are a stream, of which what is due next may be as late as this, for the sake of what comes with it.
constexpr std::size_t kMany = 4;
constexpr milliseconds kDueTogether{5};
constexpr milliseconds kRetryAfter{100};
constexpr milliseconds kReadAgainAfter{1000};
// The wall clock may be set forward while messages wait by the monotonic one.
constexpr std::int64_t kWaitMsMax = 10'000;

/// True when another try cannot end differently.
bool isHopeless(AppendStatus status) noexcept {
    return status == AppendStatus::MessageIllegal || status == AppendStatus::PropertiesSizeExceeded;
}

}  // namespace

Delivery::Delivery(const DeliveryContext& context, const TimerMark& from)
    : context_(context), from_(from), loop_(context.store, context.timers, [this] { look(); }), next_(from.replayFrom) {
    if (context_.files == nullptr) return;
    readMs_ = loadedUntil_ = context_.files->floor(from_.deliveredMs);
    inFiles_ = context_.files->waitingFrom(loadedUntil_);
}

void Delivery::start() {
    loop_.start();
    startedMs_ = context_.clock.wallMs();
    earlier_.emplace(context_.store);
    context_.recalls.deliverUntil(std::min(from_.deliveredMs, startedMs_));
    context_.store.addListener(*this);
    loop_.lookSoon();
}

void Delivery::drain() noexcept { loop_.drain(); }

void Delivery::stop() noexcept {
    drain();
    context_.store.removeListener(*this);
    loop_.stop();
    settle();
    leave();
}

TimerMark Delivery::mark() const {
    if (!caughtUp_) return from_;
    if (context_.files != nullptr) return {readMs_, next_, next_, context_.files->logEnd()};
    TimerMark mark{context_.recalls.deliveredUntil(), pending_.lowestUnfinished().value_or(next_), next_, 0};
    if (!pending_.empty()) mark.deliveredMs = std::min(mark.deliveredMs, pending_.next().wakeMs - 1);
    for (const auto& timer : firing_) mark.deliveredMs = std::min(mark.deliveredMs, timer.wakeMs - 1);
    return mark;
}

void Delivery::appended(std::span<const service::AppendedRecord> records) noexcept {
    bool ours = false;
    bool soon = false;
    std::int64_t near = 0;
    for (const auto& record : records) {
        if (record.topic != kTopicTimer) continue;
        if (!ours) near = context_.clock.wallMs() + 2 * kTogether.count();
        ours = true;
        context_.rewrite.state().topicEnd = record.queueOffset + 1;
        soon = soon || TimerMessage::of(record.properties).outMs.value_or(0) < near;
    }
    if (!ours) return;
    const bool asleep = idle_.exchange(false, std::memory_order_acq_rel);
    if (soon) return loop_.lookSoon();
    // What has time is taken together with what follows: a wake-up for each would cost as much as the message.
    if (asleep) loop_.lookAfter(kTogether);
}

void Delivery::look() {
    settle();
    const bool more = takeNew();
    if (caughtUp_) {
        loadSlots();
        fire();
        moveRead();
    }
    showFigures();
    if (more) return loop_.lookSoon();
    arm();
}

void Delivery::showFigures() {
    TimerRewrite::State& state = context_.rewrite.state();
    const std::int64_t end = context_.store.range(kTopicTimer, 0).max;
    const std::size_t inMemory = pending_.size() + firing_.size();
    const std::int64_t first = firing_.empty() ? (pending_.empty() ? 0 : pending_.next().wakeMs) : firing_.front().wakeMs;
    state.inMemory = inMemory + static_cast<std::size_t>(std::max<std::int64_t>(end - next_, 0));
    state.waiting = static_cast<std::int64_t>(inMemory) + inFiles_;
    state.firstDueMs = first;
    state.next = next_;
    state.topicEnd = end;
}

void Delivery::arm() {
    const MonotonicTime now = context_.clock.now();
    MonotonicTime at = std::min(readAgain_, nextLoad());
    if (caughtUp_ && !loop_.isOnItsWay() && (!pending_.empty() || !loop_.items.empty())) {
        std::int64_t wait = 0;
        if (loop_.items.empty()) wait = std::clamp<std::int64_t>(pending_.next().wakeMs - context_.clock.wallMs(), 0, kWaitMsMax);
        at = std::min(at, std::max(now + milliseconds(wait), notBefore_));
    }
    loop_.lookAt(at, now);
}

bool Delivery::takeNew() {
    readAgain_ = MonotonicTime::max();
    if (!writeUnits() || idle_.load(std::memory_order_relaxed)) return false;
    context_.store.read(kTopicTimer, 0, next_, kNewLimits, nullptr, read_);
    switch (read_.status) {
        case ReadStatus::Found:
            for (const std::string_view piece : read_.pieces) takeRecords(piece);
            if (!writeUnits()) return false;
            if (next_ < read_.maxOffset) return true;
            caughtUp_ = true;
            return !sleep();
        case ReadStatus::OffsetTooSmall:
        case ReadStatus::OffsetBeyondEnd:
        case ReadStatus::Gone:
            if (read_.nextOffset == next_) break;
            goOnAt(read_.nextOffset);
            return true;
        case ReadStatus::NoSuchQueue:
        case ReadStatus::QueueEmpty:
        case ReadStatus::OffsetAtEnd:
            if (isUnreadable(read_)) break;
            if (next_ > read_.maxOffset) goOnAt(read_.maxOffset);
            caughtUp_ = true;
            return !sleep();
        default: break;
    }
    // What the topic holds is not known now.
    readAgain_ = context_.clock.now() + milliseconds(kWaitMsMax);
    return false;
}

bool Delivery::isUnreadable(const service::ReadResult& read) const {
    if (read.status != ReadStatus::NoSuchQueue) return false;
    return std::ranges::any_of(context_.store.queues(), [](const service::QueueKey& queue) { return queue.topic == kTopicTimer; });
}

void Delivery::goOnAt(std::int64_t offset) {
    // From the start on it is no news that the oldest are gone.
    if (caughtUp_) context_.log.warn("the timer topic goes on at another offset", {{"from", next_}, {"to", offset}});
    next_ = offset;
}

bool Delivery::sleep() {
    idle_.exchange(true, std::memory_order_acq_rel);
    // A message that became visible before the exchange told nobody.
    if (context_.store.range(kTopicTimer, 0).max <= next_) return true;
    return !idle_.exchange(false, std::memory_order_acq_rel);
}

void Delivery::takeRecords(std::string_view piece) {
    RecordView record;
    while (!piece.empty()) {
        if (RecordView::parse(piece, record, RecordCheck::Layout) != RecordStatus::Message) {
            passOver("it is damaged", {0, next_});
            ++next_;
            return;
        }
        takeOne(record);
        ++context_.rewrite.state().taken;
        next_ = record.queueOffset + 1;
        piece.remove_prefix(static_cast<std::size_t>(record.size));
    }
}

void Delivery::takeOne(const RecordView& record) {
    const TimerMessage message = TimerMessage::of(record.properties);
    if (!message.outMs) return passOver("it names no time", {0, record.queueOffset});
    const bool isRecall = !message.recalledKey.empty();
    if (isRecall) context_.recalls.restore(message.recalledKey, *message.outMs + 1);
    const std::int64_t due = message.dueMs(record.storeTimestamp);
    const PendingTimer timer{wakeMs(due, record.storeTimestamp, context_.config.rollAfterMs), record.queueOffset};
    if (!link(record, message, timer, timer.wakeMs < due)) return;
    // A recall has nothing to deliver; but it has to live as long as its message.
    if (!isRecall || timer.wakeMs < due) pending_.add(timer);
}

void Delivery::fire() {
    while (!loop_.isOnItsWay() && context_.clock.now() >= notBefore_) {
        while (loop_.items.empty()) {
            if (pending_.empty() || pending_.next().wakeMs > context_.clock.wallMs()) return;
            gather();
            // All of them were recalled, for instance.
            if (loop_.items.empty()) finishBatch();
            if (context_.clock.now() < notBefore_) return;
        }
        const bool full = firing_.size() == kBatchMessages;
        if (!full && firing_.size() >= kMany) notBefore_ = context_.clock.now() + kDueTogether;
        if (!loop_.submit()) return;
        settle();
        // Other plugins have their turn.
        if (full) return loop_.lookSoon();
    }
}

void Delivery::gather() {
    const std::int64_t now = context_.clock.wallMs();
    if (pending_.next().wakeMs > startedMs_ && (context_.files == nullptr || loadedUntil_ > startedMs_)) earlier_.reset();
    context_.recalls.deliverUntil(now);
    while (!pending_.empty() && pending_.next().wakeMs <= now && firing_.size() < kBatchMessages) firing_.push_back(pending_.take());
    std::int64_t bytes = 0;
    for (std::size_t at = 0; at < firing_.size();) {
        std::size_t end = at + 1;
        if (const auto kept = loaded_.find(firing_[at].offset); kept != loaded_.end()) {
            bytes += buildKept(slices_.emplace_back(std::move(kept->second)), firing_[at]);
            loaded_.erase(kept);
            at = end;
        } else {
            while (end < firing_.size() && firing_[end].offset == firing_[end - 1].offset + 1) ++end;
            const std::size_t before = reads_.size();
            at += readRun(std::span(firing_).subspan(at, end - at));
            for (std::size_t i = before; i < reads_.size(); ++i) bytes += reads_[i].bytes;
        }
        if (at == end && bytes < kBatchBytes) continue;
        // The rest waits for the next batch.
        for (std::size_t i = at; i < firing_.size(); ++i) pending_.putBack(firing_[i]);
        firing_.resize(at);
    }
}

std::int64_t Delivery::buildKept(const Slice& slice, const PendingTimer& timer) {
    RecordView record;
    if (RecordView::parse(slice.bytes, record, RecordCheck::Layout) != RecordStatus::Message) {
        passOver("it is damaged", timer);
        return 0;
    }
    build(record, timer);
    return record.size;
}

std::size_t Delivery::readRun(const std::span<const PendingTimer> all) {
    std::span<const PendingTimer> run = all;
    while (!run.empty()) {
        service::ReadResult& read = reads_.emplace_back();
        const service::ReadLimits limits{static_cast<std::int32_t>(run.size()), 1 << 20, false};
        context_.store.read(kTopicTimer, 0, run.front().offset, limits, nullptr, read);
        std::size_t taken = 0;
        for (std::string_view piece : read.pieces) {
            RecordView record;
            while (taken < run.size() && !piece.empty() &&
                   RecordView::parse(piece, record, RecordCheck::Layout) == RecordStatus::Message) {
                build(record, run[taken++]);
                piece.remove_prefix(static_cast<std::size_t>(record.size));
            }
        }
        if (taken == 0 && isPassing(read)) {
            context_.log.limited(plugin::LogLevel::Error, "timed messages cannot be read now and are tried again",
                                 {{"offset", run.front().offset}});
            notBefore_ = context_.clock.now() + kReadAgainAfter;
            return all.size() - run.size();
        }
        if (taken == 0) {
            passOver(read.status == ReadStatus::Found ? "it is damaged" : "it is no longer in the store", run.front());
            taken = 1;
        }
        run = run.subspan(taken);
    }
    return all.size();
}

bool Delivery::isPassing(const service::ReadResult& read) const {
    switch (read.status) {
        case ReadStatus::Found:
        case ReadStatus::OffsetTooSmall:
        case ReadStatus::OffsetAtEnd:
        case ReadStatus::OffsetBeyondEnd:
        case ReadStatus::QueueEmpty:
        case ReadStatus::Gone: return false;
        case ReadStatus::NoSuchQueue: return isUnreadable(read);
        default: return true;
    }
}

void Delivery::build(const RecordView& record, const PendingTimer& timer) {
    const TimerMessage message = TimerMessage::of(record.properties);
    const bool isRecall = !message.recalledKey.empty();
    if (context_.counts != nullptr && !isRecall && !message.realTopic.empty()) context_.counts->add(message.realTopic, -1);
    if (!message.outMs || message.realTopic.empty() || !message.realQueue || *message.realQueue < 0 ||
        message.realTopic == kTopicTransHalf || message.realTopic == kTopicTimer) {
        return passOver("it does not say where it belongs", timer);
    }
    const std::int64_t due = message.dueMs(record.storeTimestamp);
    const bool rolls = timer.wakeMs < due;
    if (!isRecall && context_.recalls.contains([&message] { return message.recallKey(); })) return context_.recalled.add();
    if (isRecall && !rolls) return;
    if (earlier_ && timer.wakeMs <= startedMs_ && isDelivered(record, message, timer, rolls)) return;

    AppendItem& item = loop_.items.emplace_back();
    item.body = record.body;
    item.properties = record.properties;
    item.bornHost = record.bornHost();
    item.storeHost = record.storeHost();
    item.bornTimestamp = record.bornTimestamp;
    item.tagsCode = tagsCode(findProperty(record.properties, kPropertyTags));
    item.flag = record.flag;
    item.sysFlag = record.sysFlag;
    item.reconsumeTimes = record.reconsumeTimes;
    item.waitStored = false;
    if (rolls) return buildCopyToWaitOn(record, due, message);

    item.topic = message.realTopic;
    item.queueId = *message.realQueue;
    std::string times(needsPropertySeparator(record.properties) ? 1 : 0, kPropertyEnd);
    appendProperty(times, kPropertyTimerEnqueueMs, std::to_string(record.storeTimestamp));
    appendProperty(times, kPropertyTimerDequeueMs, std::to_string(context_.clock.wallMs()));
    item.brokerProperties = texts_.emplace_back(std::move(times));
}

bool Delivery::isDelivered(const RecordView& record, const TimerMessage& message, const PendingTimer& timer, bool rolls) {
    if (rolls) return earlier_->take(kTopicTimer, 0, record, message, message.rolledOnce(), timer.wakeMs);
    return earlier_->take(message.realTopic, *message.realQueue, record, message, message.rolled, timer.wakeMs);
}

void Delivery::buildCopyToWaitOn(const RecordView& record, std::int64_t dueMs, const TimerMessage& message) {
    Properties properties(record.properties);
    properties.remove(kPropertyTimerDelaySec);
    properties.remove(kPropertyTimerDelayMs);
    properties.set(kPropertyTimerDeliverMs, std::to_string(dueMs));
    properties.set(kPropertyTimerRollTimes, std::to_string(message.rolledOnce()));
    AppendItem& item = loop_.items.back();
    item.topic = kTopicTimer;
    item.queueId = 0;
    item.properties = texts_.emplace_back(properties.encode());
}

void Delivery::passOver(std::string_view why, const PendingTimer& timer) {
    context_.undeliverable.add();
    context_.log.limited(plugin::LogLevel::Error, "a timed message cannot be delivered and is passed over",
                         {{"offset", timer.offset}, {"because", why}});
}

void Delivery::settle() {
    if (!loop_.takeEnd()) return;
    auto& items = loop_.items;
    std::erase_if(items, [this](const AppendItem& item) {
        if (service::isStored(item.status)) {
            ++context_.rewrite.state().delivered;
            (item.topic == kTopicTimer ? context_.rolled : context_.delivered).add();
            return true;
        }
        if (!isHopeless(item.status)) return false;
        context_.undeliverable.add();
        context_.log.limited(plugin::LogLevel::Error, "a timed message is refused for good and passed over",
                             {{"topic", item.topic}, {"queue", item.queueId}});
        return true;
    });
    if (items.empty()) return finishBatch();
    notBefore_ = context_.clock.now() + kRetryAfter;
    context_.log.limited(plugin::LogLevel::Warn, "timed messages are refused by the store and tried again",
                         {{"messages", items.size()}, {"problem", loop_.failure.message()}});
}

void Delivery::finishBatch() {
    for (const auto& timer : firing_) pending_.finished(timer);
    firing_.clear();
    reads_.clear();
    slices_.clear();
    texts_.clear();
}

}  // namespace patchbay::plugins::timer
