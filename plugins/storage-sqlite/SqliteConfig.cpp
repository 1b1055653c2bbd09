#include "SqliteConfig.h"

#include <algorithm>
#include <limits>

namespace patchbay::plugins::sqlite {

namespace {

using plugin::ConfigKey;
using plugin::ConfigType;

constexpr std::int64_t kMib = 1 << 20;
constexpr std::size_t kBodyBytesMax = std::size_t{512} << 20;   // SQLite itself takes no value of 1 GB
constexpr std::int64_t kGib = 1LL << 30;
constexpr std::int64_t kHoursMax = 24 * 366 * 100;

constexpr ConfigKey kKeys[] = {
    {"storePathSqlite", ConfigType::Path, "", "Directory of the database; empty means sqlite below storePathRootDir."},
    {"flushDiskType", ConfigType::Text, "ASYNC_FLUSH",
     "SYNC_FLUSH answers a send when the message is on the disk, ASYNC_FLUSH when it is in the page cache.", 0, 0, 0, {},
     "ASYNC_FLUSH SYNC_FLUSH"},
    {"flushIntervalCommitLog", ConfigType::Millis, "500", "Period of flushing under ASYNC_FLUSH.", 0, 1, 600'000},
    {"maxMessageSize", ConfigType::Bytes, "4194304", "Largest body of a message; 512M at most, whatever is set.", 0, 10, std::numeric_limits<std::int32_t>::max()},
    {"fileReservedTime", ConfigType::Int, "72", "Hours for which messages are kept; 0 = for ever.", plugin::kReloadable, 0, kHoursMax},
    {"sqliteBytesMax", ConfigType::Bytes, "0", "Bytes of messages that are kept, oldest removed first; 0 = no limit.", 0, 0},
    {"sqliteCleanInterval", ConfigType::Millis, "10s", "Period of removing messages that are too old or too much.", 0, 100, 86'400'000},
    {"sqliteBusyTimeout", ConfigType::Millis, "5s", "How long to wait while another process has the database locked.", 0, 0, 600'000},
    {"sqliteGroupMessages", ConfigType::Int, "1024", "Messages of one transaction, beyond which no batch is added.", 0, 1, 1'000'000},
    {"sqliteGroupTime", ConfigType::Millis, "20", "Time after which a transaction is committed as it is.", 0, 1, 10'000},
    {"sqliteQueuedBytes", ConfigType::Bytes, "64M", "Bytes that may wait to be written before sends are answered busy.", 0, kMib, 64 * kGib},
    {"sqlitePageBytes", ConfigType::Text, "8192", "Page size of a database that is made; one that exists keeps its own.", 0, 0, 0, {}, "1024 2048 4096 8192 16384 32768 65536"},
    {"sqlitePageCacheBytes", ConfigType::Bytes, "4M", "Page cache of the writing connection.", 0, 64 << 10, 64 * kGib},
    {"sqliteReaderPageCacheBytes", ConfigType::Bytes, "1M", "Page cache of each reading connection.", 0, 64 << 10, 64 * kGib},
    {"sqliteTailCacheBytes", ConfigType::Bytes, "8M", "Newest messages that are kept in memory for readers who keep up.", 0, 0, 64 * kGib},
    {"sqliteWalBytes", ConfigType::Bytes, "32M", "Size of the write-ahead log at which it is copied into the database; it may become twice as long.", 0, 64 << 10, 64 * kGib},
    {"sqliteWalBytesLimit", ConfigType::Bytes, "1G", "Size of the write-ahead log at which messages are refused: a query that stays open keeps it from being reused.", 0, kMib, 1024 * kGib},
    {"sqliteDiskFreeBytesMin", ConfigType::Bytes, "32M", "Messages are refused while less is free on the disk, so that old ones can still be removed.", 0, 0, 1024 * kGib},
    {"sqliteKeepConfig", ConfigType::Bool, "true", "Copies the files of config/ into the database, so that it can be asked for backlogs and is a whole backup; puts back what is missing or empty there at a start."},
    {"sqliteCheckOnStart", ConfigType::Bool, "false", "Checks the whole database before it is used, which may take long."},
};

std::size_t bytes(const plugin::ConfigView& view, std::string_view key) { return static_cast<std::size_t>(view.integer(key)); }

}  // namespace

std::span<const ConfigKey> SqliteConfig::keys() noexcept { return kKeys; }

SqliteConfig SqliteConfig::from(const plugin::ConfigView& view) {
    SqliteConfig config;
    StoreSettings& store = config.store;
    store.directory = view.text("storePathSqlite");
    store.syncFlush = view.text("flushDiskType") == "SYNC_FLUSH";
    store.busyTimeout = view.millis("sqliteBusyTimeout");
    store.groupTime = view.millis("sqliteGroupTime");
    store.groupMessagesMax = bytes(view, "sqliteGroupMessages");
    store.bodyBytesMax = std::min(bytes(view, "maxMessageSize"), kBodyBytesMax);
    store.queuedBytesMax = bytes(view, "sqliteQueuedBytes");
    store.pageBytes = static_cast<std::size_t>(std::stoul(std::string(view.text("sqlitePageBytes"))));
    store.pageCacheBytes = bytes(view, "sqlitePageCacheBytes");
    store.readerPageCacheBytes = bytes(view, "sqliteReaderPageCacheBytes");
    store.tailCacheBytes = bytes(view, "sqliteTailCacheBytes");
    store.walBytesMax = bytes(view, "sqliteWalBytes");
    store.walBytesLimit = view.integer("sqliteWalBytesLimit");
    store.diskFreeBytesMin = view.integer("sqliteDiskFreeBytesMin");
    store.messageBytesMax = view.integer("sqliteBytesMax");
    store.retention = std::chrono::hours(view.integer("fileReservedTime"));
    store.checkIntegrity = view.flag("sqliteCheckOnStart");
    config.keepConfig = view.flag("sqliteKeepConfig");
    config.flushInterval = view.millis("flushIntervalCommitLog");
    config.cleanInterval = view.millis("sqliteCleanInterval");
    return config;
}

}  // namespace patchbay::plugins::sqlite
