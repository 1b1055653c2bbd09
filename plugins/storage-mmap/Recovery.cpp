#include "Recovery.h"

#include "Aside.h"
#include "InnerBatch.h"
#include "MultiDispatch.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/Hash.h"
#include "patchbay/service/AppendRecord.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <thread>

namespace patchbay::mmapstore {

using protocol::RecordCheck;
using protocol::RecordView;

namespace {

constexpr std::int64_t kOffsetMax = std::int64_t{1} << 50;  // larger queue offsets are nonsense

constexpr std::size_t kPieceBytes = 1U << 20;
constexpr std::int64_t kLookAheadBytes = 8 << 20;  // zeros behind which nothing is expected
constexpr std::uint32_t kStepsBetweenLooks = 64;
constexpr std::chrono::seconds kProgressInterval{1};
constexpr std::size_t kThreadsMax = 4;
constexpr std::size_t kItemsForThreads = 256;

/// Calls `action` for every item, on several threads when there are many; the first failure.
template <typename Items, typename Action>
Status inParallel(const Items& items, Action action) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    Status failure;
    const auto work = [&] {
        for (std::size_t i = next++; i < items.size(); i = next++) {
            Status done = action(items[i]);
            if (done) continue;
            const std::lock_guard lock(mutex);
            if (failure) failure = std::move(done);
            return;
        }
    };
    std::vector<std::thread> threads;
    const std::size_t wanted = items.size() < kItemsForThreads ? 0 : std::min<std::size_t>(kThreadsMax, std::thread::hardware_concurrency());
    for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    return failure;
}

bool carriesCrc(const RecordView& record) noexcept {
    const std::size_t size = record.properties.size();
    return size >= protocol::kPropertyCrcBytes && record.properties.substr(size - protocol::kPropertyCrcBytes).starts_with(protocol::kPropertyCrc32);
}

/// FileSystem::exists() says no also where the disk does not answer, and a crash would be taken for a clean stop.
Result<bool> isThere(FileSystem& files, const std::string& path) {
    const auto file = files.open(path, OpenMode::Read);
    if (file || file.error().code() == StatusCode::NotFound) return file.has_value();
    return file.error();
}

}  // namespace

std::int64_t tagsCodeOf(const RecordView& record, const protocol::DelayLevels& levels) noexcept {
    if (record.topic == protocol::kTopicSchedule) {
        if (const auto due = levels.dueMs(record.properties, record.storeTimestamp)) return *due;
    }
    return protocol::tagsCode(protocol::findProperty(record.properties, protocol::kPropertyTags));
}

Result<Recovery::Outcome> Recovery::run(const Checkpoint& checkpoint, std::vector<Ref<ConsumeQueue>>& touched) {
    begun_ = said_ = clock_.now();
    const Result<bool> aborted = isThere(files_, layout_.abort());
    if (!aborted) return aborted.error();
    const Result<bool> javaStopped = isThere(files_, layout_.abortBackup());
    if (!javaStopped) return javaStopped.error();
    outcome_.clean = !*aborted;
    env_.afterCrash = !outcome_.clean;
    env_.checkpointDropped = false;
    noQueues_ = queues_.size() == 0;
    const std::vector<std::int64_t> segments = commitLog_.segments();
    const std::int64_t from = segments.empty() ? 0 : chooseStart(checkpoint);
    if (!segments.empty()) {
        if (Status found = findEnd(from); !found) return found;
    } else if (!noQueues_) {
        log_.warn("there are consume queues but no commit log", {{"queues", queues_.size()}});
    }
    env_.logEndAtStart = outcome_.end;
    outcome_.looked = outcome_.end - from;
    if (!outcome_.clean) env_.rebuiltFrom = from;
    const Result<bool> cutOff = segments.empty() ? Result<bool>(false) : nameCut();
    if (!cutOff) return cutOff.error();
    if (Status cut = commitLog_.cut(outcome_.end, !outcome_.clean || *cutOff); !cut) return cut;
    if (outcome_.clean && !*javaStopped) mark_ = StopMark::read(files_, layout_.lastStop());
    if (mark_ && mark_->logEnd != outcome_.end) mark_.reset();
    if (mark_) {
        if (Status checked = checkQueues(); !checked) return checked;
    } else if (!outcome_.clean && !noQueues_) {
        if (Status cleared = clearQueues(); !cleared) return cleared;
        if (!*javaStopped) findMissing();
    }
    if (!segments.empty()) {
        if (noQueues_ && !outcome_.clean) {
            if (Status dropped = env_.dropCheckpoint(); !dropped) return dropped;
        }
        if (Status built = rebuild(from, nullptr, touched); !built) return built;
        if (noQueues_) {
            // All of them or none: once some are there, the next recovery takes the checkpoint's word for the rest.
            for (const Ref<ConsumeQueue>& queue : touched) {
                if (Status written = queue->writeTail(); !written) return written;
            }
            if (Status synced = files_.syncAll(layout_.root); !synced) return synced;
        }
        if (Status built = rebuildIncomplete(touched); !built) return built;
        for (const Ref<ConsumeQueue>& queue : queues_.all()) queue->endRestoring();
    }
    if (!outcome_.clean) {
        if (Status synced = syncFound(); !synced) return synced;
    }
    outcome_.dropped = env_.checkpointDropped;
    log_.info("commit log recovered", {{"clean", outcome_.clean}, {"end", outcome_.end}, {"records", counts_.records},
                                       {"unitsAdded", counts_.added}, {"unitsReplaced", counts_.replaced},
                                       {"recordsWithoutQueue", counts_.skipped}});
    return outcome_;
}

