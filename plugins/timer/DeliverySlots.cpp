// Delivery, the part that has to do with the timer files.
#include "Delivery.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/util/Hash.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

namespace patchbay::plugins::timer {

using namespace protocol;
using std::chrono::milliseconds;

namespace {

// Slots are loaded that long before they begin.
constexpr std::int64_t kAheadMs = 2000;
// After a long stop more is due than has to be in memory at once.
constexpr std::size_t kLoadedMax = 100'000;
constexpr milliseconds kAgainAfter{1000};
constexpr std::int64_t kWaitMsMax = 10'000;

}  // namespace

bool Delivery::link(const RecordView& record, const TimerMessage& message, PendingTimer timer, bool rolls) {
    const bool delivered = timer.offset < from_.queueOffset && timer.wakeMs <= from_.deliveredMs;
    if (context_.files == nullptr) return !delivered;
    const bool isRecall = !message.recalledKey.empty();
    TimerUnit unit;
    unit.magic = kUnitPlain | (rolls ? kUnitRoll : 0) | (isRecall ? kUnitRecall : 0);
    unit.writtenMs = context_.files->floor(context_.clock.wallMs());
    // What comes too late for its slot goes into the next one that is looked at.
    unit.slotMs = std::max(context_.files->slotOf(timer.wakeMs), readMs_);
    unit.physicalOffset = record.physicalOffset;
    unit.bytes = record.size;
    unit.topicHash = javaHashCode(message.realTopic);
    if (delivered) {
        context_.files->pass(unit, timer.offset);
        return false;
    }
    context_.files->add(unit, timer.offset);
    if (context_.counts != nullptr && !isRecall) context_.counts->add(message.realTopic, 1);
    if (unit.slotMs < loadedUntil_) return true;
    inFiles_ += isRecall ? -1 : 1;
    return false;
}

bool Delivery::writeUnits() {
    if (context_.files == nullptr) return true;
    const Status written = context_.files->write();
    if (written) return true;
    context_.log.limited(plugin::LogLevel::Error, "the timer log cannot be written; timed messages wait in the topic",
                         {{"problem", written.message()}});
    readAgain_ = context_.clock.now() + kAgainAfter;
    return false;
}

MonotonicTime Delivery::nextLoad() const {
    if (context_.files == nullptr || !caughtUp_ || pending_.size() >= kLoadedMax) return MonotonicTime::max();
    const auto slot = context_.files->slots().lower_bound(loadedUntil_);
    if (slot == context_.files->slots().end()) return MonotonicTime::max();
    // loadSlots() rounds down, so that this is when it takes the slot and not a moment earlier.
    const std::int64_t wait = slot->first - kAheadMs - context_.clock.wallMs();
    return context_.clock.now() + milliseconds(std::clamp<std::int64_t>(wait, 0, kWaitMsMax));
}

void Delivery::loadSlots() {
    if (context_.files == nullptr) return;
    const std::int64_t precision = context_.files->precisionMs();
    const std::int64_t until = context_.files->floor(context_.clock.wallMs() + kAheadMs) + precision;
    while (loadedUntil_ < until && pending_.size() < kLoadedMax) {
        const auto slot = context_.files->slots().lower_bound(loadedUntil_);
        // What the wheel counts is not always exact.
        if (slot == context_.files->slots().end()) inFiles_ = 0;
        if (slot == context_.files->slots().end() || slot->first >= until) {
            loadedUntil_ = until;
            return;
        }
        const std::int64_t slotMs = slot->first;
        if (!loadSlot(slotMs)) {
            readAgain_ = std::min(readAgain_, context_.clock.now() + kAgainAfter);
            return;
        }
        loadedUntil_ = slotMs + precision;
    }
}

bool Delivery::loadSlot(std::int64_t slotMs) {
    const auto units = context_.files->units(slotMs);
    if (!units) {
        context_.log.limited(plugin::LogLevel::Error, "the timer log cannot be read; its messages wait",
                             {{"problem", units.error().message()}});
        return false;
    }
    std::vector<std::pair<PendingTimer, Slice>> timers;
    std::int64_t messages = 0;
    for (const TimerUnit& unit : *units) {
        messages += (unit.magic & kUnitRecall) != 0 ? -1 : 1;
        auto slice = context_.store.at(unit.physicalOffset);
        if (!slice && slice.error().code() != StatusCode::NotFound) {
            context_.log.limited(plugin::LogLevel::Error, "timed messages cannot be read now and are tried again",
                                 {{"position", unit.physicalOffset}, {"problem", slice.error().message()}});
            return false;
        }
        RecordView record;
        if (!slice || RecordView::parse(slice->bytes, record, RecordCheck::Layout) != RecordStatus::Message ||
            record.topic != kTopicTimer) {
            passOver("it is no longer in the store", {slotMs, -1});
            continue;
        }
        if (const auto timer = loadUnit(slotMs, record)) timers.emplace_back(*timer, std::move(*slice));
    }
    for (auto& loaded : timers) {
        pending_.add(loaded.first);
        loaded_.insert_or_assign(loaded.first.offset, std::move(loaded.second));
    }
    inFiles_ = std::max<std::int64_t>(inFiles_ - messages, 0);
    return true;
}

std::optional<PendingTimer> Delivery::loadUnit(std::int64_t slotMs, const RecordView& record) {
    const TimerMessage message = TimerMessage::of(record.properties);
    const std::int64_t slotEnd = slotMs + context_.files->precisionMs();
    if (!message.outMs) return PendingTimer{slotEnd, record.queueOffset};
    const bool isRecall = !message.recalledKey.empty();
    if (isRecall) context_.recalls.restore(message.recalledKey, *message.outMs + 1);
    const std::int64_t due = message.dueMs(record.storeTimestamp);
    // A slot that ends before the message is due is where it is stored anew.
    const bool rolls = due > slotEnd;
    if (isRecall && !rolls) return std::nullopt;
    return PendingTimer{rolls ? slotMs + 1 : due, record.queueOffset};
}

void Delivery::moveRead() {
    if (context_.files == nullptr) return;
    std::int64_t to = std::min(context_.files->floor(context_.clock.wallMs()), loadedUntil_);
    if (!pending_.empty()) to = std::min(to, context_.files->slotOf(pending_.next().wakeMs));
    for (const PendingTimer& timer : firing_) to = std::min(to, context_.files->slotOf(timer.wakeMs));
    if (to <= readMs_) return;
    readMs_ = to;
    context_.files->forgetBefore(to);
}

void Delivery::leave() {
    left_ = true;
    if (context_.files == nullptr || !caughtUp_) return;
    moveRead();
    if (const Status left = leaveSlots(); !left) {
        context_.log.error("the timer files do not say which messages of the last slot were delivered", {{"problem", left.message()}});
    }
}

Status Delivery::leaveSlots() {
    TimerFiles& files = *context_.files;
    const std::int64_t nowSlot = files.floor(context_.clock.wallMs());
    std::unordered_set<std::int64_t> waiting;
    for (const PendingTimer& timer : pending_.all()) waiting.insert(timer.offset);
    for (const PendingTimer& timer : firing_) waiting.insert(timer.offset);
    std::vector<std::int64_t> slots;
    for (auto slot = files.slots().lower_bound(readMs_); slot != files.slots().end() && slot->first <= nowSlot; ++slot) {
        if (slot->first < loadedUntil_) slots.push_back(slot->first);
    }
    std::int64_t next = slots.empty() ? readMs_ : slots.back() + files.precisionMs();
    for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) {
        const auto units = files.units(*slot);
        if (!units) return units.error();
        std::vector<TimerUnit> kept;
        bool any = false;
        for (const TimerUnit& unit : *units) {
            const bool isRecall = (unit.magic & kUnitRecall) != 0;
            const bool waits = isRecall || waiting.contains(files.queueOffsetOf(unit));
            any = any || (waits && !isRecall);
            if (waits) kept.push_back(unit);
        }
        if (!any) continue;
        next = *slot;
        if (kept.size() == units->size()) continue;
        if (Status done = files.keep(*slot, std::move(kept)); !done) return done;
    }
    readMs_ = std::max(readMs_, next);
    return files.close(readMs_);
}

}  // namespace patchbay::plugins::timer
