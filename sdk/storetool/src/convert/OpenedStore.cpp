#include "OpenedStore.h"

#include "Layout.h"
#include "MmapStore.h"
#include "SqliteStore.h"

#include <algorithm>

namespace patchbay::storetool {

namespace {

class OpenedMmap final : public OpenedStore {
public:
    OpenedMmap(const mmapstore::StoreOptions& options, FileSystem& files, plugin::Logger& log)
        : files_(files), layout_{options.root, {}}, store_(files, systemClock(), log, options) {
        store_.tunables().reservedHours = 0;  // for ever
        store_.tunables().cleanForcibly = 0;
        store_.tunables().logBytesMax = 0;
    }
    Status open() { return store_.open(); }
    service::MessageStore& store() noexcept override { return store_; }
    [[nodiscard]] Result<bool> hasBatchQueues(std::string_view topic) const override {
        if (!files_.exists(layout_.topic(topic, mmapstore::QueueKind::Batch))) return false;
        if (!files_.exists(layout_.topic(topic))) return true;
        return Status(StatusCode::Corrupt, "topic " + std::string(topic) + " has queues in consumequeue and in batchconsumequeue; only its "
                                               "attribute queue.type tells which of them count");
    }

private:
    FileSystem& files_;
    const mmapstore::Layout layout_;
    mmapstore::MmapStore store_;
};

class OpenedSqlite final : public OpenedStore {
public:
    OpenedSqlite(plugins::sqlite::StoreSettings settings, FileSystem& files, plugin::Logger& log)
        : store_(std::move(settings), files, systemClock(), log) {}
    Status open() { return store_.open(); }
    service::MessageStore& store() noexcept override { return store_; }
    [[nodiscard]] Result<bool> hasBatchQueues(std::string_view) const override { return false; }

private:
    plugins::sqlite::SqliteStore store_;
};

/// The size of the first file in a directory; nothing without one.
std::int64_t firstFileSize(FileSystem& files, const std::string& directory) {
    const auto entries = files.list(directory);
    if (!entries) return 0;
    for (const auto& entry : *entries) {
        if (!entry.directory && entry.size > 0) return static_cast<std::int64_t>(entry.size);
    }
    return 0;
}

std::int64_t logFileSize(FileSystem& files, const StorePlace& place) {
    std::int64_t size = place.commitLogs.empty() ? firstFileSize(files, place.directory + "/commitlog") : 0;
    for (const auto& directory : place.commitLogs) size = std::max(size, firstFileSize(files, directory));
    return size;
}

std::int64_t queueFileSize(FileSystem& files, const std::string& root) {
    const auto topics = files.list(root);
    if (!topics) return 0;
    for (const auto& topic : *topics) {
        const auto queues = files.list(root + "/" + topic.name);
        if (!queues) continue;
        for (const auto& queue : *queues) {
            const std::int64_t size = firstFileSize(files, root + "/" + topic.name + "/" + queue.name);
            if (size > 0) return size;
        }
    }
    return 0;
}

Result<std::unique_ptr<OpenedStore>> openMmap(const StorePlace& place, const ConvertOptions& options, FileSystem& files, plugin::Logger& log) {
    mmapstore::StoreOptions own;
    own.root = place.directory;
    own.logDirectories = place.commitLogs;
    const std::int64_t segment = logFileSize(files, place);
    const std::int64_t queue = queueFileSize(files, place.directory + "/consumequeue");
    const std::int64_t batchQueue = queueFileSize(files, place.directory + "/batchconsumequeue");
    own.segmentBytes = segment > 0 ? segment : options.segmentBytes;
    own.queueFileBytes = queue > 0 ? queue : options.queueFileBytes;
    if (batchQueue > 0) own.batchQueueFileBytes = batchQueue;
    own.delayLevels = options.delayLevels;
    own.keyIndex = false;  // the broker makes it at its first start
    own.hasBatchQueues = [topics = options.batchTopics](std::string_view topic) {
        return std::find(topics.begin(), topics.end(), topic) != topics.end();
    };
    auto opened = std::make_unique<OpenedMmap>(own, files, log);
    if (Status status = opened->open(); !status) return status;
    return std::unique_ptr<OpenedStore>(std::move(opened));
}

Result<std::unique_ptr<OpenedStore>> openSqlite(const StorePlace& place, FileSystem& files, plugin::Logger& log) {
    plugins::sqlite::StoreSettings settings;
    settings.directory = place.directory;
    settings.tailCacheBytes = 0;
    auto opened = std::make_unique<OpenedSqlite>(std::move(settings), files, log);
    if (Status status = opened->open(); !status) return status;
    return std::unique_ptr<OpenedStore>(std::move(opened));
}

}  // namespace

std::vector<std::string> NotesLogger::notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
}

void NotesLogger::write(plugin::LogLevel, std::string_view line) noexcept {
    const std::lock_guard lock(mutex_);
    if (notes_.size() < kNotesMax) notes_.emplace_back(line);
}

Result<std::unique_ptr<OpenedStore>> OpenedStore::open(const StorePlace& place, const ConvertOptions& options, FileSystem& files,
                                                       plugin::Logger& log) {
    return place.kind == StoreKind::Mmap ? openMmap(place, options, files, log) : openSqlite(place, files, log);
}

bool OpenedStore::exists(const StorePlace& place, FileSystem& files) {
    if (place.kind == StoreKind::Sqlite) return files.exists(place.directory + "/messages.db");
    return logFileSize(files, place) > 0 || files.exists(place.directory + "/consumequeue");
}

}  // namespace patchbay::storetool
