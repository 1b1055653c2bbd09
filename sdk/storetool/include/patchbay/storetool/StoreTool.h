// StoreTool: looks into the directory of a stopped store of RocketMQ's form, ours or a Java broker's, and changes nothing in it.
#pragma once

#include "patchbay/base/Result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::storetool {

/// Where the store is and how results are written. Sizes of files are taken from the files.
struct StoreToolOptions {
    std::string directory;                    ///< storePathRootDir: what holds commitlog/
    std::vector<std::string> commitLogs{};    ///< storePathCommitLog and the read-only ones, where they are not below `directory`
    std::int64_t indexSlots = 5'000'000;      ///< maxHashSlotNum; index files of another size are named and passed over
    std::int64_t indexEntries = 20'000'000;   ///< maxIndexNum
    bool json = false;                        ///< lines are JSON objects
};

/// Takes one line without its end; the view is valid during the call. False ends the work: Cancelled.
using LineSink = std::function<bool(std::string_view)>;

struct ToolProgress {
    std::string_view what;                    ///< "commit log", "consume queues", "key index"
    std::int64_t done = 0;                    ///< bytes
    std::int64_t total = 0;
};
/// Called every few megabytes, on the caller's thread. False ends the work: Cancelled.
using ToolWatcher = std::function<bool(const ToolProgress&)>;

struct StoreInfo {
    std::int64_t minOffset = 0;               ///< where the log begins
    std::int64_t fileEnd = 0;                 ///< of the last commit-log file; messages end before it
    std::int64_t logFiles = 0;
    std::int64_t logFileBytes = 0;
    std::int64_t topics = 0;
    std::int64_t queues = 0;
    std::int64_t indexFiles = 0;
    bool abortPresent = false;                ///< the last stop was a crash
    std::int64_t checkpointLogMs = 0;         ///< RocketMQ's times of the checkpoint, ms since the epoch; 0: none
    std::int64_t checkpointQueueMs = 0;
    std::int64_t checkpointIndexMs = 0;
    std::int64_t firstStoreMs = 0;            ///< of the oldest message; 0: none
};

/// Sizes, ages and counts, without reading messages. Written to `out` as well.
/// Busy when a broker uses the directory, NotFound when there is no store; so do the others.
Result<StoreInfo> storeInfo(const StoreToolOptions& options, const LineSink& out);

struct CheckReport {
    std::int64_t records = 0;                 ///< whole records of the log
    std::int64_t units = 0;                   ///< of consume queues, fillers not counted
    std::int64_t indexEntries = 0;
    std::int64_t end = 0;                     ///< where the log ends
    std::int64_t problems = 0;                ///< lines about what is wrong now; a dry run does not look for it
    std::int64_t mends = 0;                   ///< lines about what the next start would cut, rebuild or set aside
    std::int64_t left = 0;                    ///< lines about what would still be wrong then
    [[nodiscard]] bool allIsWell() const noexcept { return problems == 0 && mends == 0 && left == 0; }
};

/// Reads every record with its checksums, every unit of the consume queues and every entry of the key index, and compares them. A
/// line for each problem, with file and offset; then the lines of a dry run; then a summary.
Result<CheckReport> storeCheck(const StoreToolOptions& options, const LineSink& out, const ToolWatcher& watcher = {});

struct DumpFilter {
    std::string topic{};                      ///< empty: all
    std::int32_t queueId = -1;                ///< negative: all
    std::int64_t fromMs = 0;                  ///< store time, both ends included
    std::int64_t toMs = INT64_MAX;
    std::int64_t fromPosition = 0;            ///< of the log; has to be the start of a record or of a file
    std::int64_t messagesMax = INT64_MAX;
    bool bodies = false;                      ///< the stored body as well, in hexadecimal where it is not printable text
};

/// A line for each message of the log, in its order; messages of removed queues as well. Returns how many.
Result<std::int64_t> storeDump(const StoreToolOptions& options, const DumpFilter& filter, const LineSink& out,
                               const ToolWatcher& watcher = {});

/// Does in memory what the next start of a broker would do, and says what it would cut, rebuild or set aside, line by line; then reads
/// and compares everything as it would be, and says what is still wrong.
/// The Status of the start itself is the error: what it would refuse, and why.
Result<CheckReport> storeRepairDryRun(const StoreToolOptions& options, const LineSink& out, const ToolWatcher& watcher = {});

}  // namespace patchbay::storetool
