// StoreConvert: copies a store of one kind into one of another, and SQLite databases while a broker writes them.
#pragma once

#include "patchbay/base/FileSystem.h"
#include "patchbay/base/Result.h"
#include "patchbay/protocol/message/DelayLevels.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::storetool {

enum class StoreKind : std::uint8_t { Mmap, Sqlite };
/// "mmap" or "sqlite".
[[nodiscard]] std::optional<StoreKind> parseStoreKind(std::string_view name) noexcept;
[[nodiscard]] std::string_view toString(StoreKind kind) noexcept;

struct StorePlace {
    StoreKind kind = StoreKind::Mmap;
    /// Mmap: what holds commitlog/. Sqlite: what holds messages.db.
    std::string directory;
    std::vector<std::string> commitLogs{};    ///< Mmap, to read: storePathCommitLog where it is not commitlog/ below `directory`
};

struct ConvertOptions {
    StorePlace from;
    StorePlace to;                            ///< must not hold a store yet
    std::int64_t segmentBytes = 1 << 30;      ///< mappedFileSizeCommitLog of a new mmap store
    std::int64_t queueFileBytes = 6'000'000;  ///< its mappedFileSizeConsumeQueue
    /// The broker's messageDelayLevel: queues of delayed messages in an mmap store say when each is due.
    protocol::DelayLevels delayLevels = *protocol::DelayLevels::parse(protocol::kDelayLevelsDefault);
    std::vector<std::string> batchTopics{};   ///< topics that get batch queues in it: those with the attribute queue.type=BatchCQ
    std::vector<std::string> leaveOut{};      ///< topics that are not copied
};

struct ConvertProgress {
    enum class Phase : std::uint8_t { Copy, Verify };
    Phase phase = Phase::Copy;
    std::int64_t messages = 0;                ///< of this phase so far
    std::int64_t messagesTotal = 0;
};
/// Called now and then, on the caller's thread. False gives up: Cancelled, and the target is as it was.
using ConvertWatcher = std::function<bool(const ConvertProgress&)>;

struct ConvertReport {
    std::int64_t messages = 0;
    std::int64_t queues = 0;
    std::int64_t bytes = 0;                   ///< of records
    std::uint64_t digest = 0;                 ///< over everything but physical offsets, in physical order; the same on both sides
    std::vector<std::string> leftOut;         ///< as "topic/queue": of leaveOut, and those without messages of their own (%LMQ%…)
    std::vector<std::string> notes;           ///< warnings of the stores
};

/// Copies every message that a consumer could read, in physical order; queue offsets, store times and all other fields stay, and
/// into SQLite the physical offsets, too. A record of a batch queue becomes the messages that consumers take it for; the second and later ones get
/// physical offsets right behind the record's. Then both are read again and compared by count and digest. No broker may run on either:
/// both are locked, and a source that was killed is recovered first, as a broker would. The files of config/ are not touched.
/// The target appears at the end, whole; a failure leaves none.
/// AlreadyExists when there is a store at the target, Busy when one is in use, Corrupt when the two differ, Unsupported when a topic can
/// only be left out.
Result<ConvertReport> convertStore(const ConvertOptions& options, const ConvertWatcher& watcher = {});

/// Whether convertStore() would begin: AlreadyExists, NotFound or Busy as there. Changes nothing and reads no message.
Status checkConversion(const ConvertOptions& options);

struct BackupProgress {
    std::int64_t pages = 0;
    std::int64_t pagesTotal = 0;
};
using BackupWatcher = std::function<bool(const BackupProgress&)>;

struct BackupReport {
    std::int64_t bytes = 0;                   ///< of the copy
    std::int64_t messages = 0;                ///< in it
};

/// Copies a database as it is at one moment, while a broker writes it: the broker's write-ahead log grows meanwhile, nothing waits. Busy
/// when it has grown to three quarters of sqliteWalBytesLimit before the copy was whole.
/// The copy is checked and then renamed to `target`, which must not exist, and is durable with its name. Contains config/ when sqliteKeepConfig is on.
Result<BackupReport> backupSqlite(const std::string& database, const std::string& target, const BackupWatcher& watcher = {}, FileSystem& files = systemFiles());

/// SQLite's own check of a database, also while a broker writes it. What is wrong, empty when nothing is; at most 100 lines.
Result<std::vector<std::string>> checkSqlite(const std::string& database);

}  // namespace patchbay::storetool
