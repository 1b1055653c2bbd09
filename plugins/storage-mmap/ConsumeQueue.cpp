// Appending to, reading and writing a consume queue.
#include "ConsumeQueue.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <array>

namespace patchbay::mmapstore {

namespace {

constexpr std::int64_t kTailOverheadBytes = 64;  // the vector and its block, roughly
constexpr std::size_t kChunkUnits = 64;
constexpr std::int64_t kHotUnits = 4096;

}  // namespace

ConsumeQueue::~ConsumeQueue() {
    dropTail();
    if (!isLoaded() && !failure_) env_.unloaded.fetch_sub(1, std::memory_order_relaxed);
    // A reader may have opened files after discard(), and the next queue may get this address.
    env_.open.forget(this);
}

void ConsumeQueue::append(std::span<const service::AppendedRecord> records, std::int64_t end) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < records.size(); ++i) {
        const service::AppendedRecord& record = records[i];
        const std::int64_t next = i + 1 < records.size() ? records[i + 1].queueOffset : end;
        addTail({record.physicalOffset, record.recordBytes, record.tagsCode, record.storeTimestamp, record.queueOffset,
                 static_cast<std::int32_t>(next - record.queueOffset)});
    }
    newest_.store(records.back().physicalOffset, std::memory_order_relaxed);
    // A failure leaves the units in the tail; the upkeep tries again and reports.
    if (tailSize() >= kTailUnitsMax) (void)writeTailLocked();
}

void ConsumeQueue::addTail(const Unit& unit) {
    if (!tail_) {
        tail_ = std::make_unique<std::vector<char>>();
        env_.tailBytes.fetch_add(kTailOverheadBytes, std::memory_order_relaxed);
    }
    const std::size_t at = tail_->size();
    const std::size_t before = tail_->capacity();
    tail_->resize(at + static_cast<std::size_t>(unitSize()));
    if (tail_->capacity() != before) {
        env_.tailBytes.fetch_add(static_cast<std::int64_t>(tail_->capacity() - before), std::memory_order_relaxed);
    }
    storeUnit(tail_->data() + at, unit, kind_);
    if (!isExtended()) return;
    if (!tailTimes_) tailTimes_ = std::make_unique<std::vector<std::int64_t>>();
    tailTimes_->push_back(unit.isFiller() ? -1 : unit.storeTime);
}

bool ConsumeQueue::isExtended() const noexcept {
    // RocketMQ extends what was sent to a queue, not what it put there beside.
    return env_.extend && kind_ == QueueKind::Simple && !topic().starts_with(protocol::kLmqPrefix);
}

QueueExtension& ConsumeQueue::extension() const {
    std::call_once(extensionMade_, [&] {
        extension_ = std::make_unique<QueueExtension>(env_.files, env_.open, env_.layout.extension(topic_->text, id_), env_.extensionFileBytes);
    });
    return *extension_;
}

void ConsumeQueue::extend(std::vector<char>& units) {
    QueueExtension& extension = this->extension();
    Status placed;
    if (!extension.isPlaced()) {
        const std::int64_t last = written_.load(std::memory_order_relaxed) - 1;
        const bool any = last >= 0 && lastFile_ >= 0 && last * unitSize() >= firstFile_;
        const Result<Unit> newest = any ? readUnit(last) : Result<Unit>(Unit{});
        placed = newest ? extension.continueBehind(newest->tagsCode) : newest.error();
    }
    std::vector<QueueExtension::Entry> entries;
    for (std::size_t i = 0; i < tailTimes_->size(); ++i) {
        if ((*tailTimes_)[i] >= 0) entries.push_back({tailUnit(i).tagsCode, (*tailTimes_)[i]});
    }
    if (placed) placed = extension.append(entries);
    if (!placed) {
        env_.log.limited(plugin::LogLevel::Warn, "the extension of a consume queue cannot be written; its units keep their tags codes",
                         {{"topic", topic_->text}, {"queue", id_}, {"error", placed.toString()}});
        return;
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < tailTimes_->size(); ++i) {
        if ((*tailTimes_)[i] >= 0) protocol::storeI64(units.data() + i * static_cast<std::size_t>(unitSize()) + 12, entries[next++].address);
    }
}

