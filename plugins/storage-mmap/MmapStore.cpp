#include "MmapStore.h"

#include "Recovery.h"

#include "patchbay/base/StoreLock.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/PropertyNames.h"
#include "patchbay/protocol/route/AdminBodies.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <unistd.h>

namespace patchbay::mmapstore {

namespace {

constexpr std::int64_t kMemoryGuess = 8LL << 30;

StoreOptions completed(StoreOptions options) {
    if (options.memoryBytes <= 0) {
        const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES);
        const std::int64_t page = ::sysconf(_SC_PAGESIZE);
        options.memoryBytes = pages > 0 && page > 0 ? pages * page : kMemoryGuess;
    }
    const MemoryShares shares = memorySharesOf(options);
    options.mappedWindowBytes = shares.windowBytes;
    if (options.syncFlush) options.syncFlushQueuedBytes = shares.syncQueuedBytes;
    if (options.logDirectories.empty()) options.logDirectories.push_back(options.root + "/commitlog");
    return options;
}

Layout layoutOf(const StoreOptions& options) {
    Layout layout{options.root, options.logDirectories, options.logDirectories.size()};
    layout.logs.insert(layout.logs.end(), options.logDirectoriesRead.begin(), options.logDirectoriesRead.end());
    return layout;
}

constexpr std::int64_t kLookedAtMax = 64 << 20;  // of the log by each start of a process that never lives long
constexpr std::int32_t kQueryMax = 64;  // RocketMQ's maxMsgsNumBatch

/// Whether the record is what a query for a key asks for.
bool isHit(std::string_view bytes, const service::KeyQuery& query) noexcept {
    protocol::RecordView record;
    if (protocol::RecordView::parse(bytes, record, protocol::RecordCheck::Layout) != protocol::RecordStatus::Message) return false;
    if (record.topic != query.topic || record.storeTimestamp < query.beginMs || record.storeTimestamp > query.endMs) return false;
    if (protocol::findProperty(record.properties, protocol::kPropertyUniqueKey) == query.key) return true;
    if (query.uniqueKey) return false;
    std::string_view keys = protocol::findProperty(record.properties, protocol::kPropertyKeys);
    while (!keys.empty()) {
        const std::size_t end = std::min(keys.find(' '), keys.size());
        if (keys.substr(0, end) == query.key) return true;
        keys.remove_prefix(std::min(end + 1, keys.size()));
    }
    return false;
}

}  // namespace

MmapStore::MmapStore(FileSystem& files, const Clock& clock, plugin::Logger& log, StoreOptions options)
    : files_(files), clock_(clock), log_(log), options_(completed(std::move(options))),
      layout_(layoutOf(options_)),
      commitLog_(files, clock, log, layout_, options_.segmentBytes),
      windows_(commitLog_, {options_.mappedWindowBytes, options_.mappedWindowsMax, memorySharesOf(options_).windowsBytes}),
      records_(windows_),
      queueFiles_(files, options_.queueFilesOpenMax),
      environment_{files, log, layout_, commitLog_, records_, queueFiles_, options_.queueFileBytes, options_.batchQueueFileBytes,
                   options_.extensionFileBytes, options_.extendQueues},
      queues_(environment_, options_.hasBatchQueues),
      publisher_(state_),
      flusher_(options_, tunables_, clock, log, commitLog_, state_, publisher_),
      upkeep_({files, layout_, tunables_, clock, log, state_, environment_, [this] { return flusher_.flush(); }}),
      guard_(files, clock, tunables_, layout_, [this] { commitLog_.poke(); }),
      retention_({files, clock, tunables_, log, commitLog_, guard_, [this] { minMoved(); }}),
      deleted_(files, layout_.deletedTopics()),
      appender_({options_, tunables_, clock, log, commitLog_, queues_, state_, publisher_, flusher_, upkeep_, guard_}),
      reader_({options_, tunables_, log, clock, commitLog_, queues_, windows_, records_, state_}),
      index_({files, clock, log, options_, layout_, commitLog_, windows_, state_, [this] { return newIndexName(); },
              [this](std::int64_t time) { upkeep_.indexCompleted(time); }}),
      loader_(queues_) {}

MmapStore::~MmapStore() {
    close();
}

Status MmapStore::open() {
    if (Status opened = openFiles(); !opened) {
        commitLog_.stopAllocator();
        lock_.reset();
        return opened;
    }
    running_ = true;
    appender_.open();
    return Status::ok();
}

