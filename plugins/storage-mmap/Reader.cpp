#include "Reader.h"

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/Hash.h"

#include <algorithm>
#include <array>

namespace patchbay::mmapstore {

using service::Bound;
using service::ReadFilter;
using service::ReadLimits;
using service::ReadResult;
using service::ReadStatus;

namespace {

constexpr std::size_t kUnitsAtOnce = 64;

}  // namespace

/// One read() under way: the state of its loop.
class Reader::Scan {
public:
    Scan(const Reader& reader, const ConsumeQueue& queue, const ReadLimits& limits, const ReadFilter* filter,
         ReadResult& result) noexcept
        : r_(reader.p_), queue_(queue), limits_(limits), filter_(filter), result_(result),
          logEnd_(r_.state.visibleEnd.load(std::memory_order_acquire)),
          hotFrom_(std::max(r_.state.startEnd.load(std::memory_order_relaxed), logEnd_ - r_.options.hotWindowBytes)),
          memoryBytes_(r_.options.memoryBytes / 100 * r_.tunables.inMemoryPercent.load(std::memory_order_relaxed)),
          unitsMax_(std::max<std::int64_t>(r_.tunables.filterBytesMax.load(std::memory_order_relaxed) / unitBytes(queue.kind()),
                                           limits.messagesMax)) {}

    void run(std::int64_t offset) noexcept {
        const Result<std::int64_t> place = queue_.find(offset, limits_.hotOnly ? hotFrom_ : ConsumeQueue::kMayWait);
        if (!place) {
            if (place.error().code() == StatusCode::Busy) return cold();
            return noUnits();
        }
        walk(*place, offset);
        result_.farBehind = logEnd_ - lastPhysical_ > memoryBytes_;
    }

private:
    /// Takes one unit after the other, from the one at a place on, which has this offset or one behind it.
    void walk(std::int64_t at, std::int64_t offset) noexcept {
        const std::int64_t end = std::min(result_.maxOffset, offset + unitsMax_);
        std::array<Unit, kUnitsAtOnce> units;
        bool more = true;
        const std::int32_t wanted = std::max(1, limits_.messagesMax);
        while (more && result_.nextOffset < end && result_.messages < wanted) {
            // Without a filter no more units are of use than messages may be returned.
            const std::int64_t left = end - result_.nextOffset;
            const std::int64_t wish = filter_ == nullptr ? wanted - result_.messages : left;
            const auto count = static_cast<std::size_t>(std::min({wish, left, static_cast<std::int64_t>(kUnitsAtOnce)}));
            const bool cheap = !limits_.hotOnly || queue_.isHot(at, hotFrom_);
            if (!cheap && !queue_.resident(at, static_cast<std::int64_t>(count), now())) {
                cold();
                break;
            }
            const std::size_t got = queue_.copy(at, std::span(units.data(), count));
            if (filter_ != nullptr && !limits_.hotOnly) queue_.resolveTags(std::span(units.data(), got));
            if (got == 0) return noUnits();
            for (std::size_t i = 0; i < got && more; ++i, ++at) {
                // In a batch queue there may be units that nobody shall see yet.
                more = units[i].base < result_.maxOffset && take(units[i], units[i].base);
                if (more) result_.nextOffset = units[i].end();
            }
        }
    }

    /// They went meanwhile, which is as if they had gone before, or their file has a fault.
    void noUnits() noexcept {
        if (queue_.isDiscarded()) {
            if (result_.messages == 0) result_.clear();
        } else if (const std::int64_t min = queue_.min(); result_.nextOffset < min) {
            if (result_.messages > 0) return;
            result_.status = ReadStatus::OffsetTooSmall;
            result_.nextOffset = result_.minOffset = min;
        } else {
            (void)failed("a consume queue cannot be read", {{"topic", queue_.topic()}, {"queue", queue_.id()}, {"offset", result_.nextOffset}});
        }
    }

