#include "SqliteStore.h"

#include "patchbay/base/StoreLock.h"

#include <algorithm>
#include <array>

namespace patchbay::plugins::sqlite {

using service::Bound;
using service::ReadStatus;

namespace {

constexpr const char* kDatabaseName = "messages.db";
constexpr std::int64_t kScanMax = 800;  // messages that one read looks at for a filter, as RocketMQ

}  // namespace

SqliteStore::SqliteStore(StoreSettings settings, FileSystem& files, const Clock& clock, plugin::Logger& log)
    : settings_(std::move(settings)), files_(files), clock_(clock), log_(log), readers_(settings_), writer_(queues_, settings_, files, clock, log),
      wallAtStart_(clock.wallMs()), startedAt_(clock.now()), retentionMs_(settings_.retention.count()) {}

SqliteStore::~SqliteStore() { close(); }

// SQLite takes an empty file for a new database and throws the write-ahead log beside it away.
Status SqliteStore::refuseEmptiedFile(const std::string& path) const {
    const auto entries = files_.list(settings_.directory);
    if (!entries) return entries.error();
    const auto sizeOf = [&](const std::string& name) -> std::int64_t {
        for (const auto& entry : *entries) {
            if (entry.name == name) return static_cast<std::int64_t>(entry.size);
        }
        return -1;
    };
    if (sizeOf(kDatabaseName) <= 0 && sizeOf(std::string(kDatabaseName) + "-wal") > 0) {
        return {StatusCode::Corrupt, path + " is empty or missing beside its write-ahead log; restore it from a backup, or remove the log to start anew"};
    }
    return Status::ok();
}

Status SqliteStore::open() {
    std::unique_ptr<FileLock> lock;
    if (!settings_.directoryLocked) {
        auto locked = lockStore(files_, settings_.directory, "storePathSqlite");
        if (!locked && locked.error().code() == StatusCode::Busy) {
            return {StatusCode::Busy, std::string(kDirectoryInUse) + locked.error().message()};
        }
        if (!locked) return locked.error();
        lock = std::move(*locked);
    }
    const std::string path = settings_.directory + "/" + kDatabaseName;
    if (Status status = refuseEmptiedFile(path); !status) return status;
    if (Status status = writer_.start(path); !status) return status;
    lock_ = std::move(lock);
    readers_.open(path);
    log_.info("store is open", {{"path", path}, {"queues", queues_.size()}, {"physicalOffset", writer_.stats().nextPhysical.load()}});
    return Status::ok();
}

void SqliteStore::close() noexcept {
    readers_.close();
    writer_.stop();  // the last connection copies the write-ahead log into the database
    lock_.reset();
}

std::int64_t SqliteStore::nowMs() const noexcept {
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - startedAt_);
    return std::min(clock_.wallMs(), wallAtStart_ + elapsed.count());
}

void SqliteStore::removeOld() {
    std::int64_t cut = 0;
    const std::int64_t begin = writer_.stats().minPhysical;
    const std::int64_t end = writer_.stats().nextPhysical;
    if (settings_.messageBytesMax > 0) cut = end - settings_.messageBytesMax;
    if (const auto retentionMs = retentionMs_.load(std::memory_order_relaxed); retentionMs > 0) {
        const std::int64_t before = nowMs() - retentionMs;
        const auto byTime = readers_.with([&](Reader& reader) { return reader.physicalByTime(begin, end, before); });
        if (byTime) cut = std::max(cut, *byTime);
    }
    if (cut <= begin) return;
    const Status trimmed = writer_.trim(cut);
    if (!trimmed) log_.limited(plugin::LogLevel::Warn, "cannot remove old messages", {{"reason", trimmed.message()}});
}

service::StoreCapabilities SqliteStore::capabilities() const {
    service::StoreCapabilities can;
    can.name = "sqlite";
    can.keyIndex = true;
    can.durable = true;
    can.sql = true;
    return can;
}