Status MmapStore::openFiles() {
    // Before anything is looked at: another process may be writing.
    if (Status locked = lockRoot(); !locked) return locked;
    commitLog_.setCrowded([this](const std::string& directory) { return guard_.isCrowded(directory); });
    bool garbage = false;
    Result<Checkpoint> checkpoint = Checkpoint::read(files_, layout_.checkpoint(), clock_.wallMs(), garbage);
    if (!checkpoint) return checkpoint.error();
    if (garbage) log_.warn("the checkpoint is not one; recovery looks at the whole log", {{"file", layout_.checkpoint()}});
    if (Status opened = commitLog_.open(durableEnd(*checkpoint)); !opened) return opened;
    if (Status opened = queues_.open(); !opened) return opened;
    if (Status opened = deleted_.open(commitLog_.min()); !opened) return opened;
    return recover(*checkpoint);
}

std::int64_t MmapStore::durableEnd(const Checkpoint& checkpoint) const {
    if (!files_.exists(layout_.abort())) return INT64_MAX;
    if (checkpoint.safePosition >= 0) return checkpoint.safePosition;
    // What another program noted says nothing of positions; without a note nothing is known to be durable.
    return files_.exists(layout_.checkpoint()) ? INT64_MAX : 0;
}

Status MmapStore::lockRoot() {
    if (options_.rootLocked) return files_.makeDirectories(layout_.root);
    Result<std::unique_ptr<FileLock>> locked = lockStore(files_, layout_.root);
    if (!locked) {
        if (locked.error().code() != StatusCode::Busy) return locked.error();
        return {StatusCode::Busy, std::string(kDirectoryInUse) + locked.error().message()};
    }
    lock_ = std::move(*locked);
    return Status::ok();
}

Status MmapStore::recover(Checkpoint& checkpoint) {
    std::vector<Ref<ConsumeQueue>> touched;
    Recovery recovery(files_, clock_, log_, options_, layout_, commitLog_, queues_, environment_, deleted_);
    const Result<Recovery::Outcome> outcome = recovery.run(checkpoint, touched);
    if (!outcome) return outcome.error();
    // The list was durable before what it speaks of; other messages come to lie there.
    if (Status ended = deleted_.endAt(outcome->end); !ended) return ended;
    state_.end = outcome->end;
    state_.visibleEnd = outcome->end;
    state_.flushedEnd = outcome->end;
    state_.startEnd = outcome->end;
    state_.storeTime = outcome->lastStoreTime;
    state_.lastRecord = outcome->lastRecord;
    if (Status opened = index_.open(checkpoint, outcome->clean, recovery.mark()); !opened) return opened;
    if (checkpoint.safePosition > outcome->lastRecord) {
        // What it names was cut off. Another record could come to lie there, and the next recovery would begin too late.
        checkpoint.safePosition = -1;
        if (Status written = checkpoint.write(files_, layout_.checkpoint()); !written) return written;
    }
    // From here on a crash is one.
    if (Status written = writeAbort(); !written) return written;
    commitLog_.startAllocator([this] { return retention_.turn(); });
    flusher_.start();
    upkeep_.start(checkpoint);
    for (Ref<ConsumeQueue>& queue : touched) upkeep_.add(std::move(queue));
    // Who is killed again before his first checkpoint would look at more of the log each time.
    if (!outcome->clean && (outcome->dropped || outcome->looked >= std::min(kLookedAtMax, options_.segmentBytes))) {
        if (Status noted = upkeep_.thorough(); !noted) log_.warn("the checkpoint cannot be written", {{"error", noted.toString()}});
    }
    if (options_.keyIndex && options_.buildIndex) {
        index_.start();
        publisher_.add(index_);
    }
    if (options_.loadQueues) loader_.start();
    return Status::ok();
}

std::string MmapStore::newIndexName() const {
    // Local time, as RocketMQ names them.
    const std::int64_t ms = clock_.wallMs();
    const std::time_t seconds = ms / 1000;
    std::tm time{};
    ::localtime_r(&seconds, &time);
    char text[24];
    const std::size_t length = std::strftime(text, sizeof text, "%Y%m%d%H%M%S", &time);
    std::string name = text + std::to_string(1000 + ms % 1000).substr(1);
    // Names only have to grow: their order is that of the files. Local time goes back once a year.
    std::int64_t newest = 0;
    const Result<std::vector<FileInfo>> listed = files_.list(layout_.index());
    for (const FileInfo& info : listed ? *listed : std::vector<FileInfo>()) {
        std::int64_t number = 0;
        const auto read = std::from_chars(info.name.data(), info.name.data() + info.name.size(), number);
        if (read.ptr == info.name.data() + info.name.size() && info.name.size() == length + 3) newest = std::max(newest, number);
    }
    const std::string next = std::to_string(newest + 1);
    return std::max(name, next.size() == name.size() ? next : std::string());
}