    void cold() noexcept {
        if (result_.messages == 0) result_.status = ReadStatus::NotResident;
    }

    /// What is there and cannot be read is where the next read begins, however long it takes: a consumer must not pass it over.
    bool failed(std::string_view what, plugin::Logger::Fields fields) noexcept {
        if (result_.messages == 0) result_.status = ReadStatus::Failed;
        r_.log.limited(plugin::LogLevel::Error, what, fields);
        return false;
    }

    bool gone() noexcept {
        if (result_.messages == 0) result_.status = ReadStatus::Gone;
        return true;
    }

    /// False when the unit is not to be passed: it is where the next read begins.
    bool take(const Unit& unit, std::int64_t offset) noexcept {
        if (isFull(unit)) return false;
        if (!unit.isWritten()) return damaged(unit, offset);
        lastPhysical_ = unit.physical;
        if (unit.isFiller() || unit.physical < r_.commitLog.min() || !unit.isMessageBefore(logEnd_)) return gone();
        // An address that could not be resolved, or not without waiting: the message is asked.
        const bool plainCode = !QueueExtension::isAddress(unit.tagsCode);
        if (filter_ != nullptr && plainCode && !filter_->matchesTags(unit.tagsCode)) return refused();
        if (!window_ || !window_.covers(unit.physical, unit.bytes)) {
            Result<Window> window = r_.windows.find(unit.physical, unit.bytes);
            if (!window) return missing(unit, offset, window.error());
            window_ = std::move(*window);
            kept_ = false;
        }
        if (limits_.hotOnly && !isResident(unit)) {
            cold();
            return false;
        }
        // What this process wrote lately is in memory.
        if (!limits_.hotOnly && unit.physical < hotFrom_) {
            if (Status there = window_.populate(unit.physical, unit.bytes); !there) return missing(unit, offset, there);
        }
        const std::string_view record = window_.at(unit.physical, unit.bytes);
        if (!isMessage(record, unit)) return damaged(unit, offset);
        if (filter_ != nullptr && !matches(record, plainCode)) return refused();
        accept(record, unit.count);
        return true;
    }

    [[nodiscard]] bool isFull(const Unit& unit) const noexcept {
        if (result_.messages == 0) return false;
        const bool near = logEnd_ - unit.physical <= memoryBytes_;
        const auto& countMax = near ? r_.tunables.transferCountInMemory : r_.tunables.transferCountOnDisk;
        const auto& bytesMax = near ? r_.tunables.transferBytesInMemory : r_.tunables.transferBytesOnDisk;
        const std::int64_t bytes = result_.bytes + unit.bytes;
        const std::int64_t messages = std::int64_t{result_.messages} + unit.count;
        return messages > limits_.messagesMax || bytes > limits_.bytesMax || messages > countMax.load(std::memory_order_relaxed) ||
               bytes > bytesMax.load(std::memory_order_relaxed);
    }

    /// What the unit points to says itself what it is. A client could do nothing with other bytes and would ask for them for ever.
    [[nodiscard]] static bool isMessage(std::string_view record, const Unit& unit) noexcept {
        return record.size() >= protocol::kRecordBornHostAt && protocol::loadI32(record.data()) == unit.bytes &&
               protocol::loadI64(record.data() + protocol::kRecordPhysicalOffsetAt) == unit.physical;
    }

    bool missing(const Unit& unit, std::int64_t offset, const Status& why) noexcept {
        if (why.code() == StatusCode::NotFound) return gone();
        if (why.code() == StatusCode::Corrupt) return damaged(unit, offset);
        return failed("messages cannot be read", {{"topic", queue_.topic()}, {"queue", queue_.id()}, {"offset", offset},
                                                  {"error", why.toString()}});
    }

    bool damaged(const Unit& unit, std::int64_t offset) noexcept {
        r_.log.limited(plugin::LogLevel::Warn, "a message is passed over: its place in the log holds something else",
                       {{"topic", queue_.topic()}, {"queue", queue_.id()}, {"offset", offset}, {"position", unit.physical}});
        return gone();
    }