Status Recovery::rebuildIncomplete(std::vector<Ref<ConsumeQueue>>& touched) {
    for (const StopMark::Queue* queue : changed_) {
        incomplete_.insert({queue->topic, queue->id});
        // Numbers of messages that are gone from the log are not given out again.
        beginsAt_[{queue->topic, queue->id}] = queue->max;
    }
    if (!outcome_.clean) {
        for (const Ref<ConsumeQueue>& queue : queues_.all()) {
            if (queue->mayLackItsEnd()) incomplete_.insert({queue->topic(), queue->id()});
        }
    }
    if (incomplete_.empty()) return Status::ok();
    // Units reach the files before the rebuild is through, and then the queue looks like a whole one.
    if (!outcome_.clean) {
        if (Status dropped = env_.dropCheckpoint(); !dropped) return dropped;
    }
    if (incomplete_.size() > beginsAt_.size()) {
        log_.warn("consume queues lack messages; rebuilding them from the oldest commit-log file",
                  {{"queues", incomplete_.size() - beginsAt_.size()}});
    }
    const std::set<QueueId> only = std::exchange(incomplete_, {});
    if (Status built = rebuild(commitLog_.min(), &only, touched); !built) return built;
    for (const auto& [id, offset] : beginsAt_) {
        const Ref<ConsumeQueue> queue = queues_.obtain(id.first, id.second);
        if (Status skipped = queue->skipTo(offset); !skipped) return skipped;
        if (queue->list()) touched.push_back(queue);
    }
    // At once: the next recovery begins behind the messages of these units, and nothing else would miss them.
    for (const auto& [topic, id] : only) {
        const Ref<ConsumeQueue> queue = queues_.find(topic, id);
        if (!queue) continue;
        if (Status written = queue->writeTail(); !written) return written;
        if (Status synced = queue->sync(); !synced) return synced;
    }
    return Status::ok();
}

bool Recovery::isRecordAt(std::int64_t position) const {
    LogScan probe(commitLog_, position, RecordCheck::BodyCrc);
    return probe.next() == LogScan::Step::Record && probe.position() == position && isSound(probe);
}

bool Recovery::isSound(const LogScan& scan) const noexcept {
    const RecordView& record = scan.record();
    // Bytes of an earlier life of the file may look right, but they name another place.
    if (record.physicalOffset != scan.position()) return false;
    if (options_.demandCrc) return protocol::propertyCrcMatches(record.bytes);
    return !options_.appendCrc || !carriesCrc(record) || protocol::propertyCrcMatches(record.bytes);
}

std::int64_t Recovery::chooseStart(const Checkpoint& checkpoint) const {
    const std::vector<std::int64_t> segments = commitLog_.segments();
    if (noQueues_) return segments.front();
    // Ours is a position, and needs no clock that only goes forward.
    const std::int64_t safe = checkpoint.safePosition;
    if (!outcome_.clean && safe >= segments.front() && isRecordAt(safe)) return safe;
    for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
        LogScan scan(commitLog_, *segment, RecordCheck::BodyCrc);
        if (scan.next(*segment + 1) != LogScan::Step::Record || scan.record().storeTimestamp == 0) continue;
        if (scan.record().physicalOffset != *segment) continue;
        if (!outcome_.clean) {
            if (scan.record().storeTimestamp <= checkpoint.safeTime()) return *segment;
            continue;
        }
        // After a clean stop any start of a record near the end will do; the checkpoint names one.
        const std::int64_t hint = checkpoint.confirmPosition;
        if (hint > *segment && hint < *segment + commitLog_.segmentBytes() && isRecordAt(hint)) return hint;
        return *segment;
    }
    return segments.front();
}