Status MmapStore::writeAbort() {
    Result<std::unique_ptr<File>> file = files_.open(layout_.abort(), OpenMode::Create);
    if (!file) return file.error();
    if (Status cut = (*file)->truncate(0); !cut) return cut;
    if (Status written = (*file)->writeAt(std::to_string(::getpid()), 0); !written) return written;
    return files_.syncDirectory(layout_.root);
}

void MmapStore::stopThreads() noexcept {
    appender_.close();
    loader_.stop();
    flusher_.stop();
    if (options_.keyIndex) publisher_.remove(index_);
    index_.stop();
    commitLog_.stopAllocator();
}

void MmapStore::close() noexcept {
    if (!std::exchange(running_, false)) return;
    stopThreads();
    const Status kept = upkeep_.stop();
    if (kept && !state_.failed()) {
        markStop();
        (void)files_.remove(layout_.abort());
        (void)files_.syncDirectory(layout_.root);
        log_.info("message store closed", {{"end", state_.end.load()}});
    } else {
        log_.error("message store closed with something left to do; the next start recovers it",
                   {{"reason", kept ? state_.health().toString() : kept.toString()}});
    }
    windows_.clear();
    lock_.reset();
}

void MmapStore::markStop() noexcept {
    StopMark mark{state_.end.load(), {}, index_.left()};
    for (const Ref<ConsumeQueue>& queue : queues_.all()) {
        if (StopMark::Queue left = queue->left(); left.max >= 0) mark.queues.push_back(std::move(left));
    }
    // Were it there at the next start, a Java broker would have been here meanwhile.
    (void)files_.remove(layout_.abortBackup());
    if (Status written = mark.write(files_, layout_.lastStop()); !written) {
        // The one before would pass for it while nothing is stored.
        (void)files_.remove(layout_.lastStop());
        log_.warn("what this stop left is not noted, so the next start cannot check it", {{"error", written.toString()}});
    }
}

service::StoreCapabilities MmapStore::capabilities() const {
    service::StoreCapabilities result;
    result.name = "mmap";
    result.zeroCopyRead = true;
    result.durable = true;
    result.innerBatches = true;
    result.commitLog = true;
    result.keyIndex = options_.keyIndex;
    return result;
}

Result<service::KeyHits> MmapStore::findByKey(const service::KeyQuery& query) const {
    if (!options_.keyIndex) return Status(StatusCode::Unsupported, "messageIndexEnable is false");
    service::KeyHits result;
    if (query.key.empty()) return result;
    const auto wanted = static_cast<std::size_t>(std::clamp(query.messagesMax, 1, kQueryMax));
    const Result<std::vector<std::int64_t>> candidates = index_.find(query);
    if (!candidates) return candidates.error();
    for (const std::int64_t position : *candidates) {
        // Hashes collide and times in the index are rough: the message itself decides.
        Result<Slice> record = reader_.at(position);
        if (record && isHit(record->bytes, query)) result.hits.push_back({position, std::move(*record)});
        if (result.hits.size() >= wanted) break;
    }
    const IndexFile::Header last = index_.last();
    result.indexTimestampMs = last.endTime;
    result.indexPhysicalOffset = last.endPhysical;
    return result;
}

Status MmapStore::deleteTopic(std::string_view topic) {
    if (!running_) return {StatusCode::Unavailable, "the message store is not running"};
    const std::lock_guard serial(deletions_);
    if (!queues_.hasTopic(topic)) return Status::ok();
    // First, so that a crash in between deletes too much rather than too little of it.
    const std::int64_t noted = state_.end.load();
    if (Status durable = deleted_.add(topic, noted); !durable) return durable;
    if (Status made = queues_.prepareTakeOut(); !made) return made;
    std::int64_t end = 0;
    const auto asides = appender_.exclusively([&] {
        end = state_.end.load();
        return queues_.takeOut(topic);
    });
    if (!asides) return asides.error();
    // What was sent to it meanwhile went with it.
    if (end > noted) {
        if (Status durable = deleted_.add(topic, end); !durable) return durable;
    }
    return queues_.removeAside(*asides);
}

