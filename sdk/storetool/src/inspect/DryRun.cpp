// storeRepairDryRun: a broker's start on a disk that only remembers what would change.
#include "Line.h"
#include "OverlayFiles.h"
#include "StoreFiles.h"

#include "MmapStore.h"

#include "patchbay/base/Clock.h"

#include <algorithm>
#include <mutex>

namespace patchbay::storetool {

namespace {

constexpr std::int64_t kWindowBytes = 1 << 20;  // mappings are copies here

/// Hands every line from info on to the caller, as it comes, until it is silenced.
class LineLogger final : public plugin::Logger {
public:
    LineLogger(bool json, const LineSink& out, CheckReport& report) noexcept : json_(json), out_(out), report_(report) {}

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
        if (wrong) ++report_.problems;
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
    CheckReport& report_;
    std::mutex mutex_;
    bool silent_ = false;
};

mmapstore::StoreOptions optionsFor(const StoreFiles& store, const StoreToolOptions& options) {
    mmapstore::StoreOptions result;
    result.root = options.directory;
    result.logDirectories = options.commitLogs;
    if (store.logFileBytes() > 0) result.segmentBytes = store.logFileBytes();
    result.mappedWindowBytes = kWindowBytes;
    result.keyIndex = false;  // told separately: an index takes more memory than a tool should
    return result;
}

/// Size of the consume-queue files; the largest, since a damaged one may be shorter.
std::int64_t queueFileBytes(const std::vector<QueueFolder>& queues, mmapstore::QueueKind kind, std::int64_t otherwise) {
    std::int64_t bytes = 0;
    for (const QueueFolder& queue : queues) {
        if (queue.batch != (kind == mmapstore::QueueKind::Batch)) continue;
        for (const SequenceFile& file : queue.files) bytes = std::max(bytes, file.bytes);
    }
    return bytes > 0 && bytes % mmapstore::unitBytes(kind) == 0 ? bytes : otherwise;
}

}  // namespace

Result<CheckReport> storeRepairDryRun(const StoreToolOptions& options, const LineSink& out, const ToolWatcher& watcher) {
    Result<StoreFiles> found = StoreFiles::open(systemFiles(), options);
    if (!found) return found.error();
    const Result<std::vector<QueueFolder>> queues = found->queues();
    if (!queues) return queues.error();
    mmapstore::StoreOptions own = optionsFor(*found, options);
    own.queueFileBytes = queueFileBytes(*queues, mmapstore::QueueKind::Simple, own.queueFileBytes);
    own.batchQueueFileBytes = queueFileBytes(*queues, mmapstore::QueueKind::Batch, own.batchQueueFileBytes);
    if (watcher && !watcher({"recovery", 0, 1})) return Status(StatusCode::Cancelled, "given up");
    CheckReport report;
    OverlayFiles disk(systemFiles());
    LineLogger log(options.json, out, report);
    mmapstore::MmapStore store(disk, systemClock(), log, own);
    store.tunables().deleteHours = 0;
    store.tunables().cleanForcibly = 0;
    const Status opened = store.open();
    log.silence();
    if (!opened) return opened;
    report.end = store.stats().maxPhysicalOffset;
    if (found->abortPresent()) {
        ++report.problems;
        Line line(options.json, "wouldMend");
        line.add("what", "key-index files newer than the checkpoint are removed and built again in the background");
        if (Status put = std::move(line).to(out); !put) return put;
    }
    Line line(options.json, "dryRun");
    line.add("end", report.end).add("queues", store.stats().queues).add("mends", report.problems);
    if (Status put = std::move(line).to(out); !put) return put;
    if (watcher) (void)watcher({"recovery", 1, 1});
    return report;
}

}  // namespace patchbay::storetool
