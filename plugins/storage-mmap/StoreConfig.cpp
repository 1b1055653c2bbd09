// The table of keys and what is made of their values.
#include "StoreConfig.h"

#include "ConsumeQueueUnit.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace patchbay::mmapstore {

namespace {

using plugin::ConfigKey;
using plugin::ConfigType;
using plugin::kReloadable;

constexpr std::int64_t kKib = 1024;
constexpr std::int64_t kSegmentBytesMax = 4LL << 30;
constexpr std::int64_t kPageBytes = 4096;
constexpr std::int64_t kHoursMax = 878'400;  // a hundred years
/// Unwritten units of queues, keys on their way to the index, batches that are encoded: each has a limit of its own.
constexpr std::int64_t kBuffersBytes = 16LL << 20;

constexpr ConfigKey kKeys[] = {
    {"storePathCommitLog", ConfigType::Path, "",
     "Directory of the commit log; several, as absolute paths with commas between, share its files; empty means commitlog below "
     "storePathRootDir."},
    {"readOnlyCommitLogStorePaths", ConfigType::Path, "",
     "More directories that hold commit-log files and get no new ones; absolute paths with commas between."},
    {"mappedFileSizeCommitLog", ConfigType::Bytes, "1073741824",
     "Size of a commit-log file; must equal that of existing files.", 0, 64 * kKib, kSegmentBytesMax, "mapedFileSizeCommitLog"},
    {"mappedFileSizeConsumeQueue", ConfigType::Bytes, "6000000",
     "Size of a consume-queue file, rounded up to a multiple of 20; must equal that of existing files.", 0, 20, 1 << 30,
     "mapedFileSizeConsumeQueue"},
    {"mapperFileSizeBatchConsumeQueue", ConfigType::Bytes, "13800000",
     "Size of a file of a batch consume queue, rounded up to a multiple of 46; must equal that of existing files.", 0, 46, 1 << 30},
    {"enableConsumeQueueExt", ConfigType::Bool, "false",
     "Whether tags and times of messages are written beside the consume queues, into consumequeue_ext; what is there is read anyway."},
    {"mappedFileSizeConsumeQueueExt", ConfigType::Bytes, "50331648", "Size of a file of consumequeue_ext; must equal that of existing files.", 0,
     64, 1 << 30},
    {.name = "flushDiskType", .type = ConfigType::Text, .defaultValue = "ASYNC_FLUSH",
     .doc = "SYNC_FLUSH answers a send when the message is on the disk, ASYNC_FLUSH when it is in the page cache.",
     .choices = "ASYNC_FLUSH SYNC_FLUSH"},
    {"syncFlushTimeout", ConfigType::Millis, "5000",
     "How long a send waits for the disk under SYNC_FLUSH before it is answered FLUSH_DISK_TIMEOUT.", 0, 1, 600'000},
    {"syncFlushQueuedBytes", ConfigType::Bytes, "64M",
     "Bytes that may wait for the disk under SYNC_FLUSH before sends are answered busy.", 0, 1024 * kKib, 64LL << 30},
    {"flushIntervalCommitLog", ConfigType::Millis, "500", "Period of flushing the commit log under ASYNC_FLUSH.", kReloadable,
     1, 600'000},
    {"flushCommitLogLeastPages", ConfigType::Int, "4", "Pages of 4096 bytes below which a periodic flush is put off.",
     kReloadable, 0, 1 << 20},
    {"flushCommitLogThoroughInterval", ConfigType::Millis, "10000",
     "Longest time for which a flush of the commit log is put off.", kReloadable, 1, 3'600'000},
    {"flushIntervalConsumeQueue", ConfigType::Millis, "1000", "Period of writing consume queues.", kReloadable, 1, 600'000},
    {"flushConsumeQueueThoroughInterval", ConfigType::Millis, "60000",
     "Longest time until consume queues are made durable and the checkpoint moves on.", kReloadable, 1, 3'600'000},
    {"maxMessageSize", ConfigType::Bytes, "4194304", "Largest body of a message.", kReloadable, 10, std::numeric_limits<std::int32_t>::max()},
    {"maxTransferBytesOnMessageInMemory", ConfigType::Bytes, "262144",
     "Most bytes of one read of messages that are in memory.", kReloadable, 1, 1 << 30},
    {"maxTransferCountOnMessageInMemory", ConfigType::Int, "32", "Most messages of one read that are in memory.", kReloadable,
     1, 1 << 20},
    {"maxTransferBytesOnMessageInDisk", ConfigType::Bytes, "65536", "Most bytes of one read of messages that are on disk.",
     kReloadable, 1, 1 << 30},
    {"maxTransferCountOnMessageInDisk", ConfigType::Int, "8", "Most messages of one read that are on disk.", kReloadable, 1,
     1 << 20},
    {"maxFilterMessageSize", ConfigType::Bytes, "16000",
     "Bytes of consume queue (20 per message) that one read with a filter looks at.", kReloadable, 20, 1 << 30},
    {"accessMessageInMemoryMaxRatio", ConfigType::Int, "40",
     "Share of physical memory, in percent; messages nearer to the end of the log count as being in memory.", kReloadable, 0,
     100},
    {"fileReservedTime", ConfigType::Int, "72",
     "Hours for which messages are kept; a commit-log file goes when its newest message is older; 0 = for ever.", kReloadable, 0,
     kHoursMax},
    {"deleteWhen", ConfigType::Text, "04", "Hours of the day, local time, at which what is too old is removed, as in 04;16.",
     kReloadable},
    {"commitLogBytesMax", ConfigType::Bytes, "0",
     "When greater than 0, the oldest commit-log files are removed, whatever their age, while all of them have more bytes.",
     kReloadable, 0},
    {"diskMaxUsedSpaceRatio", ConfigType::Int, "75",
     "Used share of the disk, in percent, above which what is too old is removed at any hour.", kReloadable, 10, 100},
    {"diskSpaceCleanForciblyRatio", ConfigType::Int, "85",
     "Used share of the disk, in percent, above which the oldest commit-log files are removed whatever their age, and at or below "
     "which refused messages are accepted again.",
     kReloadable, 10, 100},
    {"diskSpaceWarningLevelRatio", ConfigType::Int, "90",
     "Used share of the disk, in percent, above which messages are refused.", kReloadable, 10, 100},
    {"diskSpaceCleanFreeBytes", ConfigType::Bytes, "0",
     "When greater than 0, the oldest commit-log files are removed below this many free bytes, and the three ratios do not count.",
     kReloadable, 0},
    {"diskSpaceFreeBytesMin", ConfigType::Bytes, "0",
     "When greater than 0, messages are refused below this many free bytes, and the three ratios do not count.", kReloadable, 0},
    {"cleanFileForciblyEnable", ConfigType::Bool, "true",
     "Whether files that are not too old go when the disk fills up; false means that messages are refused instead.", kReloadable},
    {"cleanResourceInterval", ConfigType::Millis, "10s", "Period of looking for commit-log files to remove.", kReloadable, 100,
     3'600'000},
    {"deleteCommitLogFilesInterval", ConfigType::Millis, "100", "Pause between two removals of commit-log files.", kReloadable, 0,
     60'000},
    {"deleteFileBatchMax", ConfigType::Int, "10", "Most commit-log files that are removed in one cleanResourceInterval.", kReloadable,
     1, 1 << 20},
    {"mappedWindowBytes", ConfigType::Bytes, "67108864", "Part of a commit-log file that is mapped at once for reading.", 0,
     64 * kKib, kSegmentBytesMax},
    {"mappedWindowsMax", ConfigType::Int, "8", "Most mapped parts of the commit log that are kept while nobody reads them.", 0,
     1, 4096},
    {"storeMemoryMax", ConfigType::Bytes, "768M",
     "Memory of the store for mapped parts of the log, queued and buffered bytes together: mappedWindowBytes, mappedWindowsMax and "
     "syncFlushQueuedBytes count as far as there is room.", 0, 32LL << 20, 1LL << 40},
    {"hotWindowBytes", ConfigType::Bytes, "67108864",
     "Newest part of the log that is read without asking whether it is in memory.", 0, 0, 1LL << 40},
    {"messageIndexEnable", ConfigType::Bool, "true", "Whether messages can be found by their keys."},
    {"maxHashSlotNum", ConfigType::Int, "5000000", "Slots of a key-index file; must equal that of existing files.", 0, 1, 1 << 28},
    {"maxIndexNum", ConfigType::Int, "20000000", "Entries of a key-index file; must equal that of existing files.", 0, 2, 1 << 28},
    {"enableLmq", ConfigType::Bool, "false", "Together with enableMultiDispatch: a message is also put into the queues that its property INNER_MULTI_DISPATCH names."},
    {"enableMultiDispatch", ConfigType::Bool, "false", "See enableLmq."},
    {"enabledAppendPropCRC", ConfigType::Bool, "false",
     "Whether each record gets the property __CRC32#, a checksum over the whole of it. A start then checks it in the records that it looks at "
     "and that have it."},
    {"forceVerifyPropCRC", ConfigType::Bool, "false",
     "Whether a start takes a record without the property __CRC32#, or with a wrong one, for the damaged end of the log."},
    {"messageDelayLevel", ConfigType::Text, protocol::kDelayLevelsDefault,
     "Delay levels, from level 1 on: queues of delayed messages say by them when RocketMQ would deliver."},
    {"consumeQueueFilesOpenMax", ConfigType::Int, "256", "Most consume-queue files that are kept open.", 0, 4, 65'536},
};

/// The directories of a list; one alone may be relative, the configuration has completed it.
Status readDirectories(const plugin::ConfigView& config, std::string_view key, std::vector<std::string>& directories) {
    directories.clear();
    const std::string list(config.text(key));
    const bool several = list.find(',') != std::string::npos;
    for (std::size_t from = 0; from < list.size();) {
        const std::size_t end = std::min(list.find(',', from), list.size());
        std::string directory = list.substr(from, end - from);
        from = end + 1;
        if (directory.empty()) continue;
        if (several && directory.front() != '/') {
            return {StatusCode::InvalidArgument, std::string(key) + ": of several directories each needs an absolute path, '" +
                                                     directory + "' has none"};
        }
        if (std::find(directories.begin(), directories.end(), directory) != directories.end()) {
            return {StatusCode::InvalidArgument, std::string(key) + " names " + directory + " twice"};
        }
        directories.push_back(std::move(directory));
    }
    return Status::ok();
}

}  // namespace

std::optional<std::int64_t> parseHours(std::string_view list) noexcept {
    std::int64_t hours = 0;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(';'), list.size());
        int hour = -1;
        const auto [at, error] = std::from_chars(list.data(), list.data() + end, hour);
        if (error != std::errc() || at != list.data() + end || hour < 0 || hour > 23) return std::nullopt;
        hours |= std::int64_t{1} << hour;
        list.remove_prefix(std::min(list.size(), end + 1));
    }
    return hours;
}

void StoreTunables::assign(const StoreTunables& other) noexcept {
    maxMessageBytes = other.maxMessageBytes.load();
    flushIntervalMs = other.flushIntervalMs.load();
    flushLeastPages = other.flushLeastPages.load();
    flushThoroughMs = other.flushThoroughMs.load();
    queueFlushIntervalMs = other.queueFlushIntervalMs.load();
    queueFlushThoroughMs = other.queueFlushThoroughMs.load();
    transferBytesInMemory = other.transferBytesInMemory.load();
    transferCountInMemory = other.transferCountInMemory.load();
    transferBytesOnDisk = other.transferBytesOnDisk.load();
    transferCountOnDisk = other.transferCountOnDisk.load();
    filterBytesMax = other.filterBytesMax.load();
    inMemoryPercent = other.inMemoryPercent.load();
    diskExpirePercent = other.diskExpirePercent.load();
    diskCleanPercent = other.diskCleanPercent.load();
    diskWarningPercent = other.diskWarningPercent.load();
    diskCleanFreeBytes = other.diskCleanFreeBytes.load();
    diskFreeBytesMin = other.diskFreeBytesMin.load();
    cleanForcibly = other.cleanForcibly.load();
    reservedHours = other.reservedHours.load();
    deleteHours = other.deleteHours.load();
    logBytesMax = other.logBytesMax.load();
    cleanIntervalMs = other.cleanIntervalMs.load();
    deletePauseMs = other.deletePauseMs.load();
    deleteBatchMax = other.deleteBatchMax.load();
}

std::span<const plugin::ConfigKey> storeConfigKeys() noexcept {
    return kKeys;
}

MemoryShares memorySharesOf(const StoreOptions& options) noexcept {
    MemoryShares shares{};
    shares.syncQueuedBytes = options.syncFlush ? std::min(options.syncFlushQueuedBytes, options.memoryMax / 8) : 0;
    shares.windowsBytes = options.memoryMax - kBuffersBytes - shares.syncQueuedBytes;
    // At least two, so that two readers do not take turns; each reaches a quarter into the next one at most.
    shares.windowBytes = std::min(options.mappedWindowBytes, shares.windowsBytes / 2 / kPageBytes / 5 * 4 * kPageBytes);
    return shares;
}

Status readOptions(const plugin::ConfigView& config, StoreOptions& options) {
    if (Status good = readDirectories(config, "storePathCommitLog", options.logDirectories); !good) return good;
    if (Status good = readDirectories(config, "readOnlyCommitLogStorePaths", options.logDirectoriesRead); !good) return good;
    options.segmentBytes = config.integer("mappedFileSizeCommitLog");
    const std::int64_t units = (config.integer("mappedFileSizeConsumeQueue") + kUnitBytes - 1) / kUnitBytes;
    options.queueFileBytes = units * kUnitBytes;
    const std::int64_t batches = (config.integer("mapperFileSizeBatchConsumeQueue") + kBatchUnitBytes - 1) / kBatchUnitBytes;
    options.batchQueueFileBytes = batches * kBatchUnitBytes;
    options.extendQueues = config.flag("enableConsumeQueueExt");
    options.extensionFileBytes = config.integer("mappedFileSizeConsumeQueueExt");
    options.syncFlush = config.text("flushDiskType") == "SYNC_FLUSH";
    options.syncFlushTimeout = config.millis("syncFlushTimeout");
    options.syncFlushQueuedBytes = config.integer("syncFlushQueuedBytes");
    options.mappedWindowBytes = config.integer("mappedWindowBytes");
    options.mappedWindowsMax = config.integer("mappedWindowsMax");
    options.memoryMax = config.integer("storeMemoryMax");
    options.hotWindowBytes = config.integer("hotWindowBytes");
    options.keyIndex = config.flag("messageIndexEnable");
    options.furtherQueues = config.flag("enableLmq") && config.flag("enableMultiDispatch");
    options.appendCrc = config.flag("enabledAppendPropCRC");
    options.demandCrc = config.flag("forceVerifyPropCRC");
    auto levels = protocol::DelayLevels::parse(config.text("messageDelayLevel"));
    if (!levels) return levels.error();
    options.delayLevels = std::move(*levels);
    options.indexSlots = config.integer("maxHashSlotNum");
    options.indexEntries = config.integer("maxIndexNum");
    options.queueFilesOpenMax = config.integer("consumeQueueFilesOpenMax");
    if (config.integer("diskSpaceCleanForciblyRatio") > config.integer("diskSpaceWarningLevelRatio")) {
        return {StatusCode::InvalidArgument, "diskSpaceCleanForciblyRatio is above diskSpaceWarningLevelRatio"};
    }
    if (!parseHours(config.text("deleteWhen"))) {
        return {StatusCode::InvalidArgument, "deleteWhen: '" + std::string(config.text("deleteWhen")) +
                                                 "' is not a list of hours from 00 to 23 with semicolons between"};
    }
    return Status::ok();
}

void readTunables(const plugin::ConfigView& config, StoreTunables& tunables) {
    tunables.maxMessageBytes = config.integer("maxMessageSize");
    tunables.flushIntervalMs = config.integer("flushIntervalCommitLog");
    tunables.flushLeastPages = config.integer("flushCommitLogLeastPages");
    tunables.flushThoroughMs = config.integer("flushCommitLogThoroughInterval");
    tunables.queueFlushIntervalMs = config.integer("flushIntervalConsumeQueue");
    tunables.queueFlushThoroughMs = config.integer("flushConsumeQueueThoroughInterval");
    tunables.transferBytesInMemory = config.integer("maxTransferBytesOnMessageInMemory");
    tunables.transferCountInMemory = config.integer("maxTransferCountOnMessageInMemory");
    tunables.transferBytesOnDisk = config.integer("maxTransferBytesOnMessageInDisk");
    tunables.transferCountOnDisk = config.integer("maxTransferCountOnMessageInDisk");
    tunables.filterBytesMax = config.integer("maxFilterMessageSize");
    tunables.inMemoryPercent = config.integer("accessMessageInMemoryMaxRatio");
    tunables.diskExpirePercent = config.integer("diskMaxUsedSpaceRatio");
    tunables.diskCleanPercent = config.integer("diskSpaceCleanForciblyRatio");
    tunables.diskWarningPercent = config.integer("diskSpaceWarningLevelRatio");
    tunables.diskCleanFreeBytes = config.integer("diskSpaceCleanFreeBytes");
    tunables.diskFreeBytesMin = config.integer("diskSpaceFreeBytesMin");
    tunables.cleanForcibly = config.flag("cleanFileForciblyEnable") ? 1 : 0;
    tunables.reservedHours = config.integer("fileReservedTime");
    // One that cannot be read was refused by readOptions().
    if (const std::optional<std::int64_t> hours = parseHours(config.text("deleteWhen"))) tunables.deleteHours = *hours;
    tunables.logBytesMax = config.integer("commitLogBytesMax");
    tunables.cleanIntervalMs = config.millis("cleanResourceInterval").count();
    tunables.deletePauseMs = config.millis("deleteCommitLogFilesInterval").count();
    tunables.deleteBatchMax = config.integer("deleteFileBatchMax");
}

}  // namespace patchbay::mmapstore
