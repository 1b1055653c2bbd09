// Appending to, reading and writing a consume queue.
#include "ConsumeQueue.h"

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
    if (!isLoaded()) env_.unloaded.fetch_sub(1, std::memory_order_relaxed);
    // A reader may have opened files after discard(), and the next queue may get this address.
    env_.open.forget(this);
}

void ConsumeQueue::append(std::span<const service::AppendedRecord> records) {
    const std::lock_guard lock(mutex_);
    for (const service::AppendedRecord& record : records) {
        addTail({record.physicalOffset, record.recordBytes, record.tagsCode});
    }
    newest_.store(records.back().physicalOffset, std::memory_order_relaxed);
    // A failure leaves the units in the tail; the upkeep tries again and reports.
    if (tail_->size() >= kTailUnitsMax * static_cast<std::size_t>(kUnitBytes)) (void)writeTailLocked();
}

void ConsumeQueue::addTail(const Unit& unit) {
    if (!tail_) {
        tail_ = std::make_unique<std::vector<char>>();
        env_.tailBytes.fetch_add(kTailOverheadBytes, std::memory_order_relaxed);
    }
    const std::size_t at = tail_->size();
    const std::size_t before = tail_->capacity();
    tail_->resize(at + kUnitBytes);
    if (tail_->capacity() != before) {
        env_.tailBytes.fetch_add(static_cast<std::int64_t>(tail_->capacity() - before), std::memory_order_relaxed);
    }
    storeUnit(tail_->data() + at, unit);
}

void ConsumeQueue::dropTail() noexcept {
    if (!tail_) return;
    env_.tailBytes.fetch_sub(kTailOverheadBytes + static_cast<std::int64_t>(tail_->capacity()), std::memory_order_relaxed);
    tail_.reset();
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
    const std::size_t there = tail_->size() / kUnitBytes;
    if (skip >= there) return 0;
    const std::size_t count = std::min(to.size(), there - skip);
    for (std::size_t i = 0; i < count; ++i) to[i] = loadUnit(tail_->data() + (skip + i) * kUnitBytes);
    return count;
}

std::size_t ConsumeQueue::readFile(std::int64_t from, std::span<Unit> to) const {
    const std::int64_t start = fileOf(from);
    const std::int64_t end = std::min(written_.load(std::memory_order_acquire), start / kUnitBytes + unitsPerFile());
    const std::size_t count = std::min({to.size(), kChunkUnits, static_cast<std::size_t>(end - from)});
    const Result<Ref<QueueFile>> file = openFile(start);
    if (!file) return 0;
    std::array<char, kChunkUnits * kUnitBytes> bytes;
    const Result<std::size_t> got = (*file)->file->readAt(std::span(bytes.data(), count * kUnitBytes),
                                                          static_cast<std::uint64_t>(from * kUnitBytes - start));
    if (!got) return 0;
    const std::size_t units = *got / kUnitBytes;
    for (std::size_t i = 0; i < units; ++i) to[i] = loadUnit(bytes.data() + i * kUnitBytes);
    return units;
}

Result<Unit> ConsumeQueue::readUnit(std::int64_t offset) const {
    Unit unit;
    if (readFile(offset, std::span(&unit, 1)) == 1) return unit;
    return Status(StatusCode::Io, "cannot read unit " + std::to_string(offset) + " of " + env_.layout.queue(topic_->text, id_));
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
    const std::int64_t count = std::min({units, written - from, start / kUnitBytes + unitsPerFile() - from});
    const Result<Ref<QueueFile>> file = openFile(start);
    if (!file) return true;  // the read will say what is wrong
    const Ref<Residency> residency = (*file)->residency(static_cast<std::size_t>(env_.fileBytes));
    return residency && residency->has(static_cast<std::size_t>(from * kUnitBytes - start), static_cast<std::size_t>(count * kUnitBytes),
                                       static_cast<std::size_t>(written * kUnitBytes - start), now);
}

std::size_t ConsumeQueue::tailUnits() const {
    const std::lock_guard lock(mutex_);
    return tail_ ? tail_->size() / kUnitBytes : 0;
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
        if (Status good = writeUnits(written_.load(std::memory_order_relaxed), {tail_->data(), tail_->size()}); !good) return good;
        const auto units = static_cast<std::int64_t>(tail_->size()) / kUnitBytes;
        written_.store(written_.load(std::memory_order_relaxed) + units, std::memory_order_release);
    }
    tail_->clear();
    return Status::ok();
}

Status ConsumeQueue::writeUnits(std::int64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        const std::int64_t start = fileOf(offset);
        const std::int64_t at = offset * kUnitBytes - start;
        const std::size_t part = std::min(bytes.size(), static_cast<std::size_t>(env_.fileBytes - at));
        Result<Ref<QueueFile>> file = fileForWrite(start);
        if (!file) return file.error();
        if (Status good = (*file)->file->writeAt(bytes.substr(0, part), static_cast<std::uint64_t>(at)); !good) return good;
        if (unsyncedFrom_ < 0 || start < unsyncedFrom_) unsyncedFrom_ = start;
        bytes.remove_prefix(part);
        offset += static_cast<std::int64_t>(part) / kUnitBytes;
    }
    return Status::ok();
}

Result<Ref<QueueFile>> ConsumeQueue::fileForWrite(std::int64_t start) {
    if (start <= lastFile_) return openFile(start);
    if (Status made = env_.files.makeDirectories(env_.layout.queue(topic_->text, id_)); !made) return made;
    Result<Ref<QueueFile>> file = env_.open.open(this, start, [&] { return pathOf(start); }, OpenMode::Create);
    if (!file) return file;
    // Full size from the beginning, as RocketMQ demands; without blocks until they are written.
    if (Status sized = (*file)->file->truncate(static_cast<std::uint64_t>(env_.fileBytes)); !sized) {
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
    for (std::int64_t start = unsynced.from; result && start <= unsynced.last; start += env_.fileBytes) {
        const Result<Ref<QueueFile>> file = openFile(start);
        result = file ? (*file)->file->sync() : file.error();
        if (result.code() == StatusCode::NotFound && wasRemoved(start)) result = Status::ok();
    }
    if (result && unsynced.directory) {
        result = env_.files.syncDirectory(env_.layout.queue(topic_->text, id_));
        if (result) result = env_.files.syncDirectory(env_.layout.topic(topic_->text));
        if (result) result = env_.files.syncDirectory(env_.layout.queues());
    }
    if (!result) giveBack(unsynced);
    return result;
}

bool ConsumeQueue::wasRemoved(std::int64_t start) const {
    const std::lock_guard lock(mutex_);
    return discarded_ || start < firstFile_;
}

void ConsumeQueue::discard() {
    const std::lock_guard lock(mutex_);
    discarded_ = true;
    dropTail();
    env_.open.forget(this);
}

}  // namespace patchbay::mmapstore
