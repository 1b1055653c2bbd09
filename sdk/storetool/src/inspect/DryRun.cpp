// storeCheck and storeRepairDryRun: what is wrong, and a broker's start on a disk that only remembers what would change.
#include "Inspection.h"
#include "Line.h"

#include "IndexFile.h"
#include "MmapStore.h"

#include "patchbay/base/Clock.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace patchbay::storetool {

namespace {

constexpr std::int64_t kWindowBytes = 1 << 20;  // mappings are copies here

/// Hands every line from info on to the caller, as it comes, until it is silenced.
class LineLogger final : public plugin::Logger {
public:
    LineLogger(bool json, const LineSink& out, std::int64_t& mends) noexcept : json_(json), out_(out), mends_(mends) {}

    [[nodiscard]] bool enabled(plugin::LogLevel level) const noexcept override { return level >= plugin::LogLevel::Info; }
    void silence() noexcept {
        const std::lock_guard lock(mutex_);
        silent_ = true;
    }

protected:
    void write(plugin::LogLevel level, std::string_view text) noexcept override {
        const std::lock_guard lock(mutex_);
        if (silent_) return;
        const bool wrong = level >= plugin::LogLevel::Warn;
        if (wrong) ++mends_;
        Line line(json_, wrong ? "wouldMend" : "wouldSay");
        line.add("what", text);
        (void)std::move(line).to(out_);
    }
    bool admit(std::string_view, std::uint64_t& hidden) noexcept override {
        hidden = 0;
        return true;
    }

private:
    const bool json_;
    const LineSink& out_;
    std::int64_t& mends_;
    std::mutex mutex_;
    bool silent_ = false;
};

mmapstore::StoreOptions optionsFor(const StoreFiles& store, const StoreToolOptions& options) {
    mmapstore::StoreOptions result;
    result.root = options.directory;
    result.logDirectories = options.commitLogs;
    if (store.logFileBytes() > 0) result.segmentBytes = store.logFileBytes();
    result.mappedWindowBytes = kWindowBytes;
    result.indexSlots = options.indexSlots;
    result.indexEntries = options.indexEntries;
    result.buildIndex = false;  // it takes more memory than a tool should
    return result;
}

/// Size of the consume-queue files: that of most of them, since a damaged one may have another.
std::int64_t queueFileBytes(const std::vector<QueueFolder>& queues, mmapstore::QueueKind kind, std::int64_t otherwise) {
    std::map<std::int64_t, std::size_t> sizes;
    for (const QueueFolder& queue : queues) {
        if (queue.batch != (kind == mmapstore::QueueKind::Batch)) continue;
        for (const SequenceFile& file : queue.files) {
            if (file.bytes > 0 && file.bytes % mmapstore::unitBytes(kind) == 0) ++sizes[file.bytes];
        }
    }
    const auto most = std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second <= b.second; });
    return most == sizes.end() ? otherwise : most->first;
}

Result<bool> indexesFit(const StoreFiles& store, const std::vector<std::string>& paths, const StoreToolOptions& options) {
    const std::int64_t wanted = mmapstore::IndexFile::Size{options.indexSlots, options.indexEntries}.bytes();
    for (const std::string& path : paths) {
        const Result<std::unique_ptr<File>> file = store.files().open(path, OpenMode::Read);
        if (!file) return file.error();
        const Result<std::uint64_t> size = (*file)->size();
        if (!size) return size.error();
        if (static_cast<std::int64_t>(*size) != wanted) return false;
    }
    return true;
}

}  // namespace