void ConsumeQueue::resolveTags(std::span<Unit> units) const {
    if (kind_ != QueueKind::Simple) return;
    for (Unit& unit : units) {
        if (!QueueExtension::isAddress(unit.tagsCode)) continue;
        if (const Result<std::int64_t> code = extension().tagsCodeAt(unit.tagsCode)) unit.tagsCode = *code;
    }
}

void ConsumeQueue::dropTail() noexcept {
    if (!tail_) return;
    env_.tailBytes.fetch_sub(kTailOverheadBytes + static_cast<std::int64_t>(tail_->capacity()), std::memory_order_relaxed);
    tail_.reset();
    tailTimes_.reset();
}

std::size_t ConsumeQueue::copy(std::int64_t from, std::span<Unit> to) const {
    if (from < written_.load(std::memory_order_acquire)) return readFile(from, to);
    std::unique_lock lock(mutex_);
    const std::int64_t written = written_.load(std::memory_order_relaxed);
    if (from < written) {  // the tail was written between the two looks
        lock.unlock();
        return readFile(from, to);
    }
    if (!tail_) return 0;
    const auto skip = static_cast<std::size_t>(from - written);
    if (skip >= tailSize()) return 0;
    const std::size_t count = std::min(to.size(), tailSize() - skip);
    for (std::size_t i = 0; i < count; ++i) to[i] = tailUnit(skip + i);
    return count;
}

std::size_t ConsumeQueue::readFile(std::int64_t from, std::span<Unit> to) const {
    const std::int64_t start = fileOf(from);
    const std::int64_t end = std::min(written_.load(std::memory_order_acquire), start / unitSize() + unitsPerFile());
    const std::size_t count = std::min({to.size(), kChunkUnits, static_cast<std::size_t>(end - from)});
    const Result<Ref<QueueFile>> file = openFile(start);
    if (!file) return 0;
    std::array<char, kChunkUnits * kBatchUnitBytes> bytes;
    const auto size = static_cast<std::size_t>(unitSize());
    const Result<std::size_t> got =
        (*file)->file->readAt(std::span(bytes.data(), count * size), static_cast<std::uint64_t>(from * unitSize() - start));
    if (!got) return 0;
    const std::size_t units = *got / size;
    for (std::size_t i = 0; i < units; ++i) to[i] = loadUnit(bytes.data() + i * size, kind_, from + static_cast<std::int64_t>(i));
    return units;
}

Result<Unit> ConsumeQueue::readUnit(std::int64_t place) const {
    Unit unit;
    if (readFile(place, std::span(&unit, 1)) == 1) return unit;
    return Status(StatusCode::Io, "cannot read unit " + std::to_string(place) + " of " + directory());
}

