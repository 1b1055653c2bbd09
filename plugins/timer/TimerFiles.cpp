#include "TimerFiles.h"

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Names.h"

#include <algorithm>

namespace patchbay::plugins::timer {

TimerFiles::TimerFiles(FileSystem& files, plugin::Logger& log, service::MessageStore& store, const std::string& root,
                       const TimerConfig& config)
    : logger_(log), store_(store), precisionMs_(config.precisionMs), log_(files, root + "/timerlog", config.logFileBytes),
      wheel_(files, root + "/timerwheel", config.precisionMs) {}

Result<TimerMark> TimerFiles::recover(const TimerMark& mark) {
    // Files that the progress knows nothing of are older than it, or of another store.
    if (mark.timerLog == 0) return beginAnew(mark);
    const TimerMark whole{mark.deliveredMs, 0, mark.replayFrom};
    if (const Status opened = log_.open(); !opened) {
        logger_.error("the timer log cannot be used and is made anew from the topic", {{"problem", opened.message()}});
        return beginAnew(whole);
    }
    const std::int64_t readMs = floor(mark.deliveredMs);
    const Status loaded = wheel_.load(readMs);
    if (loaded) {
        if (Status scanned = scan(mark.timerLog - log_.fileBytes(), mark.timerLog, readMs); !scanned) return scanned;
    }
    if (!loaded || !wheelFits_) {
        logger_.warn("the timer wheel does not fit its log and is made anew", {{"problem", loaded ? "slots differ" : loaded.message()}});
        if (Status cleared = wheel_.clear(); !cleared) return cleared;
        if (Status scanned = scan(log_.begin(), 0, readMs); !scanned) return scanned;
    }
    if (!precisionFits_ || !lastUnit_) {
        logger_.warn("the timer files are made anew from the topic",
                     {{"problem", lastUnit_ ? "they were written with another timerPrecisionMs" : "the log is empty"}});
        return beginAnew(whole);
    }
    const bool complete = log_.end() >= mark.timerLog;
    if (!complete) logger_.warn("the timer log is shorter than it was", {{"bytes", log_.end()}, {"known", mark.timerLog}});
    const std::int64_t behindLast = queueOffsetOf(*lastUnit_) + 1;
    newest_ = Newest{*lastUnit_, behindLast - 1};
    newestIsLast_ = true;
    const std::int64_t next = complete ? std::max(mark.replayFrom, behindLast) : behindLast;
    return TimerMark{readMs, next, std::max(next, mark.queueOffset), log_.end()};
}

Result<TimerMark> TimerFiles::beginAnew(const TimerMark& mark) {
    newest_.reset();
    if (Status cleared = log_.clear(); !cleared) return cleared;
    if (Status cleared = wheel_.clear(); !cleared) return cleared;
    return TimerMark{mark.deliveredMs, mark.replayFrom, mark.queueOffset, 0};
}

Status TimerFiles::scan(std::int64_t from, std::int64_t knownEnd, std::int64_t readMs) {
    const std::int64_t storeEnd = store_.stats().maxPhysicalOffset;
    std::int64_t end = log_.begin();
    lastUnit_.reset();
    wheelFits_ = precisionFits_ = true;
    const Status scanned = log_.scan(from, [&](std::int64_t position, const TimerUnit& unit) {
        // After a power cut the log may know messages that are lost.
        if (unit.physicalOffset + unit.bytes > storeEnd) return;
        end = position + TimerLog::kUnitBytes;
        lastUnit_ = unit;
        if (unit.slotMs < readMs) return;
        precisionFits_ = precisionFits_ && unit.slotMs % precisionMs_ == 0;
        const auto found = wheel_.slots().find(unit.slotMs);
        TimerWheel::Slot slot = found == wheel_.slots().end() ? TimerWheel::Slot{} : found->second;
        if (slot.last >= position) return;
        wheelFits_ = wheelFits_ && position >= knownEnd;
        if (slot.first < 0) slot.first = position;
        slot.last = position;
        slot.count += (unit.magic & kUnitRecall) != 0 ? -1 : 1;
        wheel_.put(unit.slotMs, slot);
    });
    if (!scanned) return scanned;
    log_.cut(end);
    const bool inside = std::ranges::all_of(wheel_.slots(), [end](const auto& entry) { return entry.second.last < end; });
    wheelFits_ = wheelFits_ && inside;
    return Status::ok();
}

std::int64_t TimerFiles::queueOffsetOf(const TimerUnit& unit) const {
    const auto record = store_.at(unit.physicalOffset);
    protocol::RecordView view;
    if (!record || protocol::RecordView::parse(record->bytes, view, protocol::RecordCheck::Layout) != protocol::RecordStatus::Message ||
        view.topic != protocol::kTopicTimer) {
        return -1;
    }
    return view.queueOffset;
}

void TimerFiles::add(TimerUnit unit, std::int64_t queueOffset) {
    const auto found = wheel_.slots().find(unit.slotMs);
    TimerWheel::Slot slot = found == wheel_.slots().end() ? TimerWheel::Slot{} : found->second;
    unit.previous = slot.last;
    slot.last = log_.add(unit);
    if (slot.first < 0) slot.first = slot.last;
    slot.count += (unit.magic & kUnitRecall) != 0 ? -1 : 1;
    wheel_.put(unit.slotMs, slot);
    newest_ = Newest{unit, queueOffset};
    newestIsLast_ = true;
}

void TimerFiles::pass(const TimerUnit& unit, std::int64_t queueOffset) {
    newest_ = Newest{unit, queueOffset};
    newestIsLast_ = false;
}

Status TimerFiles::flush() {
    if (Status written = log_.write(); !written) return written;
    if (Status synced = log_.sync(); !synced) return synced;
    return wheel_.write();
}

Result<std::vector<TimerUnit>> TimerFiles::units(std::int64_t slotMs) {
    const auto found = wheel_.slots().find(slotMs);
    if (found == wheel_.slots().end()) return std::vector<TimerUnit>();
    if (Status written = log_.write(); !written) return written;
    return log_.chain(found->second.last);
}

std::int64_t TimerFiles::waitingFrom(std::int64_t slotMs) const noexcept {
    std::int64_t count = 0;
    for (auto slot = wheel_.slots().lower_bound(slotMs); slot != wheel_.slots().end(); ++slot) count += slot->second.count;
    return std::max<std::int64_t>(count, 0);
}

Status TimerFiles::keep(std::int64_t slotMs, std::vector<TimerUnit> units) {
    TimerWheel::Slot slot;
    for (TimerUnit& unit : units) {
        unit.previous = slot.last;
        slot.last = log_.add(unit);
        if (slot.first < 0) slot.first = slot.last;
        slot.count += (unit.magic & kUnitRecall) != 0 ? -1 : 1;
        newestIsLast_ = false;
    }
    if (!units.empty()) wheel_.put(slotMs, slot);
    return log_.write();
}

Status TimerFiles::close(std::int64_t readMs) {
    if (!newest_ || newestIsLast_) return log_.write();
    TimerUnit unit = newest_->unit;
    const auto found = wheel_.slots().find(unit.slotMs);
    std::optional<TimerUnit> head;
    if (found != wheel_.slots().end() && unit.slotMs >= readMs) {
        const auto waiting = units(unit.slotMs);
        if (!waiting) return waiting.error();
        if (!waiting->empty() && waiting->back().physicalOffset == unit.physicalOffset) head = waiting->back();
    }
    if (head) {
        // It waits itself: once more, instead of its unit before.
        unit.previous = head->previous;
        TimerWheel::Slot slot = found->second;
        slot.last = log_.add(unit);
        if (unit.previous < 0) slot.first = slot.last;
        wheel_.put(unit.slotMs, slot);
    } else {
        // In a slot that is over.
        unit.previous = -1;
        unit.writtenMs = readMs;
        unit.slotMs = readMs - precisionMs_;
        log_.add(unit);
    }
    newestIsLast_ = true;
    return log_.write();
}

Status TimerFiles::removeOld() { return log_.removeBelow(store_.stats().minPhysicalOffset); }

}  // namespace patchbay::plugins::timer