Result<NextStart> startOn(OverlayFiles& disk, const StoreFiles& found, const StoreToolOptions& options, const LineSink& out) {
    const Result<std::vector<QueueFolder>> queues = found.queues();
    if (!queues) return queues.error();
    const Result<std::vector<std::string>> indexes = found.indexFiles();
    if (!indexes) return indexes.error();
    mmapstore::StoreOptions own = optionsFor(found, options);
    own.queueFileBytes = queueFileBytes(*queues, mmapstore::QueueKind::Simple, own.queueFileBytes);
    own.batchQueueFileBytes = queueFileBytes(*queues, mmapstore::QueueKind::Batch, own.batchQueueFileBytes);
    // Of other sizes than the tool was told a start with its own knows more.
    const Result<bool> fits = indexesFit(found, *indexes, options);
    if (!fits) return fits.error();
    own.keyIndex = *fits;
    NextStart result;
    LineLogger log(options.json, out, result.mends);
    mmapstore::MmapStore store(disk, systemClock(), log, own);
    store.tunables().deleteHours = 0;
    store.tunables().cleanForcibly = 0;
    result.refused = store.open();
    // What is looked at when it is used for the first time, too.
    for (const QueueFolder& queue : *queues) {
        if (result.refused) (void)store.range(queue.topic, queue.id);
    }
    log.silence();
    if (!result.refused) return result;
    result.end = store.stats().maxPhysicalOffset;
    result.queues = store.stats().queues;
    const auto removed = std::count_if(indexes->begin(), indexes->end(), [&](const std::string& path) { return !disk.exists(path); });
    if (found.abortPresent() && removed > 0) {
        ++result.mends;
        Line line(options.json, "wouldMend");
        line.add("what", "key-index files newer than the checkpoint are removed and built again in the background").add("files", std::int64_t{removed});
        if (Status put = std::move(line).to(out); !put) return put;
    }
    return result;
}

namespace {

/// What the next start makes of it, and what it leaves as it is, into the report.
Status tellNextStart(const StoreFiles& found, const StoreToolOptions& options, const LineSink& out, const ToolWatcher& watcher, CheckReport& report,
                     std::int64_t& queues) {
    if (watcher && !watcher({"recovery", 0, 1})) return {StatusCode::Cancelled, "given up"};
    OverlayFiles disk(systemFiles());
    const Result<NextStart> next = startOn(disk, found, options, out);
    if (!next) return next.error();
    if (!next->refused) return next->refused;
    report.end = next->end;
    report.mends = next->mends;
    queues = next->queues;
    const Result<StoreFiles> then = StoreFiles::open(disk, options);
    if (!then) return then.error();
    const Result<CheckReport> left = compare(*then, options, "wouldLeave", out, watcher);
    if (!left) return left.error();
    report.left = left->problems;
    if (report.left == 0) return Status::ok();
    Line line(options.json, "remedy");
    line.add("what", "a start builds queues or index anew when consumequeue, batchconsumequeue or index is not there: move it elsewhere before; what is "
                     "wrong in commitlog stays");
    return std::move(line).to(out);
}

}  // namespace

Result<CheckReport> storeCheck(const StoreToolOptions& options, const LineSink& out, const ToolWatcher& watcher) {
    Result<StoreFiles> found = StoreFiles::open(systemFiles(), options);
    if (!found) return found.error();
    Result<CheckReport> report = compare(*found, options, "problem", out, watcher);
    if (!report) return report;
    std::int64_t queues = 0;
    const Status next = tellNextStart(*found, options, out, watcher, *report, queues);
    if (next.code() == StatusCode::Cancelled) return next;
    Line line(options.json, next ? "nextStart" : "wouldRefuse");
    line.add("recovery", found->abortPresent() ? "afterCrash" : "afterCleanStop");
    if (next) {
        line.add("logEndsAt", report->end).add("mends", report->mends).add("leaves", report->left);
    } else {
        ++report->problems;
        line.add("reason", next.message());
    }
    if (Status put = std::move(line).to(out); !put) return put;
    Line summary(options.json, "checked");
    summary.add("records", report->records).add("units", report->units).add("indexEntries", report->indexEntries);
    summary.add("end", report->end).add("problems", report->problems);
    if (Status put = std::move(summary).to(out); !put) return put;
    return report;
}

Result<CheckReport> storeRepairDryRun(const StoreToolOptions& options, const LineSink& out, const ToolWatcher& watcher) {
    Result<StoreFiles> found = StoreFiles::open(systemFiles(), options);
    if (!found) return found.error();
    CheckReport report;
    std::int64_t queues = 0;
    if (Status next = tellNextStart(*found, options, out, watcher, report, queues); !next) return next;
    Line line(options.json, "dryRun");
    line.add("end", report.end).add("queues", queues).add("mends", report.mends).add("leaves", report.left);
    if (Status put = std::move(line).to(out); !put) return put;
    if (watcher) (void)watcher({"recovery", 1, 1});
    return report;
}

}  // namespace patchbay::storetool