Result<std::int64_t> ConsumeQueue::find(std::int64_t offset, std::int64_t hotFrom) const {
    if (kind_ == QueueKind::Simple) return offset;
    std::int64_t from = 0;
    std::int64_t to = 0;
    {
        const std::lock_guard lock(mutex_);
        from = minPlace_;
        to = written_.load(std::memory_order_relaxed);
        const std::size_t units = tailSize();
        if (units > 0 && tailUnit(0).base <= offset) {
            std::size_t at = 0;
            for (std::size_t above = units; above - at > 1;) {
                const std::size_t middle = at + (above - at) / 2;
                (tailUnit(middle).base <= offset ? at : above) = middle;
            }
            return to + static_cast<std::int64_t>(offset < tailUnit(at).end() ? at : at + 1);
        }
    }
    if (hotFrom != kMayWait) {
        // Only what this process wrote lately is surely in memory, and the search may look at any of it.
        from = std::max({from, foundAtStart_, to - kHotUnits});
        const Status cold(StatusCode::Busy, "the disk would have to be waited for");
        if (from >= to || !isHot(from, hotFrom)) return cold;
        const Result<Unit> first = readUnit(from);
        if (!first || first->base > offset) return cold;
    }
    // A consumer goes on where it ended.
    std::array<Unit, 2> near;
    const std::int64_t before = found_.load(std::memory_order_relaxed);
    const std::size_t got = before >= from && before < to ? readFile(before, near) : 0;
    for (std::size_t i = 0; i < got; ++i) {
        if (near[i].base > offset || offset >= near[i].end()) continue;
        found_.store(before + static_cast<std::int64_t>(i), std::memory_order_relaxed);
        return before + static_cast<std::int64_t>(i);
    }
    while (from < to) {
        const std::int64_t middle = from + (to - from) / 2;
        const Result<Unit> unit = readUnit(middle);
        if (!unit) return unit.error();
        if (unit->end() > offset) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    found_.store(from, std::memory_order_relaxed);
    return from;
}

std::int64_t ConsumeQueue::offsetOf(std::int64_t place) const {
    if (kind_ == QueueKind::Simple) return place;
    Unit unit;
    if (copy(place, {&unit, 1}) == 1) return unit.base;
    return place > 0 && copy(place - 1, {&unit, 1}) == 1 ? unit.end() : min();
}

bool ConsumeQueue::isHot(std::int64_t from, std::int64_t hotFrom) const noexcept {
    const std::int64_t written = written_.load(std::memory_order_acquire);
    if (from >= written) return true;
    const bool ours = from >= foundAtStart_ && written - from <= kHotUnits;
    return ours && newest_.load(std::memory_order_relaxed) >= hotFrom;
}

bool ConsumeQueue::resident(std::int64_t from, std::int64_t units, MonotonicTime now) const {
    const std::int64_t written = written_.load(std::memory_order_acquire);
    if (from >= written) return true;
    const std::int64_t start = fileOf(from);
    const std::int64_t count = std::min({units, written - from, start / unitSize() + unitsPerFile() - from});
    const Result<Ref<QueueFile>> file = openFile(start);
    if (!file) return true;  // the read will say what is wrong
    const Ref<Residency> residency = (*file)->residency(static_cast<std::size_t>(fileSize()));
    return residency && residency->has(static_cast<std::size_t>(from * unitSize() - start), static_cast<std::size_t>(count * unitSize()),
                                       static_cast<std::size_t>(written * unitSize() - start), now);
}

std::size_t ConsumeQueue::tailUnits() const {
    const std::lock_guard lock(mutex_);
    return tailSize();
}

Status ConsumeQueue::writeTail() {
    const std::lock_guard lock(mutex_);
    const Status written = writeTailLocked();
    if (written) dropTail();
    return written;
}

Status ConsumeQueue::writeTailLocked() {
    if (!tail_ || tail_->empty()) return Status::ok();
    if (!discarded_) {
        std::vector<char> extended;
        const std::int64_t before = isExtended() ? extension().end() : -1;
        if (isExtended()) {
            extended = *tail_;
            extend(extended);
        }
        const std::vector<char>& bytes = isExtended() ? extended : *tail_;
        if (Status good = writeUnits(written_.load(std::memory_order_relaxed), {bytes.data(), bytes.size()}); !good) {
            if (isExtended()) extension().rewind(before);  // the next attempt writes there again
            return good;
        }
        const auto units = static_cast<std::int64_t>(tailSize());
        written_.store(written_.load(std::memory_order_relaxed) + units, std::memory_order_release);
    }
    tail_->clear();
    if (tailTimes_) tailTimes_->clear();
    return Status::ok();
}

Status ConsumeQueue::writeUnits(std::int64_t place, std::string_view bytes) {
    ahead_.reset();
    while (!bytes.empty()) {
        const std::int64_t start = fileOf(place);
        const std::int64_t at = place * unitSize() - start;
        const std::size_t part = std::min(bytes.size(), static_cast<std::size_t>(fileSize() - at));
        Result<Ref<QueueFile>> file = fileForWrite(start);
        if (!file) return file.error();
        if (Status good = (*file)->file->writeAt(bytes.substr(0, part), static_cast<std::uint64_t>(at)); !good) return good;
        if (unsyncedFrom_ < 0 || start < unsyncedFrom_) unsyncedFrom_ = start;
        bytes.remove_prefix(part);
        place += static_cast<std::int64_t>(part) / unitSize();
    }
    return Status::ok();
}

Result<Ref<QueueFile>> ConsumeQueue::fileForWrite(std::int64_t start) {
    if (start <= lastFile_) return openFile(start);
    if (Status made = env_.files.makeDirectories(directory()); !made) return made;
    Result<Ref<QueueFile>> file = env_.open.open(this, start, [&] { return pathOf(start); }, OpenMode::Create);
    if (!file) return file;
    // Full size from the beginning, as RocketMQ demands; without blocks until they are written.
    if (Status sized = (*file)->file->truncate(static_cast<std::uint64_t>(fileSize())); !sized) {
        env_.open.forget(this, start);
        (void)env_.files.remove(pathOf(start));
        return sized;
    }
    if (firstFile_ < 0) firstFile_ = start;
    lastFile_ = start;
    directoryChanged_ = true;
    return file;
}

ConsumeQueue::Unsynced ConsumeQueue::takeUnsynced() {
    const std::lock_guard lock(mutex_);
    if (discarded_ || unsyncedFrom_ < 0) return {};
    return {std::exchange(unsyncedFrom_, -1), lastFile_, std::exchange(directoryChanged_, false)};
}

void ConsumeQueue::giveBack(const Unsynced& unsynced) {
    const std::lock_guard lock(mutex_);
    if (discarded_ || unsynced.from < 0) return;
    unsyncedFrom_ = unsyncedFrom_ < 0 ? unsynced.from : std::min(unsyncedFrom_, unsynced.from);
    directoryChanged_ = directoryChanged_ || unsynced.directory;
}

Status ConsumeQueue::sync() {
    const Unsynced unsynced = takeUnsynced();
    if (unsynced.from < 0) return Status::ok();
    Status result;
    for (std::int64_t start = unsynced.from; result && start <= unsynced.last; start += fileSize()) {
        const Result<Ref<QueueFile>> file = openFile(start);
        result = file ? (*file)->file->sync() : file.error();
        if (result.code() == StatusCode::NotFound && wasRemoved(start)) result = Status::ok();
    }
    if (result && isExtended()) result = extension().sync();
    if (result && unsynced.directory) {
        result = env_.files.syncDirectory(directory());
        if (result) result = env_.files.syncDirectory(env_.layout.topic(topic_->text, kind_));
        if (result) result = env_.files.syncDirectory(env_.layout.queues(kind_));
    }
    // Its topic was deleted meanwhile, and the directories are elsewhere.
    if (!result && isDiscarded()) result = Status::ok();
    if (!result) giveBack(unsynced);
    return result;
}

bool ConsumeQueue::wasRemoved(std::int64_t start) const {
    const std::lock_guard lock(mutex_);
    return discarded_ || start < firstFile_;
}

bool ConsumeQueue::isDiscarded() const {
    const std::lock_guard lock(mutex_);
    return discarded_;
}

bool ConsumeQueue::isBelowMin(std::int64_t place) const {
    const std::lock_guard lock(mutex_);
    return place < minPlace_;
}

void ConsumeQueue::discard() {
    const std::lock_guard lock(mutex_);
    discarded_ = true;
    dropTail();
    env_.open.forget(this);
}

}  // namespace patchbay::mmapstore