void Recovery::progress(std::string_view what, std::int64_t position, std::int64_t from, std::int64_t to) {
    if (++steps_ % kStepsBetweenLooks != 0) return;
    const MonotonicTime now = clock_.now();
    if (now - said_ < kProgressInterval) return;
    said_ = now;
    const auto spent = std::chrono::duration_cast<std::chrono::seconds>(now - begun_).count();
    const std::int64_t done = std::max<std::int64_t>(1, position - from);
    const auto left = static_cast<std::int64_t>(static_cast<double>(spent) * static_cast<double>(to - position) / static_cast<double>(done));
    log_.info(what, {{"position", position}, {"of", to}, {"percent", done * 100 / std::max<std::int64_t>(1, to - from)},
                     {"secondsLeftAbout", left}});
}

Status Recovery::findEnd(std::int64_t from) {
    const std::int64_t last = commitLog_.segments().back() + commitLog_.segmentBytes();
    LogScan scan(commitLog_, from, RecordCheck::BodyCrc);
    LogScan::Step step = scan.next();
    for (; step == LogScan::Step::Record; step = scan.next()) {
        if (!isSound(scan)) break;
        outcome_.lastRecord = scan.position();
        outcome_.lastStoreTime = scan.record().storeTimestamp;
        progress("looking for the end of the commit log", scan.position(), from, last);
    }
    if (step == LogScan::Step::Failed) return scan.failure();
    outcome_.end = scan.position();
    return Status::ok();
}

Status Recovery::rebuild(std::int64_t from, const std::set<QueueId>* only, std::vector<Ref<ConsumeQueue>>& touched) {
    const bool fromOldest = from == commitLog_.min();
    LogScan scan(commitLog_, from, RecordCheck::Layout);
    LogScan::Step step = LogScan::Step::End;
    while ((step = scan.next(outcome_.end)) == LogScan::Step::Record) {
        const RecordView& record = scan.record();
        progress("building consume queues from the commit log", scan.position(), from, outcome_.end);
        if (only == nullptr) ++counts_.records;
        for (const Place& place : placesOf(record)) {
            if (only != nullptr && !only->contains({std::string(place.topic), place.queueId})) continue;
            if (Status good = restore(record, place, fromOldest, only != nullptr, touched); !good) return good;
        }
    }
    return step == LogScan::Step::Failed ? scan.failure() : Status::ok();
}

std::vector<Recovery::Place> Recovery::placesOf(const RecordView& record) const {
    if (!service::isQueued(record.sysFlag)) return {};
    std::vector<Place> places{{record.topic, record.queueId, record.queueOffset}};
    // What was sent back from a batch queue still has these properties, in a simple one.
    const std::optional<InnerBatch> inner = innerBatchOf(record.properties);
    if (inner && queues_.kindOf(record.topic) == QueueKind::Batch) {
        places.front().offset = inner->base;
        places.front().messages = inner->messages;
    }
    forEachFurtherQueue(record.properties, [&](std::string_view name, std::int64_t offset) { places.push_back({name, 0, offset}); });
    return places;
}

Status Recovery::restore(const RecordView& record, const Place& place, bool fromOldest, bool listed,
                         std::vector<Ref<ConsumeQueue>>& touched) {
    if (place.queueId < 0 || place.offset < 0 || place.offset > kOffsetMax || place.topic.empty()) {
        ++counts_.skipped;
        return Status::ok();
    }
    if (deleted_.contains(place.topic, record.physicalOffset)) return Status::ok();
    Ref<ConsumeQueue> queue = queues_.find(place.topic, place.queueId);
    if (!queue) {
        // Without a directory a Java broker deleted the topic, unless the crash came before its first write or everything is
        // rebuilt.
        const bool lost = fromOldest || (!outcome_.clean && place.offset == 0);
        if (!listed && (!lost || (outcome_.clean && !noQueues_))) {
            // After a crash only a fault takes a directory away from under messages that came before.
            if (!outcome_.clean) incomplete_.insert({std::string(place.topic), place.queueId});
            else ++counts_.skipped;
            return Status::ok();
        }
        queue = queues_.obtain(place.topic, place.queueId);
    }
    if (Status loaded = queue->load(); !loaded) {
        ++counts_.skipped;
        return loaded.code() == StatusCode::Corrupt ? Status::ok() : loaded;
    }
    const Unit unit{record.physicalOffset, record.size, tagsCodeOf(record, options_.delayLevels), record.storeTimestamp, place.offset, place.messages};
    const Result<ConsumeQueue::Restored> restored = queue->restore(unit, fromOldest);
    if (!restored) return restored.error();
    switch (*restored) {
        case ConsumeQueue::Restored::Known: return Status::ok();
        case ConsumeQueue::Restored::Gap:
            if (listed) {
                ++counts_.skipped;
            } else {
                incomplete_.insert({std::string(place.topic), place.queueId});
            }
            return Status::ok();
        case ConsumeQueue::Restored::Added: ++counts_.added; break;
        case ConsumeQueue::Restored::Replaced: ++counts_.replaced; break;
    }
    if (queue->list()) touched.push_back(queue);
    return Status::ok();
}