bool SqliteStore::readTail(QueueState& queue, std::int64_t end, const service::ReadLimits& limits, const service::ReadFilter* filter,
                           service::ReadResult& result) {
    // Entries are copied out in small parts, so that a filter does not keep the writer from the queue.
    struct Part {
        TailEntry entry;
        KeepAlive keep;
    };
    static constexpr std::size_t kPart = 32;
    std::array<Part, kPart> part;
    bool any = false;
    while (result.nextOffset < end) {
        std::size_t count = 0;
        {
            const std::lock_guard lock(queue.mutex);
            const std::int64_t first = queue.max - static_cast<std::int64_t>(queue.tail.size());
            if (result.nextOffset < first) return any;
            const auto from = static_cast<std::size_t>(result.nextOffset - first);
            count = std::min({kPart, queue.tail.size() - from, static_cast<std::size_t>(end - result.nextOffset)});
            for (std::size_t i = 0; i < count; ++i) {
                part[i].entry = queue.tail[from + i];
                const bool another = i == 0 || part[i].entry.block != part[i - 1].entry.block;
                part[i].keep = another ? KeepAlive::share(part[i].entry.block) : KeepAlive();
            }
        }
        any = true;
        for (std::size_t i = 0; i < count; ++i, ++result.nextOffset) {
            auto& [entry, keep] = part[i];
            if (keep && (result.keep.empty() || !(result.keep.back() == keep))) result.keep.push_back(std::move(keep));
            const std::string_view record(entry.record, static_cast<std::size_t>(entry.bytes));
            if (filter != nullptr && !filter->matchesTags(entry.tagsCode)) continue;
            if (filter != nullptr && filter->needsRecord() && !filter->matchesRecord(record)) continue;
            if (result.messages > 0 && (result.messages >= limits.messagesMax || result.bytes + entry.bytes > limits.bytesMax)) return true;
            if (!result.pieces.empty() && result.pieces.back().data() + result.pieces.back().size() == record.data()) {
                result.pieces.back() = {result.pieces.back().data(), result.pieces.back().size() + record.size()};
            } else {
                result.pieces.push_back(record);
            }
            result.bytes += entry.bytes;
            ++result.messages;
        }
    }
    return true;
}

void SqliteStore::read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
                       const service::ReadFilter* filter, service::ReadResult& result) noexcept {
    const MonotonicTime begun = clock_.now();
    result.clear();
    if (const auto queue = queues_.find(topic, queueId)) readFrom(*queue, offset, limits, filter, result);
    messagesRead_.fetch_add(result.messages, std::memory_order_relaxed);
    if (result.status == ReadStatus::Found) {
        readsFound_.fetch_add(1, std::memory_order_relaxed);
    } else if (result.status != ReadStatus::NotResident && limits.messagesMax > 0) {
        readsMissed_.fetch_add(1, std::memory_order_relaxed);
    }
    const std::chrono::nanoseconds took = clock_.now() - begun;
    result.tookUs = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    times_.read(took);
}

void SqliteStore::readFrom(QueueState& queue, std::int64_t offset, const service::ReadLimits& limits, const service::ReadFilter* filter,
                           service::ReadResult& result) noexcept {
    {
        const std::lock_guard lock(queue.mutex);
        result.minOffset = queue.min;
        result.maxOffset = queue.max;
    }
    result.nextOffset = offset;
    if (offset < result.minOffset) {
        result.status = ReadStatus::OffsetTooSmall;
        result.nextOffset = result.minOffset;
        return;
    }
    if (offset >= result.maxOffset) {
        result.status = result.maxOffset == 0 ? ReadStatus::QueueEmpty
                        : offset == result.maxOffset ? ReadStatus::OffsetAtEnd : ReadStatus::OffsetBeyondEnd;
        result.nextOffset = result.maxOffset;
        return;
    }
    const std::int64_t end = std::min(result.maxOffset, offset + std::max<std::int64_t>(kScanMax, limits.messagesMax));
    if (!readTail(queue, end, limits, filter, result)) {
        if (limits.hotOnly) {
            result.status = ReadStatus::NotResident;
            return;
        }
        PassedOver passed;
        const Status status = readers_.with([&](Reader& reader) {
            return reader.readRange(queue.id, queue.topic, queue.queueId, end, limits, filter, result, passed);
        });
        report(queue, passed);
        if (!status) log_.limited(plugin::LogLevel::Error, "PB-1502 cannot read messages", {{"topic", queue.topic}, {"queue", queue.queueId}, {"offset", result.nextOffset}, {"reason", status.message()}});
        if (!status && result.messages == 0) {
            result.status = ReadStatus::Failed;  // nothing is skipped: the consumer stands here until the file is mended
            return;
        }
        if (result.messages == 0 && (passed.missing > 0 || passed.damaged > 0)) {
            const std::lock_guard lock(queue.mutex);
            result.status = ReadStatus::Gone;
            result.nextOffset = std::max(result.nextOffset, queue.min);
            return;
        }
    }
    result.status = result.messages > 0 ? ReadStatus::Found : ReadStatus::NoMatchedMessage;
}

// What is lost for certain would hold its consumers for ever, so it is passed over as RocketMQ's own store does it; but never unsaid.
void SqliteStore::report(QueueState& queue, const PassedOver& passed) {
    if (passed.damaged > 0) {
        lost_->add(static_cast<std::uint64_t>(passed.damaged));
        log_.limited(plugin::LogLevel::Error, "PB-1502 a message is passed over, because it is damaged",
                     {{"topic", queue.topic}, {"queue", queue.queueId}, {"offset", passed.damagedAt}, {"reason", passed.why}, {"messages", passed.damaged}});
    }
    if (passed.missing == 0) return;
    {
        // Or they were removed since the look at the queue: from its beginning on, or all of them.
        const std::lock_guard lock(queue.mutex);
        if (queue.dropped || queue.min > passed.missingAt) return;
    }
    lost_->add(static_cast<std::uint64_t>(passed.missing));
    log_.limited(plugin::LogLevel::Error, "PB-1502 messages are passed over, because their rows are missing",
                 {{"topic", queue.topic}, {"queue", queue.queueId}, {"offset", passed.missingAt}, {"messages", passed.missing}});
}

