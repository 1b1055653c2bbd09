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
// Below this a tags code is the address of an entry in RocketMQ's consume queue extension.
constexpr std::int64_t kExtensionAddressMax = std::int64_t{INT32_MIN} - 1;

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
          unitsMax_(std::max<std::int64_t>(r_.tunables.filterBytesMax.load(std::memory_order_relaxed) / kUnitBytes,
                                           limits.messagesMax)) {}

    void run(std::int64_t offset) noexcept {
        const std::int64_t end = std::min(result_.maxOffset, offset + unitsMax_);
        std::array<Unit, kUnitsAtOnce> units;
        std::int64_t at = offset;
        bool more = true;
        const std::int32_t wanted = std::max(1, limits_.messagesMax);
        while (more && at < end && result_.messages < wanted) {
            // Without a filter no more units are of use than messages may be returned.
            const std::int64_t wish = filter_ == nullptr ? wanted - result_.messages : end - at;
            const auto count = static_cast<std::size_t>(std::min({wish, end - at, static_cast<std::int64_t>(kUnitsAtOnce)}));
            const bool cheap = !limits_.hotOnly || queue_.isHot(at, hotFrom_);
            if (!cheap && !queue_.resident(at, static_cast<std::int64_t>(count), now())) {
                cold();
                break;
            }
            const std::size_t got = queue_.copy(at, std::span(units.data(), count));
            if (got == 0) {
                (void)failed("a consume queue cannot be read", {{"topic", queue_.topic()}, {"queue", queue_.id()}, {"offset", at}});
                break;
            }
            for (std::size_t i = 0; i < got && more; ++i) {
                more = take(units[i], at);
                if (more) result_.nextOffset = ++at;
            }
        }
        result_.farBehind = logEnd_ - lastPhysical_ > memoryBytes_;
    }

private:
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
        lastPhysical_ = unit.physical;
        if (unit.isFiller() || unit.physical < r_.commitLog.min() || !unit.isMessageBefore(logEnd_)) return gone();
        const bool plainCode = unit.tagsCode > kExtensionAddressMax;
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
        accept(record);
        return true;
    }

    [[nodiscard]] bool isFull(const Unit& unit) const noexcept {
        if (result_.messages == 0) return false;
        const bool near = logEnd_ - unit.physical <= memoryBytes_;
        const auto& countMax = near ? r_.tunables.transferCountInMemory : r_.tunables.transferCountOnDisk;
        const auto& bytesMax = near ? r_.tunables.transferBytesInMemory : r_.tunables.transferBytesOnDisk;
        const std::int64_t bytes = result_.bytes + unit.bytes;
        return result_.messages >= limits_.messagesMax || bytes > limits_.bytesMax ||
               result_.messages >= countMax.load(std::memory_order_relaxed) || bytes > bytesMax.load(std::memory_order_relaxed);
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

    void accept(std::string_view record) noexcept {
        result_.status = ReadStatus::Found;
        ++result_.messages;
        result_.bytes += static_cast<std::int64_t>(record.size());
        if (!kept_) {
            result_.keep.emplace_back(window_.map());
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
        if (Status loaded = load(*queue); !loaded) return loaded;
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
    result.clear();
    if (const Ref<ConsumeQueue> queue = p_.queues.find(topic, queueId)) {
        result.nextOffset = offset;
        if (limits.hotOnly && !queue->isLoaded()) {
            result.status = ReadStatus::NotResident;
        } else if (!load(*queue)) {
            result.status = ReadStatus::Failed;
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

Result<std::int64_t> Reader::timeOf(const ConsumeQueue& queue, std::int64_t offset) const {
    Unit unit;
    if (queue.copy(offset, std::span(&unit, 1)) != 1) {
        return Status(StatusCode::Io, "the consume queue cannot be read at offset " + std::to_string(offset));
    }
    // A filler, or a message that has gone: earlier than everything that is there.
    if (unit.isFiller() || unit.physical < p_.commitLog.min()) return INT64_MIN;
    return p_.records.storeTime(unit);
}

Result<std::int64_t> Reader::offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs, Bound bound) const {
    const Result<Ref<ConsumeQueue>> found = find(topic, queueId);
    if (!found) return found.error();
    const Ref<ConsumeQueue>& queue = *found;
    if (!queue) return 0;
    const std::int64_t min = queue->min();
    const std::int64_t max = queue->max();
    const Result<std::int64_t> lower = firstWith(*queue, min, max, [&](std::int64_t time) { return time >= timeMs; });
    if (!lower || bound == Bound::Lower || min == max) return lower;
    const Result<std::int64_t> behind = firstWith(*queue, *lower, max, [&](std::int64_t time) { return time > timeMs; });
    return behind ? Result<std::int64_t>(std::max(min, *behind - 1)) : behind;
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
    const Result<std::int64_t> time = timeOf(*queue, offset);
    return time && *time == INT64_MIN ? Result<std::int64_t>(missing) : time;
}

Result<Slice> Reader::at(std::int64_t position) const {
    if (position < p_.commitLog.min()) {
        return Status(StatusCode::NotFound, "position " + std::to_string(position) + " is below the oldest message");
    }
    Result<Slice> found = p_.records.recordAt(position, p_.state.visibleEnd.load(std::memory_order_acquire));
    if (found && !isReachable(found->bytes)) return Status(StatusCode::NotFound, "the topic of that message was deleted");
    return found;
}

bool Reader::isReachable(std::string_view record) const {
    protocol::RecordView view;
    if (protocol::RecordView::parse(record, view, protocol::RecordCheck::Layout) != protocol::RecordStatus::Message) return false;
    const std::int32_t type = protocol::transactionType(view.sysFlag);
    const bool queued = type == protocol::kSysFlagNotTransactional || type == protocol::kSysFlagCommit;
    // What is in no queue, or in one that this store leaves alone, can only be asked for by position.
    if (!queued || (view.sysFlag & protocol::kSysFlagInnerBatch) != 0 || p_.queues.isBatchTopic(view.topic)) return true;
    const Result<Ref<ConsumeQueue>> found = find(view.topic, view.queueId);
    if (!found) return true;  // what cannot be told is not denied
    const Ref<ConsumeQueue>& queue = *found;
    if (!queue || view.queueOffset < queue->min() || view.queueOffset >= queue->max()) return false;
    Unit unit;
    return queue->copy(view.queueOffset, std::span(&unit, 1)) != 1 || unit.physical == view.physicalOffset;
}

std::int64_t Reader::earliestTime() const {
    const Result<Slice> first =
        p_.records.recordAt(p_.commitLog.min(), p_.state.visibleEnd.load(std::memory_order_acquire));
    if (!first) return -1;
    protocol::RecordView view;
    if (protocol::RecordView::parse(first->bytes, view, protocol::RecordCheck::Layout) != protocol::RecordStatus::Message) return -1;
    return view.storeTimestamp;
}

}  // namespace patchbay::mmapstore