Status Recovery::clearQueues() {
    std::mutex mutex;
    std::map<QueueId, Status> refused;
    Status looked = inParallel(queues_.all(), [&](const Ref<ConsumeQueue>& queue) {
        Status loaded = queue->load();
        if (loaded.code() != StatusCode::Corrupt) return loaded;
        const std::lock_guard lock(mutex);
        refused.emplace(QueueId(queue->topic(), queue->id()), std::move(loaded));
        return Status::ok();
    });
    if (!looked || refused.empty()) return looked;
    if (Status dropped = env_.dropCheckpoint(); !dropped) return dropped;
    for (const auto& [id, reason] : refused) {
        if (Status replaced = replaceQueue(id, reason); !replaced) return replaced;
    }
    return Status::ok();
}

Status Recovery::replaceQueue(const QueueId& id, const Status& reason) {
    const Result<std::int64_t> gone = queues_.obtain(id.first, id.second)->endOfGone(commitLog_.min());
    if (!gone) return gone.error();
    const Result<std::string> moved = queues_.reset(id.first, id.second, true);
    if (!moved) return moved.error();
    log_.warn("the files of a consume queue do not fit together; they were set aside, and it is rebuilt from the commit log",
              {{"reason", reason.message()}, {"to", *moved}});
    incomplete_.insert(id);
    beginsAt_[id] = *gone;
    return Status::ok();
}

Status Recovery::syncFound() {
    if (Status synced = files_.syncAll(layout_.root); !synced) return synced;
    for (const std::string& directory : layout_.logs) {
        if (Status synced = files_.syncAll(directory); !synced) return synced;
    }
    return Status::ok();
}

void Recovery::findMissing() {
    for (const Ref<ConsumeQueue>& queue : queues_.all()) {
        if (queue->lacksItsBeginning(commitLog_.min())) incomplete_.insert({std::string(queue->topic()), queue->id()});
    }
    const std::optional<StopMark> before = StopMark::read(files_, layout_.lastStop());
    if (!before) return;
    for (const StopMark::Queue& left : before->queues) {
        const bool gone = left.newest >= 0 && left.newest < commitLog_.min();
        if (const auto anew = beginsAt_.find({left.topic, left.id}); gone && anew != beginsAt_.end()) anew->second = std::max(anew->second, left.max);
        if (left.max <= 0 || gone || deleted_.contains(left.topic, left.newest)) continue;
        const Ref<ConsumeQueue> queue = queues_.find(left.topic, left.id);
        if (!queue || (queue->load() && queue->max() < left.max)) incomplete_.insert({left.topic, left.id});
    }
}

Status Recovery::checkQueues() {
    std::mutex mutex;
    const Status looked = inParallel(mark_->queues, [&](const StopMark::Queue& left) {
        const Ref<ConsumeQueue> queue = queues_.find(left.topic, left.id);
        if (queue && queue->isAsLeft(left)) {
            queue->presume(left);
            return Status::ok();
        }
        if (left.max <= 0) return Status::ok();
        const std::lock_guard lock(mutex);
        changed_.push_back(&left);
        return Status::ok();
    });
    if (!looked || changed_.empty()) return looked;
    log_.warn("consume queues are not as the last stop left them; they are rebuilt from the commit log",
              {{"queues", changed_.size()}, {"first", layout_.queue(changed_.front()->topic, changed_.front()->id)}});
    for (const StopMark::Queue* left : changed_) {
        const Result<std::string> aside = queues_.reset(left->topic, left->id, false);
        if (!aside) return aside.error();
        if (aside->empty()) continue;
        log_.warn("the files of a consume queue are not those of one; they were set aside", {{"to", *aside}});
    }
    return Status::ok();
}

Result<std::int64_t> Recovery::dataEnd(File& file, std::int64_t from) const {
    std::vector<char> piece(kPieceBytes);
    std::int64_t end = from;
    for (std::int64_t at = from; at - end < kLookAheadBytes;) {
        const Result<std::size_t> got = file.readAt(piece, static_cast<std::uint64_t>(at));
        if (!got) return got.error();
        if (*got == 0) break;
        for (std::size_t i = *got; i > 0; --i) {
            if (piece[i - 1] == 0) continue;
            end = at + static_cast<std::int64_t>(i);
            break;
        }
        at += static_cast<std::int64_t>(*got);
    }
    return end;
}