    bool refused() noexcept {
        if (result_.messages == 0) result_.status = ReadStatus::NoMatchedMessage;
        return true;
    }

    [[nodiscard]] bool matches(std::string_view record, bool plainCode) const noexcept {
        if (!plainCode) {
            protocol::RecordView view;
            if (protocol::RecordView::parse(record, view, protocol::RecordCheck::Layout) != protocol::RecordStatus::Message) {
                return false;
            }
            const std::string_view tags = protocol::findProperty(view.properties, protocol::kPropertyTags);
            if (!filter_->matchesTags(protocol::tagsCode(tags))) return false;
        }
        return !filter_->needsRecord() || filter_->matchesRecord(record);
    }

    [[nodiscard]] bool isResident(const Unit& unit) noexcept {
        return unit.physical >= hotFrom_ || window_.resident(unit.physical, unit.bytes, logEnd_, now());
    }

    /// One look at the clock serves the whole read.
    [[nodiscard]] MonotonicTime now() noexcept {
        if (now_ == MonotonicTime()) now_ = r_.clock.now();
        return now_;
    }

    void accept(std::string_view record, std::int32_t messages) noexcept {
        result_.status = ReadStatus::Found;
        result_.messages += messages;
        result_.bytes += static_cast<std::int64_t>(record.size());
        if (!kept_) {
            result_.keep.emplace_back(window_.part);
            kept_ = true;
        } else if (std::string_view& last = result_.pieces.back(); last.data() + last.size() == record.data()) {
            last = {last.data(), last.size() + record.size()};
            return;
        }
        result_.pieces.push_back(record);
    }

    const Parts& r_;
    const ConsumeQueue& queue_;
    const ReadLimits& limits_;
    const ReadFilter* const filter_;
    ReadResult& result_;
    const std::int64_t logEnd_;
    const std::int64_t hotFrom_;
    const std::int64_t memoryBytes_;
    const std::int64_t unitsMax_;
    Window window_;
    bool kept_ = false;
    MonotonicTime now_{};
    std::int64_t lastPhysical_ = 0;
};

Result<Ref<ConsumeQueue>> Reader::find(std::string_view topic, std::int32_t queueId) const {
    Ref<ConsumeQueue> queue = p_.queues.find(topic, queueId);
    if (queue) {
        if (Status loaded = load(*queue); !loaded) return queue->isDiscarded() ? Result<Ref<ConsumeQueue>>(Ref<ConsumeQueue>()) : loaded;
    }
    return queue;
}

Status Reader::load(ConsumeQueue& queue) const {
    Status loaded = queue.load();
    if (!loaded) {
        p_.log.limited(plugin::LogLevel::Error, "a consume queue cannot be read",
                       {{"topic", queue.topic()}, {"queue", queue.id()}, {"reason", loaded.toString()}});
    }
    return loaded;
}

void Reader::read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const ReadLimits& limits,
                  const ReadFilter* filter, ReadResult& result) const noexcept {
    const MonotonicTime begun = p_.clock.now();
    result.clear();
    if (const Ref<ConsumeQueue> queue = p_.queues.find(topic, queueId)) {
        result.nextOffset = offset;
        if (limits.hotOnly && !queue->isLoaded()) {
            result.status = ReadStatus::NotResident;
        } else if (!load(*queue)) {
            // Deleted meanwhile: as if the topic had gone before.
            result.status = queue->isDiscarded() ? ReadStatus::NoSuchQueue : ReadStatus::Failed;
        } else {
            readFrom(*queue, offset, limits, filter, result);
        }
    }
    if (result.status == ReadStatus::Found) {
        p_.state.read.fetch_add(result.messages, std::memory_order_relaxed);
        p_.state.readsFound.fetch_add(1, std::memory_order_relaxed);
    } else if (result.status != ReadStatus::NotResident && limits.messagesMax > 0) {
        p_.state.readsMissed.fetch_add(1, std::memory_order_relaxed);
    }
    const std::chrono::nanoseconds took = p_.clock.now() - begun;
    result.tookUs = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    p_.state.times.read(took);
}

