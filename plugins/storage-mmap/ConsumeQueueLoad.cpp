// What a consume queue finds in its files, how it is mended, and how old files go.
#include "Aside.h"
#include "ConsumeQueue.h"

#include <algorithm>
#include <array>

namespace patchbay::mmapstore {

namespace {

/// The first of [from, to) for which `test` holds, which then holds for all later ones; `to` when there is none.
template <typename Test>
std::int64_t firstWhere(std::int64_t from, std::int64_t to, Test test) {
    while (from < to) {
        const std::int64_t middle = from + (to - from) / 2;
        if (test(middle)) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    return from;
}

}  // namespace

Status QueueEnvironment::dropCheckpoint() {
    const std::lock_guard lock(dropMutex);
    if (checkpointDropped) return Status::ok();
    if (Status removed = files.remove(layout.checkpoint()); !removed && removed.code() != StatusCode::NotFound) return removed;
    if (Status synced = files.syncDirectory(layout.root); !synced) return synced;
    checkpointDropped = true;
    return Status::ok();
}

Status ConsumeQueue::loadFiles() {
    const std::lock_guard lock(mutex_);
    if (loaded_.load(std::memory_order_relaxed)) return Status::ok();
    if (failure_) return *failure_;
    // Its files may be those of another queue of this name by now.
    if (discarded_) return {StatusCode::NotFound, "the topic was deleted"};
    const Status good = loadLocked();
    if (good) {
        env_.unloaded.fetch_sub(1, std::memory_order_relaxed);
        loaded_.store(true, std::memory_order_release);
    } else if (good.code() == StatusCode::Corrupt) {
        // Nothing will be different the next time; so it was looked at, as far as that goes.
        env_.unloaded.fetch_sub(1, std::memory_order_relaxed);
        failure_ = std::make_unique<Status>(good);
        if (env_.afterCrash) return good;  // recovery asks, and sets it aside
        const char* const key = kind_ == QueueKind::Simple ? "mappedFileSizeConsumeQueue" : "mapperFileSizeBatchConsumeQueue";
        *failure_ = Status(StatusCode::Corrupt, good.message() + "; set " + key + " to the size of the files and start again, or stop and remove "
                                                    "consumequeue and batchconsumequeue to have all of them rebuilt from the commit log");
        env_.log.error("a consume queue cannot be used", {{"reason", failure_->message()}});
        return *failure_;
    }
    return good;
}

StopMark::Queue ConsumeQueue::left() const {
    const std::lock_guard lock(mutex_);
    StopMark::Queue result{topic_->text, id_, firstFile_, -1, newest_.load(std::memory_order_relaxed), kind_, -1};
    const bool known = loaded_.load(std::memory_order_relaxed) ? !tail_ : firstFile_ >= 0;
    if (!known || failure_ || discarded_) return result;
    result.max = visible_.load(std::memory_order_relaxed);
    result.units = written_.load(std::memory_order_relaxed);
    return result;
}

void ConsumeQueue::presume(const StopMark::Queue& left) {
    const std::lock_guard lock(mutex_);
    if (loaded_.load(std::memory_order_relaxed)) return;
    firstFile_ = left.firstFile;
    promised_ = left.max;
    visible_.store(left.max, std::memory_order_relaxed);
    written_.store(left.units, std::memory_order_relaxed);
    newest_.store(left.newest, std::memory_order_relaxed);
}

bool ConsumeQueue::isAsLeft(const StopMark::Queue& left) const {
    if (left.kind != kind_) return false;
    if (left.firstFile < 0) return true;
    const std::int64_t lastUnit = left.units - 1;
    const std::int64_t lastFile = std::max(left.firstFile, left.units > 0 ? fileOf(lastUnit) : 0);
    // Most queues have one file, which is looked at below.
    if (lastFile > left.firstFile && !hasFiles(left.firstFile, lastFile)) return false;
    const Result<std::unique_ptr<File>> file = env_.files.open(pathOf(lastFile), OpenMode::Read);
    if (!file) return false;
    const Result<std::uint64_t> size = (*file)->size();
    if (!size || *size != static_cast<std::uint64_t>(fileSize())) return false;
    if (left.newest < 0 || lastUnit * unitSize() < left.firstFile) return true;
    std::array<char, kUnitBytes> bytes{};
    const Result<std::size_t> got = (*file)->readAt(bytes, static_cast<std::uint64_t>(lastUnit * unitSize() - lastFile));
    return got && *got == bytes.size() && loadUnit(bytes.data()).physical == left.newest;
}

bool ConsumeQueue::lacksItsBeginning(std::int64_t logMin) const {
    const std::lock_guard lock(mutex_);
    if (!loaded_.load(std::memory_order_relaxed) || discarded_ || tail_) return false;
    if (firstFile_ <= 0) return firstFile_ < 0;
    // Files go when all of their messages have gone, so the first that is left begins with messages that have gone, too.
    const Result<Unit> first = readUnit(firstFile_ / unitSize());
    return first && !first->isFiller() && first->physical > logMin;
}

bool ConsumeQueue::hasFiles(std::int64_t first, std::int64_t last) const {
    const Result<std::vector<FileInfo>> listed = env_.files.list(directory());
    if (!listed) return false;
    std::int64_t next = first;
    for (const FileInfo& info : *listed) {
        if (info.directory) continue;
        const std::optional<std::int64_t> start = parseFileName(info.name);
        if (!start) continue;  // set aside when the queue is loaded
        if (*start != next || info.size != static_cast<std::uint64_t>(fileSize())) return false;
        next += fileSize();
    }
    return next > last;
}

Status ConsumeQueue::skipTo(std::int64_t offset) {
    const std::lock_guard lock(mutex_);
    if (next_ >= offset) return Status::ok();
    const bool empty = firstFile_ < 0 && !tail_;
    if (empty) min_.store(offset, std::memory_order_release);
    if (kind_ == QueueKind::Batch) {
        // Nothing on the disk can say so; the note of the next stop will.
        next_ = promised_ = offset;
    } else {
        if (empty) {
            next_ = fileOf(offset) / kUnitBytes;
            minPlace_ = offset;
            written_.store(next_, std::memory_order_release);
        }
        for (; next_ < offset; ++next_) addTail({0, kFillerSize, 0});
    }
    visible_.store(next_, std::memory_order_release);
    return writeTailLocked();
}

Status ConsumeQueue::loadLocked() {
    firstFile_ = lastFile_ = -1;
    visible_.store(0, std::memory_order_relaxed);
    written_.store(0, std::memory_order_relaxed);
    newest_.store(-1, std::memory_order_relaxed);
    std::vector<std::int64_t> starts;
    if (Status found = findFiles(starts); !found) return found;
    if (starts.empty()) return Status::ok();
    firstFile_ = starts.front();
    lastFile_ = starts.back();
    // Reads of single units below must not be stopped by what is not known yet.
    written_.store(lastFile_ / unitSize() + unitsPerFile(), std::memory_order_release);
    const Result<std::int64_t> end = findEnd(starts);
    if (!end) return end.error();
    written_.store(*end, std::memory_order_release);
    if (Status cleared = clearBehind(*end); !cleared) return cleared;
    foundAtStart_ = *end;
    next_ = kind_ == QueueKind::Simple ? *end : promised_;
    const std::int64_t first = firstFile_ / unitSize();
    if (*end > first) {
        const Result<Unit> last = readUnit(*end - 1);
        if (!last) return last.error();
        if (!last->isFiller()) newest_.store(last->physical, std::memory_order_relaxed);
        if (kind_ == QueueKind::Batch) next_ = std::max(next_, last->end());
    }
    minPlace_ = findMin(first, *end, env_.commitLog.min());
    std::int64_t min = minPlace_;
    if (kind_ == QueueKind::Batch) {
        const Result<Unit> oldest = minPlace_ < *end ? readUnit(minPlace_) : Result<Unit>(Unit{.base = next_});
        if (!oldest) return oldest.error();
        min = oldest->base;
    }
    min_.store(min, std::memory_order_release);
    visible_.store(next_, std::memory_order_release);
    return Status::ok();
}

Status ConsumeQueue::listFiles(std::vector<FileInfo>& found) {
    Result<std::vector<FileInfo>> listed = env_.files.list(directory());
    if (!listed) return listed.error().code() == StatusCode::NotFound ? Status::ok() : listed.error();
    for (FileInfo& info : *listed) {
        if (info.directory) continue;
        if (parseFileName(info.name)) {
            found.push_back(std::move(info));
            continue;
        }
        const std::string path = directory() + "/" + info.name;
        const Result<std::string> moved = setAside(env_.files, env_.layout, path);
        if (!moved) {
            // It does no harm where it is, and the next start tries again.
            env_.log.limited(plugin::LogLevel::Warn, "a file that belongs to no consume queue cannot be set aside and is passed over",
                             {{"file", path}, {"error", moved.error().toString()}});
            continue;
        }
        env_.log.warn("a file that belongs to no consume queue was set aside", {{"file", path}, {"to", *moved}});
    }
    return Status::ok();
}

Status ConsumeQueue::findFiles(std::vector<std::int64_t>& starts) {
    std::vector<FileInfo> found;
    if (Status listed = listFiles(found); !listed) return listed;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::string path = directory() + "/" + found[i].name;
        const std::int64_t start = parseFileName(found[i].name).value_or(-1);
        const bool last = i + 1 == found.size();
        const auto size = static_cast<std::int64_t>(found[i].size);
        if (!starts.empty() && start > starts.back() + fileSize()) {
            if (Status removed = removeStale(starts); !removed) return removed;
        }
        const bool unwritten = !starts.empty() && (start > starts.back() + fileSize() || size == 0);
        if (unwritten && env_.afterCrash) {
            // As a rule the name or the size of a file was not durable yet, so nothing behind it is older than the checkpoint.
            if (Status removed = removeFrom(found, i); !removed) return removed;
            markCleared(starts.back());
            break;
        }
        if (start % fileSize() != 0 || (!starts.empty() && start != starts.back() + fileSize())) {
            return {StatusCode::Corrupt, path + " does not belong to a consume queue with files of " + std::to_string(fileSize()) + " bytes"};
        }
        if (last && size == 0) return removeEmptyLast(path);
        if (size > fileSize() || (size < fileSize() && !last)) {
            return {StatusCode::Corrupt, path + " has " + std::to_string(size) + " bytes instead of " + std::to_string(fileSize())};
        }
        if (size < fileSize()) {
            if (Status grown = extendLast(found[i], path); !grown) return grown;
        }
        starts.push_back(start);
    }
    return Status::ok();
}

Status ConsumeQueue::removeEmptyLast(const std::string& path) {
    if (Status begun = beginMending(); !begun) return begun;
    if (Status removed = env_.files.remove(path); !removed) return removed;
    env_.log.warn("removed an empty consume-queue file", {{"file", path}});
    cutShort_ = env_.afterCrash;
    return Status::ok();
}

Status ConsumeQueue::extendLast(const FileInfo& info, const std::string& path) {
    Result<std::unique_ptr<File>> file = env_.files.open(path, OpenMode::ReadWrite);
    if (!file) return file.error();
    if (Status begun = beginMending(); !begun) return begun;
    if (Status grown = (*file)->truncate(static_cast<std::uint64_t>(fileSize())); !grown) return grown;
    env_.log.warn("extended a short consume-queue file", {{"file", path}, {"bytes", info.size}});
    cutShort_ = env_.afterCrash;
    return Status::ok();
}

bool ConsumeQueue::mayLackItsEnd() const {
    const std::lock_guard lock(mutex_);
    return cutShort_ && !discarded_;
}

Result<std::int64_t> ConsumeQueue::endOfGone(std::int64_t logMin) const {
    if (logMin <= 0) return 0;  // nothing went
    const Result<std::vector<FileInfo>> listed = env_.files.list(directory());
    if (!listed) return listed.error();
    std::array<char, 1024 * kBatchUnitBytes> bytes;
    const auto piece = static_cast<std::size_t>(1024 * unitSize());
    for (auto info = listed->rbegin(); info != listed->rend(); ++info) {
        const std::optional<std::int64_t> start = info->directory ? std::nullopt : parseFileName(info->name);
        if (!start || *start % unitSize() != 0) continue;
        const Result<std::unique_ptr<File>> file = env_.files.open(directory() + "/" + info->name, OpenMode::Read);
        if (!file) return file.error();
        std::int64_t end = 0;
        for (std::uint64_t at = 0; at < info->size; at += piece) {
            const Result<std::size_t> got = (*file)->readAt(std::span(bytes).first(piece), at);
            if (!got) return got.error();
            for (std::size_t i = 0; i + static_cast<std::size_t>(unitSize()) <= *got; i += static_cast<std::size_t>(unitSize())) {
                const Unit unit = loadUnit(bytes.data() + i, kind_, (*start + static_cast<std::int64_t>(at + i)) / unitSize());
                if (unit.isMessageBefore(logMin)) end = std::max(end, unit.end());
            }
        }
        if (end > 0) return end;
    }
    return 0;
}

Status ConsumeQueue::removeStale(std::vector<std::int64_t>& starts) {
    // Removals of old files may survive a power cut in any order. Files in front of a hole are of no use when all of their
    // messages are gone.
    const Result<std::unique_ptr<File>> file = env_.files.open(pathOf(starts.back()), OpenMode::Read);
    if (!file) return file.error();
    std::array<char, kUnitBytes> bytes{};
    const Result<std::size_t> got = (*file)->readAt(bytes, static_cast<std::uint64_t>(fileSize() - unitSize()));
    if (!got) return got.error();
    const Unit last = loadUnit(bytes.data());
    if (!last.isWritten() || last.physical >= env_.commitLog.min()) return Status::ok();
    for (const std::int64_t start : starts) {
        if (Status removed = env_.files.remove(pathOf(start)); !removed) return removed;
        env_.log.warn("removed a consume-queue file of removed messages", {{"file", pathOf(start)}});
    }
    starts.clear();
    return Status::ok();
}

Status ConsumeQueue::removeFrom(std::span<const FileInfo> files, std::size_t first) {
    if (Status begun = beginMending(); !begun) return begun;
    for (std::size_t i = files.size(); i-- > first;) {
        if (Status removed = env_.files.remove(directory() + "/" + files[i].name); !removed) return removed;
    }
    env_.log.warn("removed consume-queue files from one on that a crash left without a name or bytes; they are rebuilt from the commit log",
                  {{"directory", directory()}, {"from", files[first].name}, {"files", files.size() - first}});
    cutShort_ = true;
    return Status::ok();
}

Result<std::int64_t> ConsumeQueue::unitsIn(std::int64_t start) const {
    const std::int64_t first = start / unitSize();
    const std::int64_t logEnd = env_.logEndAtStart.load();
    // A unit of a batch queue that a power cut lost could not be told from the end, and its place is known of the others only. All
    // that may be lost is made again.
    const std::int64_t kept = kind_ == QueueKind::Batch ? env_.rebuiltFrom.load() : INT64_MAX;
    const auto isThere = [&](const Unit& unit) {
        return unit.isFiller() || (unit.isMessageBefore(logEnd) && unit.physical < kept);
    };
    // Most queues are short: one read instead of one for each step of a search.
    std::array<Unit, 64> head;
    const std::size_t got = readFile(first, head);
    const auto missing = std::find_if_not(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(got), isThere) - head.begin();
    if (missing < static_cast<std::ptrdiff_t>(got)) return missing;
    Status failure;
    const std::int64_t end = firstWhere(first + missing, first + unitsPerFile(), [&](std::int64_t offset) {
        const Result<Unit> unit = readUnit(offset);
        if (!unit) failure = unit.error();
        return !unit || !isThere(*unit);
    });
    if (!failure) return failure;
    return end - first;
}

Result<std::int64_t> ConsumeQueue::findEnd(std::vector<std::int64_t>& starts) {
    while (true) {
        const std::int64_t first = starts.back() / unitSize();
        const Result<std::int64_t> units = unitsIn(starts.back());
        if (!units) return units;
        std::int64_t end = first + *units;
        // Behind a cut RocketMQ leaves old units in the file. They look right until one compares them with the log.
        for (; end > first; --end) {
            const Result<Unit> last = readUnit(end - 1);
            if (!last) return last.error();
            if (last->isFiller() || last->physical < env_.commitLog.min()) break;
            const Result<bool> confirmed = env_.reader.isRecordOf(*last, topic_->text, id_, last->base);
            if (!confirmed) return confirmed.error();
            if (*confirmed) break;
        }
        if (end < first + *units) {
            env_.log.warn("consume queue: units that the log does not confirm are dropped",
                          {{"topic", topic_->text}, {"queue", id_}, {"from", end}, {"units", first + *units - end}});
        }
        if (end > first || starts.size() == 1) return end;
        starts.pop_back();
    }
}

void ConsumeQueue::markCleared(std::int64_t file) noexcept {
    unsyncedFrom_ = unsyncedFrom_ < 0 ? file : std::min(unsyncedFrom_, file);
    directoryChanged_ = true;
}

Status ConsumeQueue::clearBehind(std::int64_t end) {
    const std::int64_t keep = end > firstFile_ / unitSize() ? fileOf(end - 1) : firstFile_;
    for (; lastFile_ > keep; lastFile_ -= fileSize()) {
        env_.open.forget(this, lastFile_);
        if (Status removed = env_.files.remove(pathOf(lastFile_)); !removed) return removed;
        markCleared(keep);
    }
    const std::int64_t at = end * unitSize() - keep;
    if (at >= fileSize()) return Status::ok();
    const Result<Ref<QueueFile>> file = openFile(keep);
    if (!file) return file.error();
    std::array<char, kUnitBytes> next{};
    const Result<std::size_t> got = (*file)->file->readAt(next, static_cast<std::uint64_t>(at));
    if (!got) return got.error();
    if (std::all_of(next.begin(), next.end(), [](char c) { return c == 0; })) return Status::ok();
    if (Status cut = (*file)->file->truncate(static_cast<std::uint64_t>(at)); !cut) return cut;
    markCleared(keep);
    return (*file)->file->truncate(static_cast<std::uint64_t>(fileSize()));
}

std::int64_t ConsumeQueue::findMin(std::int64_t from, std::int64_t to, std::int64_t logMin) const {
    return firstWhere(from, to, [&](std::int64_t offset) {
        const Result<Unit> unit = readUnit(offset);
        return !unit || (!unit->isFiller() && unit->physical >= logMin);
    });
}

void ConsumeQueue::correctMin(std::int64_t logMin) {
    std::int64_t place = -1;
    while (place < 0) {
        std::int64_t from = 0;
        std::int64_t to = 0;
        {
            const std::lock_guard lock(mutex_);
            if (!loaded_.load(std::memory_order_relaxed) || discarded_) return;
            from = std::max(minPlace_, firstFile_ / unitSize());
            to = written_.load(std::memory_order_relaxed);
        }
        // As a rule the first unit is still good: one read for most queues.
        const bool stays = from < to && findMin(from, from + 1, logMin) == from;
        const std::int64_t inFiles = stays ? from : findMin(from, to, logMin);
        const std::lock_guard lock(mutex_);
        const std::int64_t written = written_.load(std::memory_order_relaxed);
        place = inFiles;
        if (inFiles < to) continue;
        // Everything in the files is gone; the tail may begin below the minimum of the log as well.
        if (written != to) {
            place = -1;  // written meanwhile: once more
            continue;
        }
        const auto units = static_cast<std::int64_t>(tailSize());
        while (place < written + units && place >= written && tailUnit(static_cast<std::size_t>(place - written)).physical < logMin) ++place;
    }
    removeBelow(place);
}

void ConsumeQueue::removeBelow(std::int64_t place) {
    const std::int64_t min = offsetOf(place);
    std::int64_t from = 0;
    std::int64_t to = 0;
    {
        const std::lock_guard lock(mutex_);
        if (discarded_) return;
        minPlace_ = std::max(place, minPlace_);
        min_.store(std::max(min, min_.load(std::memory_order_relaxed)), std::memory_order_release);
        from = to = firstFile_;
        while (firstFile_ < lastFile_ && firstFile_ + fileSize() <= place * unitSize()) firstFile_ += fileSize();
        to = firstFile_;
        if (unsyncedFrom_ >= 0) unsyncedFrom_ = std::max(unsyncedFrom_, firstFile_);
    }
    Unit oldest;
    if (kind_ == QueueKind::Simple && copy(place, {&oldest, 1}) == 1 && QueueExtension::isAddress(oldest.tagsCode)) {
        extension().removeBelow(oldest.tagsCode);
    }
    if (from == to) return;
    env_.open.forgetBelow(this, to);
    for (; from < to; from += fileSize()) {
        const Status removed = env_.files.remove(pathOf(from));
        if (removed) continue;
        env_.log.limited(plugin::LogLevel::Warn, "a consume-queue file cannot be removed; the next start tries again",
                         {{"error", removed.toString()}});
        return;
    }
}

Status ConsumeQueue::truncate(std::int64_t place) {
    if (Status written = writeTailLocked(); !written) return written;
    const Result<Unit> unit = readUnit(place);
    if (!unit) return unit.error();
    ahead_.reset();
    written_.store(place, std::memory_order_release);
    next_ = unit->base;
    newest_.store(-1, std::memory_order_relaxed);
    visible_.store(next_, std::memory_order_release);
    minPlace_ = std::min(minPlace_, place);
    if (min() > next_) min_.store(next_, std::memory_order_release);
    return clearBehind(place);
}

Status ConsumeQueue::removeAll() {
    env_.log.warn("a crash left a consume queue without its first file; it is rebuilt from the commit log",
                  {{"topic", topic_->text}, {"queue", id_}, {"from", firstFile_}, {"to", lastFile_ + fileSize()}});
    env_.open.forget(this);
    for (; lastFile_ >= firstFile_; lastFile_ -= fileSize()) {
        if (Status removed = env_.files.remove(pathOf(lastFile_)); !removed) return removed;
    }
    dropTail();
    ahead_.reset();
    firstFile_ = lastFile_ = unsyncedFrom_ = -1;
    next_ = minPlace_ = 0;
    newest_.store(-1, std::memory_order_relaxed);
    for (std::atomic<std::int64_t>* number : {&min_, &visible_, &written_}) number->store(0, std::memory_order_release);
    return env_.files.syncDirectory(directory());
}

Result<ConsumeQueue::Restored> ConsumeQueue::restore(const Unit& unit, bool mayStart) {
    const std::lock_guard lock(mutex_);
    Result<Restored> restored = kind_ == QueueKind::Simple ? restoreSimple(unit, mayStart) : restoreBatch(unit, mayStart);
    // Records come in order: behind this one nothing older is missing.
    if (restored && *restored != Restored::Gap) cutShort_ = false;
    return restored;
}

Result<bool> ConsumeQueue::isLaterLife(const Unit& there, const Unit& unit) const {
    // The topic was deleted and made again: what is later in the log counts, if it is there.
    if (!there.isMessageBefore(env_.logEndAtStart.load()) || there.physical <= unit.physical) return false;
    return env_.reader.isRecordOf(there, topic_->text, id_, there.base);
}

Status ConsumeQueue::add(const Unit& unit) {
    addTail(unit);
    newest_.store(unit.physical, std::memory_order_relaxed);
    next_ = std::max(next_, unit.end());
    visible_.store(next_, std::memory_order_release);
    return tailSize() >= kTailUnitsMax ? writeTailLocked() : Status::ok();
}

Result<std::int64_t> ConsumeQueue::placeFor(const Unit& unit) {
    if (unit.base >= next_) return written_.load(std::memory_order_relaxed);
    if (Status written = writeTailLocked(); !written) return written;
    const std::int64_t first = firstFile_ < 0 ? 0 : firstFile_ / unitSize();
    const std::int64_t end = written_.load(std::memory_order_relaxed);
    Status failure;
    const std::int64_t place = firstWhere(first, end, [&](std::int64_t at) {
        const Result<Unit> there = readUnit(at);
        if (!there) failure = there.error();
        return !there || there->end() > unit.base;
    });
    return failure ? Result<std::int64_t>(place) : failure;
}

Result<ConsumeQueue::Restored> ConsumeQueue::restoreBatch(const Unit& unit, bool mayStart) {
    Restored result = Restored::Added;
    const bool empty = firstFile_ < 0 && !tail_;
    const Result<std::int64_t> place = placeFor(unit);
    if (!place) return place.error();
    if (*place < written_.load(std::memory_order_relaxed)) {
        const Result<Unit> there = readUnit(*place);
        if (!there) return there.error();
        // Below the first one is what went with old files.
        if (*place * unitSize() == firstFile_ && unit.end() <= there->base) return Restored::Known;
        if (there->physical == unit.physical && there->bytes == unit.bytes) return Restored::Known;
        const Result<bool> later = isLaterLife(*there, unit);
        if (!later) return later.error();
        if (*later) return Restored::Known;
        if (Status cut = truncate(*place); !cut) return cut;
        result = Restored::Replaced;
    }
    if (newest_.load(std::memory_order_relaxed) > unit.physical) return Restored::Known;
    if (unit.base > next_ && !mayStart) return Restored::Gap;
    if (empty) min_.store(unit.base, std::memory_order_release);
    if (Status added = add(unit); !added) return added;
    return result;
}

void ConsumeQueue::endRestoring() {
    const std::lock_guard lock(mutex_);
    ahead_.reset();
}

Result<Unit> ConsumeQueue::unitAhead(std::int64_t place) {
    if (!ahead_ || place < ahead_->from || place >= ahead_->from + ahead_->units) {
        const std::int64_t start = fileOf(place);
        const Result<Ref<QueueFile>> file = openFile(start);
        if (!file) return readUnit(place);  // which says what is wrong
        if (!ahead_) ahead_ = std::make_unique<Ahead>();
        const std::int64_t end = std::min(written_.load(std::memory_order_relaxed), start / kUnitBytes + unitsPerFile());
        const std::int64_t units = std::min(Ahead::kUnits, end - place);
        const Result<std::size_t> got = (*file)->file->readAt(std::span(ahead_->bytes).first(static_cast<std::size_t>(units * kUnitBytes)),
                                                              static_cast<std::uint64_t>(place * kUnitBytes - start));
        ahead_->from = place;
        ahead_->units = got ? static_cast<std::int64_t>(*got) / kUnitBytes : 0;
        if (ahead_->units == 0) return readUnit(place);
    }
    return loadUnit(ahead_->bytes.data() + (place - ahead_->from) * kUnitBytes, kind_, place);
}

Result<ConsumeQueue::Restored> ConsumeQueue::restoreSimple(const Unit& unit, bool mayStart) {
    const std::int64_t offset = unit.base;
    Restored result = Restored::Added;
    if (offset * kUnitBytes < firstFile_ && env_.afterCrash) {
        // The log still has messages from before the first file: that file's name was not durable yet.
        if (Status emptied = removeAll(); !emptied) return emptied;
        result = Restored::Replaced;
    }
    if (offset < next_ && offset >= min()) {
        if (Status written = writeTailLocked(); !written) return written;
        const Result<Unit> there = unitAhead(offset);
        if (!there) return there.error();
        if (there->physical == unit.physical && there->bytes == unit.bytes) return Restored::Known;
        const Result<bool> later = isLaterLife(*there, unit);
        if (!later) return later.error();
        if (*later) return Restored::Known;
        if (!there->isWritten() || there->isFiller()) {
            // A hole that a power cut left; what stands behind it is looked at when its records come.
            std::array<char, kUnitBytes> bytes;
            storeUnit(bytes.data(), unit);
            if (Status written = writeUnits(offset, {bytes.data(), bytes.size()}); !written) return written;
            return Restored::Replaced;
        }
        if (Status cut = truncate(offset); !cut) return cut;
        result = Restored::Replaced;
    }
    if (offset < next_) return Restored::Known;
    // Older than what is there already: of a topic that was deleted and made again.
    if (newest_.load(std::memory_order_relaxed) > unit.physical) return Restored::Known;
    if (offset > next_) {
        const bool empty = firstFile_ < 0 && !tail_;
        // A hole of more than a file is no hole but a number that is wrong.
        if (!mayStart || (!empty && offset - next_ > unitsPerFile())) return Restored::Gap;
        if (empty) {
            next_ = fileOf(offset) / kUnitBytes;
            minPlace_ = offset;
            written_.store(next_, std::memory_order_release);
            min_.store(offset, std::memory_order_release);
        }
        for (; next_ < offset; ++next_) addTail({0, kFillerSize, 0});
    }
    if (Status added = add(unit); !added) return added;
    return result;
}

}  // namespace patchbay::mmapstore