Result<std::int64_t> Recovery::findRecord(File& file, std::int64_t from, std::int64_t to) const {
    const std::int64_t segment = commitLog_.segmentStart(outcome_.end);
    std::vector<char> piece(kPieceBytes);
    for (std::int64_t at = from; at < to;) {
        const Result<std::size_t> got = file.readAt(piece, static_cast<std::uint64_t>(at));
        if (!got) return got.error();
        if (*got < protocol::kRecordBornHostAt) break;
        const std::size_t starts = *got - protocol::kRecordBornHostAt + 1;
        for (std::size_t i = 0; i < starts; ++i) {
            const char* const record = piece.data() + i;
            if (protocol::loadI64(record + protocol::kRecordPhysicalOffsetAt) != segment + at + static_cast<std::int64_t>(i)) continue;
            const std::int32_t magic = protocol::loadI32(record + protocol::kRecordMagicAt);
            if (magic != protocol::kRecordMagicV1 && magic != protocol::kRecordMagicV2) continue;
            if (at + static_cast<std::int64_t>(i) > from && isRecordAt(segment + at + static_cast<std::int64_t>(i))) {
                return segment + at + static_cast<std::int64_t>(i);
            }
        }
        at += static_cast<std::int64_t>(starts);
    }
    return -1;
}

Status Recovery::save(const File& from, std::int64_t begin, std::int64_t end, const std::string& to) {
    if (Status made = files_.makeDirectories(to.substr(0, to.rfind('/'))); !made) return made;
    Result<std::unique_ptr<File>> copy = files_.open(to, OpenMode::Create);
    if (!copy) return copy.error();
    std::vector<char> piece(kPieceBytes);
    for (std::int64_t at = begin; at < end;) {
        const Result<std::size_t> got = from.readAt(std::span(piece).first(static_cast<std::size_t>(std::min<std::int64_t>(kPieceBytes, end - at))),
                                                    static_cast<std::uint64_t>(at));
        if (!got) return got.error();
        if (*got == 0) break;
        if (Status written = (*copy)->writeAt({piece.data(), *got}, static_cast<std::uint64_t>(at - begin)); !written) return written;
        at += static_cast<std::int64_t>(*got);
    }
    if (Status synced = (*copy)->sync(); !synced) return synced;
    return files_.syncDirectory(to.substr(0, to.rfind('/')));
}

Result<bool> Recovery::nameCut() {
    const std::int64_t segment = commitLog_.segmentStart(outcome_.end);
    const std::vector<std::int64_t> segments = commitLog_.segments();
    if (!std::binary_search(segments.begin(), segments.end(), segment)) return false;
    const Result<std::unique_ptr<File>> file = commitLog_.openForRead(segment);
    if (!file) return file.error();
    const std::int64_t at = outcome_.end - segment;
    std::array<char, protocol::kBlankRecordBytes> head{};
    const Result<std::size_t> got = (*file)->readAt(head, static_cast<std::uint64_t>(at));
    if (!got) return got.error();
    // The end of a file whose successor was not made yet.
    if (protocol::loadI32(head.data() + protocol::kRecordMagicAt) == protocol::kRecordMagicBlank) return false;
    const Result<std::int64_t> end = dataEnd(**file, at);
    if (!end) return end.error();
    if (*end == at) return false;
    const Result<std::int64_t> whole = findRecord(**file, at, *end);
    if (!whole) return whole.error();
    const std::string path = commitLog_.path(segment);
    if (*whole < 0) {
        log_.warn("the commit log ends with a record that is not whole; it is cut off",
                  {{"file", path}, {"offset", at}, {"position", outcome_.end}, {"bytes", *end - at}});
        return true;
    }
    const std::string saved = freeName(files_, commitLog_.asideOf(outcome_.end) + "/" + fileName(outcome_.end) + ".cut");
    if (Status kept = save(**file, at, *end, saved); !kept) {
        return Status(kept.code(), "the commit log is damaged at byte " + std::to_string(at) + " of " + path +
                                       ", and what follows cannot be saved to " + saved + ": " + kept.message());
    }
    log_.warn("the commit log is damaged; it is cut off there, and what follows was saved",
              {{"file", path}, {"offset", at}, {"position", outcome_.end}, {"bytes", *end - at}, {"nextWholeRecord", *whole},
               {"saved", saved}});
    return true;
}

}  // namespace patchbay::mmapstore
