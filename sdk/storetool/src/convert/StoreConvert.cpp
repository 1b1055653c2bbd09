#include "patchbay/storetool/StoreConvert.h"

#include "EmptyQueues.h"
#include "LogSink.h"
#include "OpenedStore.h"
#include "SqliteSink.h"
#include "StoreDigest.h"

#include "patchbay/base/FileSystem.h"
#include "patchbay/base/StoreLock.h"

#include <algorithm>
#include <filesystem>

namespace patchbay::storetool {

namespace {

constexpr std::int64_t kReportEvery = 1'000;
constexpr std::string_view kUnfinished = ".converting";
constexpr std::string_view kGivenUp = "given up on request; nothing was changed";

/// What one reading of a store gave.
struct Content {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
    std::uint64_t digest = 0;
    std::vector<OrderedReader::QueueRange> queues;
    std::vector<std::string> leftOut;
    std::vector<std::string> batchTopics;
};

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Status removeTree(FileSystem& files, const std::string& path) {
    const auto entries = files.list(path);
    if (!entries) return entries.error().code() == StatusCode::NotFound ? Status::ok() : entries.error();
    for (const auto& entry : *entries) {
        const std::string child = path + "/" + entry.name;
        if (Status removed = entry.directory ? removeTree(files, child) : files.remove(child); !removed) return removed;
    }
    return files.remove(path);
}

/// Reads all of a store but for the topics of `leaveOut`, into `sink` when there is one.
Result<Content> readThrough(OpenedStore& opened, const std::vector<std::string>& leaveOut, RecordSink* sink, const ConvertWatcher& watcher) {
    service::MessageStore& store = opened.store();
    Content content;
    OrderedReader reader(store, [&](std::string_view topic) -> Result<TopicReading> {
        if (contains(leaveOut, topic)) return TopicReading::LeftOut;
        const auto batches = opened.hasBatchQueues(topic);
        if (!batches) return batches.error();
        if (!*batches) return TopicReading::AsStored;
        if (!contains(content.batchTopics, topic)) content.batchTopics.emplace_back(topic);
        return TopicReading::Apart;
    });
    if (Status started = reader.start(); !started) return started;
    if (sink != nullptr) {
        if (Status begun = sink->begin(reader.queues()); !begun) return begun;
    }
    StoreDigest digest;
    ConvertProgress progress{sink != nullptr ? ConvertProgress::Phase::Copy : ConvertProgress::Phase::Verify, 0, reader.messagesTotal()};
    protocol::RecordView record;
    for (;;) {
        const auto more = reader.next(record);
        if (!more) return more.error();
        if (watcher && (!*more || content.messages % kReportEvery == 0)) {
            progress.messages = content.messages;
            if (!watcher(progress)) return Status(StatusCode::Cancelled, std::string(kGivenUp));
        }
        if (!*more) break;
        digest.add(record);
        ++content.messages;
        content.bytes += record.size;
        if (sink == nullptr) continue;
        if (Status added = sink->add(record); !added) return added;
    }
    if (sink != nullptr) {
        if (Status finished = sink->finish(store.stats().maxPhysicalOffset); !finished) return finished;
    }
    content.digest = digest.value();
    content.queues = reader.queues();
    content.leftOut = reader.leftOut();
    return content;
}

Result<std::unique_ptr<RecordSink>> openSink(const StorePlace& place, const ConvertOptions& options, FileSystem& files) {
    if (place.kind == StoreKind::Sqlite) return SqliteSink::open(place.directory);
    return std::unique_ptr<RecordSink>(std::make_unique<LogSink>(files, place.directory, options.segmentBytes));
}

Status compare(const Content& from, const Content& to) {
    if (from.messages != to.messages) {
        return {StatusCode::Corrupt, std::to_string(from.messages) + " messages were copied, " + std::to_string(to.messages) + " are there"};
    }
    if (from.digest != to.digest) return {StatusCode::Corrupt, "the copy has as many messages as its source, but other ones"};
    for (std::size_t i = 0; i < from.queues.size(); ++i) {
        const auto& a = from.queues[i];
        const auto* b = i < to.queues.size() ? &to.queues[i] : nullptr;
        if (b == nullptr || a.topic != b->topic || a.queueId != b->queueId || a.min != b->min || a.max != b->max) {
            return {StatusCode::Corrupt, "topic " + a.topic + ", queue " + std::to_string(a.queueId) + " has other offsets in the copy"};
        }
    }
    return Status::ok();
}

/// Brings what lies in `unfinished` to its place; the commit log last, because it makes a store of the rest.
Status putInPlace(const StorePlace& unfinished, const StorePlace& place, FileSystem& files) {
    if (place.kind == StoreKind::Sqlite) {
        if (Status moved = files.rename(unfinished.directory + "/messages.db", place.directory + "/messages.db"); !moved) return moved;
    } else {
        const auto entries = files.list(unfinished.directory);
        if (!entries) return entries.error();
        for (const bool log : {false, true}) {
            for (const auto& entry : *entries) {
                if (entry.name == "lock" || (entry.name == "commitlog") != log) continue;
                if (Status moved = files.rename(unfinished.directory + "/" + entry.name, place.directory + "/" + entry.name); !moved) return moved;
            }
        }
    }
    return files.syncDirectory(place.directory);
}

Status checkPlaces(const ConvertOptions& options, FileSystem& files) {
    if (OpenedStore::exists(options.to, files)) {
        return {StatusCode::AlreadyExists, "there is a store in " + options.to.directory + " already; move it away first"};
    }
    if (!OpenedStore::exists(options.from, files)) return {StatusCode::NotFound, "there is no store in " + options.from.directory};
    return Status::ok();
}

/// Busy when a broker or another tool holds the directory. Without the file nobody does, and making one would be a change.
Status checkFree(const std::string& directory, FileSystem& files) {
    if (!files.exists(directory + "/lock")) return Status::ok();
    const auto locked = lockStore(files, directory, "directory");
    if (locked) return Status::ok();
    if (locked.error().code() != StatusCode::Busy) return locked.error();
    return {StatusCode::Busy, std::string(kDirectoryInUse) + locked.error().message()};
}

class Conversion {
public:
    Conversion(const ConvertOptions& options, const ConvertWatcher& watcher)
        : options_(options), watcher_(watcher), unfinished_{options.to.kind, options.to.directory + "/" + std::string(kUnfinished)} {}