service::OffsetRange SqliteStore::range(std::string_view topic, std::int32_t queueId) const noexcept {
    const auto queue = queues_.find(topic, queueId);
    if (!queue) return {};
    const std::lock_guard lock(queue->mutex);
    return {queue->min, queue->max, true};
}

Result<std::int64_t> SqliteStore::offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs, Bound bound) const {
    const auto queue = queues_.find(topic, queueId);
    if (!queue) return 0;
    const auto [min, max, exists] = range(topic, queueId);
    if (min == max) return max;
    return readers_.with([&, first = min, end = max](Reader& reader) -> Result<std::int64_t> {
        // Lower: the first message at or after the time. Upper: the one before the first that is later.
        std::int64_t low = first;
        std::int64_t high = end;
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            const auto found = reader.firstFrom(queue->id, middle);
            if (!found && found.error().code() != StatusCode::NotFound) return found.error();
            // Where rows are missing the next one decides.
            if (found && (bound == Bound::Lower ? found->timeMs < timeMs : found->timeMs <= timeMs)) {
                low = found->offset + 1;
            } else {
                high = middle;
            }
        }
        low = std::min(low, end);
        return bound == Bound::Lower ? low : std::max(low - 1, first);
    });
}

Result<std::int64_t> SqliteStore::storeTimeAt(std::string_view topic, std::int32_t queueId, std::int64_t offset) const {
    const auto queue = queues_.find(topic, queueId);
    const auto [min, max, exists] = range(topic, queueId);
    const Status missing(StatusCode::NotFound, "no message at queue offset " + std::to_string(offset));
    if (!queue || offset < min || offset >= max) return missing;
    return readers_.with([&](Reader& reader) -> Result<std::int64_t> {
        const auto found = reader.firstFrom(queue->id, offset);
        if (!found) return found.error();
        return found->offset == offset ? Result<std::int64_t>(found->timeMs) : missing;
    });
}

Result<Slice> SqliteStore::at(std::int64_t physicalOffset) const {
    auto found = readers_.with([&](Reader& reader) { return reader.at(physicalOffset); });
    if (found.error().code() == StatusCode::Corrupt) {
        lost_->add(1);
        log_.limited(plugin::LogLevel::Error, "PB-1502 a message cannot be read", {{"physicalOffset", physicalOffset}, {"reason", found.error().message()}});
    }
    return found;
}

Result<service::KeyHits> SqliteStore::findByKey(const service::KeyQuery& query) const {
    service::KeyHits found;
    found.indexTimestampMs = writer_.stats().newestStoreTime;
    found.indexPhysicalOffset = writer_.stats().nextPhysical;
    PassedOver passed;
    auto hits = readers_.with([&](Reader& reader) { return reader.findByKey(query, passed); });
    if (!hits) return hits.error();
    if (passed.damaged > 0) {
        lost_->add(static_cast<std::uint64_t>(passed.damaged));
        log_.limited(plugin::LogLevel::Error, "PB-1502 a message is left out of what has a key, because it is damaged",
                     {{"topic", query.topic}, {"key", query.key}, {"physicalOffset", passed.damagedAt}, {"reason", passed.why}, {"messages", passed.damaged}});
    }
    found.hits = std::move(*hits);
    return found;
}

std::vector<service::QueueKey> SqliteStore::queues() const {
    std::vector<service::QueueKey> all;
    for (const auto& queue : queues_.all()) all.push_back({queue->topic, queue->queueId});
    return all;
}

service::StoreStats SqliteStore::stats() const {
    const auto& written = writer_.stats();
    service::StoreStats stats;
    stats.minPhysicalOffset = written.minPhysical;
    stats.maxPhysicalOffset = written.nextPhysical;
    stats.messagesAppended = written.messages;
    stats.bytesAppended = written.bytes;
    stats.messagesRead = messagesRead_;
    stats.readsFound = readsFound_;
    stats.readsMissed = readsMissed_;
    stats.messagesRefused = written.refused;
    stats.oldestAppendMs = writer_.oldestWait().count();
    stats.times = written.times.figures();
    stats.times->readMaxMs = times_.figures().readMaxMs;
    stats.behindFlushBytes = written.behindFlushBytes;
    stats.queues = static_cast<std::int64_t>(queues_.size());
    stats.earliestMessageMs = readers_.with([](Reader& reader) { return reader.oldestTime(); }).value_or(-1);
    if (const auto space = files_.space(settings_.directory); space && space->totalBytes > 0) {
        stats.diskRatio = 1.0 - static_cast<double>(space->freeBytes) / static_cast<double>(space->totalBytes);
    }
    stats.health = writer_.health();
    stats.writable = stats.health.isOk();
    return stats;
}

}  // namespace patchbay::plugins::sqlite