void Reader::readFrom(const ConsumeQueue& queue, std::int64_t offset, const ReadLimits& limits, const ReadFilter* filter,
                      ReadResult& result) const noexcept {
    result.minOffset = queue.min();
    result.maxOffset = queue.max();
    if (result.maxOffset == 0) {
        result.status = ReadStatus::QueueEmpty;
    } else if (offset < result.minOffset) {
        result.status = ReadStatus::OffsetTooSmall;
        result.nextOffset = result.minOffset;
    } else if (offset == result.maxOffset) {
        result.status = ReadStatus::OffsetAtEnd;
        result.nextOffset = offset;
    } else if (offset > result.maxOffset) {
        result.status = ReadStatus::OffsetBeyondEnd;
        result.nextOffset = result.maxOffset;
    } else {
        result.status = ReadStatus::Gone;
        result.nextOffset = offset;
        Scan(*this, queue, limits, filter, result).run(offset);
    }
}

service::OffsetRange Reader::range(std::string_view topic, std::int32_t queueId) const noexcept {
    const Result<Ref<ConsumeQueue>> queue = find(topic, queueId);
    if (!queue || !*queue) return {};
    const std::int64_t max = (*queue)->max();
    return {std::min((*queue)->min(), max), max, max > 0};
}

Result<std::int64_t> Reader::timeOf(const ConsumeQueue& queue, std::int64_t place) const {
    // A filler, or a message that has gone: earlier than everything that is there.
    constexpr std::int64_t kGone = INT64_MIN;
    const Result<Unit> unit = unitAt(queue, place);
    if (!unit) return queue.isBelowMin(place) ? Result<std::int64_t>(kGone) : unit.error();
    if (unit->isFiller() || unit->physical < p_.commitLog.min()) return kGone;
    if (unit->storeTime >= 0) return unit->storeTime;
    const Result<std::int64_t> time = p_.records.storeTime(*unit);
    const bool wentMeanwhile = !time && unit->physical < p_.commitLog.min();
    return wentMeanwhile ? Result<std::int64_t>(kGone) : time;
}

Result<Unit> Reader::unitAt(const ConsumeQueue& queue, std::int64_t place) {
    Unit unit;
    if (queue.copy(place, std::span(&unit, 1)) == 1) return unit;
    return Status(StatusCode::Io, "the consume queue cannot be read at unit " + std::to_string(place));
}

Result<std::int64_t> Reader::offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs, Bound bound) const {
    const Result<Ref<ConsumeQueue>> found = find(topic, queueId);
    if (!found) return found.error();
    if (!*found) return 0;
    const Result<std::int64_t> offset = search(**found, timeMs, bound);
    // Deleted under the search, which read what was left: as if the topic had gone before.
    return (*found)->isDiscarded() ? Result<std::int64_t>(0) : offset;
}

Result<std::int64_t> Reader::search(const ConsumeQueue& queue, std::int64_t timeMs, Bound bound) const {
    const std::int64_t min = queue.min();
    const std::int64_t max = queue.max();
    if (min >= max) return min;
    const Result<std::int64_t> first = queue.find(min);
    const Result<std::int64_t> last = queue.find(max - 1);
    if (!first || !last) return first ? last.error() : first.error();
    const Result<std::int64_t> lower = firstWith(queue, *first, *last + 1, [&](std::int64_t time) { return time >= timeMs; });
    if (!lower) return lower;
    std::int64_t place = *lower;
    if (bound == Bound::Upper) {
        const Result<std::int64_t> behind = firstWith(queue, place, *last + 1, [&](std::int64_t time) { return time > timeMs; });
        if (!behind) return behind;
        place = std::max(*first, *behind - 1);
    }
    if (queue.kind() == QueueKind::Simple) return place;
    // Behind all of them RocketMQ names the last record, so that its messages come again, where it names the end of a simple queue.
    const Result<Unit> unit = unitAt(queue, std::min(place, *last));
    return unit ? Result<std::int64_t>(std::max(min, unit->base)) : unit.error();
}