Status MmapStore::flush() {
    if (!running_) return {StatusCode::Unavailable, "the message store is not running"};
    // Consume queues can be rebuilt from the log; who asks wants his messages to be safe.
    const bool done = state_.flushedEnd.load(std::memory_order_acquire) == state_.end.load(std::memory_order_acquire);
    if (done && !state_.failed()) return Status::ok();
    return flusher_.flush();
}

Status MmapStore::settle() {
    if (!running_) return {StatusCode::Unavailable, "the message store is not running"};
    return upkeep_.thorough();
}

Status MmapStore::trim(std::int64_t physicalOffset) {
    if (Status written = upkeep_.writeAll(); !written) return written;
    return retention_.trim(std::min(physicalOffset, state_.visibleEnd.load(std::memory_order_acquire)));
}

void MmapStore::minMoved() {
    const std::int64_t min = commitLog_.min();
    windows_.dropBelow(min);
    index_.trim(min);
    for (const Ref<ConsumeQueue>& queue : queues_.all()) queue->correctMin(min);
    log_.info("the log begins later now", {{"min", min}});
}

service::StoreStats MmapStore::stats() const {
    service::StoreStats stats;
    stats.minPhysicalOffset = commitLog_.min();
    stats.maxPhysicalOffset = state_.visibleEnd.load(std::memory_order_acquire);
    stats.messagesAppended = state_.appended.load(std::memory_order_relaxed);
    stats.bytesAppended = state_.appendedBytes.load(std::memory_order_relaxed);
    stats.messagesRead = state_.read.load(std::memory_order_relaxed);
    stats.readsFound = state_.readsFound.load(std::memory_order_relaxed);
    stats.readsMissed = state_.readsMissed.load(std::memory_order_relaxed);
    stats.times = state_.times.figures();
    stats.messagesRefused = state_.refused.load(std::memory_order_relaxed);
    stats.oldestAppendMs = std::max(msSince(state_.appendingSince), flusher_.oldestWait().count());
    stats.earliestMessageMs = reader_.earliestTime();
    stats.queues = static_cast<std::int64_t>(queues_.size());
    stats.behindFlushBytes = std::max<std::int64_t>(0, state_.end.load() - state_.flushedEnd.load());
    stats.diskRatio = std::max(0.0, guard_.ratio());
    const Status disk = guard_.last();
    stats.writable = running_ && state_.writable() && disk;
    stats.health = state_.writable() ? disk : state_.health();
    addRuntimeInfo(stats);
    return stats;
}

std::int64_t MmapStore::msSince(const std::atomic<MonotonicTime>& time) const noexcept {
    const MonotonicTime since = time.load(std::memory_order_relaxed);
    if (since == MonotonicTime()) return 0;
    return std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - since).count());
}

void MmapStore::addRuntimeInfo(service::StoreStats& stats) const {
    const auto add = [&](std::string name, std::string value) {
        stats.runtimeInfo.emplace_back(std::move(name), std::move(value));
    };
    const std::string ratio = std::to_string(guard_.ratio());
    add("commitLogMinOffset", std::to_string(stats.minPhysicalOffset));
    add("commitLogMaxOffset", std::to_string(stats.maxPhysicalOffset));
    add("commitLogDiskRatio", ratio);
    for (const std::string& directory : layout_.logs) add("commitLogDiskRatio_" + directory, std::to_string(guard_.ratio(directory)));
    add("consumeQueueDiskRatio", std::to_string(guard_.ratio(layout_.root)));
    add("putMessageTimesTotal", std::to_string(stats.messagesAppended));
    add("putMessageSizeTotal", std::to_string(stats.bytesAppended));
    add("putMessageAverageSize", std::to_string(stats.messagesAppended == 0 ? 0.0
                                                                            : static_cast<double>(stats.bytesAppended) /
                                                                                  static_cast<double>(stats.messagesAppended)));
    add("earliestMessageTimeStamp", std::to_string(stats.earliestMessageMs));
    // Under SYNC_FLUSH readers see what is durable.
    add("dispatchBehindBytes", std::to_string(std::max<std::int64_t>(0, state_.end.load() - stats.maxPhysicalOffset)));
    add("pageCacheLockTimeMills", std::to_string(msSince(state_.lockedSince)));
    add("remainHowManyDataToFlush", protocol::byteCountText(stats.behindFlushBytes));
    if (const Result<DiskSpace> space = guard_.space()) {
        add("commitLogDirCapacity", "Total : " + protocol::byteCountText(static_cast<std::int64_t>(space->totalBytes)) + ", Free : " +
                                        protocol::byteCountText(static_cast<std::int64_t>(space->freeBytes)) + ".");
    }
}

}  // namespace patchbay::mmapstore