    Result<ConvertReport> run() {
        if (Status fit = checkPlaces(options_, files_); !fit) return fit;
        const std::string lockFile = options_.to.directory + "/lock";
        const bool made = !files_.exists(lockFile);
        if (Status locked = lockTarget(); !locked) return locked;
        Result<ConvertReport> report = convert();
        // What a failure, or an earlier one, left.
        const Status removed = removeTree(files_, unfinished_.directory);
        if (!report && made && lock_) static_cast<void>(files_.remove(lockFile));
        lock_.reset();
        if (report && !removed) return removed;
        return report;
    }

private:
    /// Tools and brokers are kept away from the target, too, also from one that is empty yet.
    Status lockTarget() {
        std::error_code none;
        if (std::filesystem::equivalent(options_.from.directory, options_.to.directory, none)) return Status::ok();   // the source's lock
        auto locked = lockStore(files_, options_.to.directory, "directory");
        if (locked) {
            lock_ = std::move(*locked);
            return Status::ok();
        }
        if (locked.error().code() != StatusCode::Busy) return locked.error();
        return {StatusCode::Busy, std::string(kDirectoryInUse) + locked.error().message()};
    }

    Result<ConvertReport> convert() {
        if (Status removed = removeTree(files_, unfinished_.directory); !removed) return removed;
        if (Status made = files_.makeDirectories(unfinished_.directory); !made) return made;
        const auto from = copy();
        if (!from) return from.error();
        if (watcher_ && !watcher_({ConvertProgress::Phase::Verify, 0, from->messages})) return Status(StatusCode::Cancelled, std::string(kGivenUp));
        const auto to = readBack(*from);
        if (!to) return to.error();
        if (Status same = compare(*from, *to); !same) return same;
        if (Status moved = putInPlace(unfinished_, options_.to, files_); !moved) return moved;
        ConvertReport report;
        report.messages = to->messages;
        report.queues = static_cast<std::int64_t>(to->queues.size());
        report.bytes = to->bytes;
        report.digest = to->digest;
        report.leftOut = from->leftOut;
        report.notes = log_.notes();
        return report;
    }

    Result<Content> copy() {
        auto source = OpenedStore::open(options_.from, options_, files_, log_);
        if (!source) return source.error();
        auto sink = openSink(unfinished_, options_, files_);
        if (!sink) return sink.error();
        return readThrough(**source, options_.leaveOut, sink->get(), watcher_);
    }

    Result<Content> readBack(const Content& from) {
        ConvertOptions options = options_;
        options.batchTopics.insert(options.batchTopics.end(), from.batchTopics.begin(), from.batchTopics.end());
        if (unfinished_.kind == StoreKind::Mmap) {
            for (const auto& queue : from.queues) {
                if (queue.min != queue.max || queue.max == 0 || !contains(options.batchTopics, queue.topic)) continue;
                return Status(StatusCode::Unsupported, "topic " + queue.topic + ", queue " + std::to_string(queue.queueId) +
                                                           " has no message left, and the files of a batch queue cannot say that its next offset is " +
                                                           std::to_string(queue.max));
            }
            // Opening builds the queues that have messages; the numbers of the others are written down afterwards.
            if (auto built = OpenedStore::open(unfinished_, options, files_, log_); !built) return built.error();
            if (Status written = writeEmptyQueues(files_, unfinished_.directory, options_.queueFileBytes, from.queues); !written) return written;
        }
        auto target = OpenedStore::open(unfinished_, options, files_, log_);
        if (!target) return target.error();
        return readThrough(**target, {}, nullptr, watcher_);
    }

    const ConvertOptions& options_;
    const ConvertWatcher& watcher_;
    const StorePlace unfinished_;
    FileSystem& files_ = systemFiles();
    std::unique_ptr<FileLock> lock_;
    NotesLogger log_;
};

}  // namespace

std::optional<StoreKind> parseStoreKind(std::string_view name) noexcept {
    if (name == "mmap") return StoreKind::Mmap;
    if (name == "sqlite") return StoreKind::Sqlite;
    return std::nullopt;
}

std::string_view toString(StoreKind kind) noexcept { return kind == StoreKind::Mmap ? "mmap" : "sqlite"; }

Status checkConversion(const ConvertOptions& options) {
    FileSystem& files = systemFiles();
    if (Status fit = checkPlaces(options, files); !fit) return fit;
    if (Status free = checkFree(options.from.directory, files); !free) return free;
    return checkFree(options.to.directory, files);
}

Result<ConvertReport> convertStore(const ConvertOptions& options, const ConvertWatcher& watcher) { return Conversion(options, watcher).run(); }

}  // namespace patchbay::storetool