template <typename Test>
Result<std::int64_t> Reader::firstWith(const ConsumeQueue& queue, std::int64_t from, std::int64_t to, Test test) const {
    while (from < to) {
        const std::int64_t middle = from + (to - from) / 2;
        const Result<std::int64_t> time = timeOf(queue, middle);
        if (!time) return time.error();
        if (test(*time)) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    return from;
}

Result<std::int64_t> Reader::storeTimeAt(std::string_view topic, std::int32_t queueId, std::int64_t offset) const {
    const Result<Ref<ConsumeQueue>> found = find(topic, queueId);
    if (!found) return found.error();
    const Ref<ConsumeQueue>& queue = *found;
    const Status missing(StatusCode::NotFound, "no message at offset " + std::to_string(offset));
    if (!queue || offset < queue->min() || offset >= queue->max()) return missing;
    const Result<std::int64_t> place = queue->find(offset);
    const Result<std::int64_t> time = place ? timeOf(*queue, *place) : place;
    // What went under the question is as if it had gone before.
    const bool gone = time ? *time == INT64_MIN : queue->isDiscarded() || offset < queue->min();
    return gone ? Result<std::int64_t>(missing) : time;
}

Result<Slice> Reader::at(std::int64_t position) const {
    if (position < p_.commitLog.min()) {
        return Status(StatusCode::NotFound, "position " + std::to_string(position) + " is below the oldest message");
    }
    const std::int64_t end = p_.state.visibleEnd.load(std::memory_order_acquire);
    // What this process wrote lately.
    const std::int64_t hotFrom = std::max(p_.state.startEnd.load(std::memory_order_relaxed), end - p_.options.hotWindowBytes);
    Result<Slice> found = p_.records.recordAt(position, end, hotFrom);
    if (found && !isReachable(found->bytes)) return Status(StatusCode::NotFound, "the topic of that message was deleted");
    return found;
}

bool Reader::isReachable(std::string_view record) const {
    protocol::RecordView view;
    if (protocol::RecordView::parse(record, view, protocol::RecordCheck::Layout) != protocol::RecordStatus::Message) return false;
    const std::int32_t type = protocol::transactionType(view.sysFlag);
    const bool queued = type == protocol::kSysFlagNotTransactional || type == protocol::kSysFlagCommit;
    // What is in no queue can only be asked for by position.
    if (!queued) return true;
    const Result<Ref<ConsumeQueue>> found = find(view.topic, view.queueId);
    if (!found) return true;  // what cannot be told is not denied
    const Ref<ConsumeQueue>& queue = *found;
    if (!queue || view.queueOffset < queue->min() || view.queueOffset >= queue->max()) return false;
    if (queue->owns(view.physicalOffset)) return true;
    const Result<std::int64_t> place = queue->find(view.queueOffset);
    Unit unit;
    if (!place || queue->copy(*place, std::span(&unit, 1)) != 1) return true;
    if (unit.physical != view.physicalOffset) return false;
    queue->noteOwn(unit.physical);
    return true;
}

std::int64_t Reader::earliestTime() const {
    const Result<Slice> first =
        p_.records.recordAt(p_.commitLog.min(), p_.state.visibleEnd.load(std::memory_order_acquire), INT64_MAX);
    if (!first) return -1;
    protocol::RecordView view;
    if (protocol::RecordView::parse(first->bytes, view, protocol::RecordCheck::Layout) != protocol::RecordStatus::Message) return -1;
    return view.storeTimestamp;
}

}  // namespace patchbay::mmapstore
