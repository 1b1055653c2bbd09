#include "patchbay/storetool/StoreConvert.h"

#include "Database.h"

#include "patchbay/base/FileSystem.h"

#include <algorithm>
#include <chrono>

namespace patchbay::storetool {

using plugins::sqlite::Database;

namespace {

constexpr int kPagesOfAStep = 1'000;
constexpr int kLinesMax = 100;
constexpr std::chrono::milliseconds kBusyTimeout{5'000};

class Backup {
public:
    Backup(Database& target, Database& source) : backup_(sqlite3_backup_init(target.handle(), "main", source.handle(), "main")) {}
    Backup(const Backup&) = delete;
    Backup& operator=(const Backup&) = delete;
    ~Backup() { finish(); }

    [[nodiscard]] bool started() const noexcept { return backup_ != nullptr; }
    int step() noexcept { return sqlite3_backup_step(backup_, kPagesOfAStep); }
    [[nodiscard]] BackupProgress progress() const noexcept {
        const std::int64_t total = sqlite3_backup_pagecount(backup_);
        return {total - sqlite3_backup_remaining(backup_), total};
    }
    int finish() noexcept { return sqlite3_backup_finish(std::exchange(backup_, nullptr)); }

private:
    sqlite3_backup* backup_;
};

/// The broker's write-ahead log, which cannot be begun anew while somebody reads: it may grow to three quarters of the size at which the
/// broker would refuse messages.
class LogBound {
public:
    LogBound(FileSystem& files, const std::string& database, std::int64_t bytesLimit)
        : files_(files), path_(database + "-wal"), limit_(bytesLimit), before_(bytes()) {}

    [[nodiscard]] Status check() const {
        const std::uint64_t now = bytes();
        if (limit_ <= 0 || now <= before_ || now < static_cast<std::uint64_t>(limit_) / 4 * 3) return Status::ok();
        return {StatusCode::Busy, "given up, because " + path_ + " has grown to " + std::to_string(now) + " bytes meanwhile, and at sqliteWalBytesLimit (" +
                                      std::to_string(limit_) + ") the broker would refuse messages; copy to a faster disk or at a quieter time, or raise that key"};
    }

private:
    [[nodiscard]] std::uint64_t bytes() const {
        const auto entries = files_.list(directoryOf(path_));
        if (!entries) return 0;
        const std::string name = path_.substr(path_.rfind('/') + 1);
        const auto found = std::find_if(entries->begin(), entries->end(), [&](const FileInfo& file) { return file.name == name; });
        return found == entries->end() ? 0 : found->size;
    }

    FileSystem& files_;
    const std::string path_;
    const std::int64_t limit_;
    const std::uint64_t before_;
};

Status copyPages(Database& source, const std::string& to, const LogBound& log, const BackupWatcher& watcher) {
    auto target = Database::open(to, kBusyTimeout);
    if (!target) return target.error();
    Backup backup(*target, source);
    if (!backup.started()) return target->failure("write");
    int code = SQLITE_OK;
    while ((code = backup.step()) == SQLITE_OK) {
        if (watcher && !watcher(backup.progress())) return {StatusCode::Cancelled, "given up on request"};
        if (Status bounded = log.check(); !bounded) return bounded;
    }
    if (code != SQLITE_DONE) {
        backup.finish();
        return target->failure("copy to");
    }
    if (watcher) watcher(backup.progress());
    if (backup.finish() != SQLITE_OK) return target->failure("write");
    // The copy shall be one file, whatever journal its source has.
    const auto mode = target->text("PRAGMA journal_mode = DELETE");
    return mode ? Status::ok() : mode.error();
}

Result<BackupReport> checkCopy(const std::string& path) {
    auto copy = Database::openToRead(path, kBusyTimeout);
    if (!copy) return copy.error();
    const auto verdict = copy->text("PRAGMA quick_check(1)");
    if (!verdict) return verdict.error();
    if (*verdict != "ok") return Status(StatusCode::Corrupt, "the copy is damaged, as its source may be: " + *verdict);
    BackupReport report;
    const auto pages = copy->integer("PRAGMA page_count");
    const auto size = copy->integer("PRAGMA page_size");
    const auto messages = copy->integer("SELECT coalesce(sum(max_offset - min_offset), 0) FROM queues");
    for (const auto* value : {&pages, &size, &messages}) {
        if (!*value) return value->error();
    }
    report.bytes = *pages * *size;
    report.messages = *messages;
    return report;
}

/// The copy of the moment that the source's open transaction sees, which ends with the last page.
Result<BackupReport> copyAndCheck(Database& source, const std::string& to, FileSystem& files, const BackupWatcher& watcher) {
    const auto limit = source.integer("SELECT value FROM meta WHERE name = 'wal_bytes_limit'");
    if (!limit) return limit.error();
    if (Status copied = copyPages(source, to, LogBound(files, source.path(), *limit), watcher); !copied) return copied;
    if (Status ended = source.execute("ROLLBACK"); !ended) return ended;
    return checkCopy(to);
}

}  // namespace

namespace {

/// Whether the path names a database; what it names instead, when it is a directory.
Status isDatabase(FileSystem& files, const std::string& path) {
    if (!files.exists(path)) return {StatusCode::NotFound, "there is no " + path};
    if (!files.list(path)) return Status::ok();
    for (const std::string& inside : {path + "/messages.db", path + "/sqlite/messages.db"}) {
        if (files.exists(inside)) return {StatusCode::InvalidArgument, path + " is a directory; the database is " + inside};
    }
    if (files.exists(path + "/commitlog")) {
        return {StatusCode::InvalidArgument, path + " is a directory of storage-mmap, which has no database: stop the broker and copy the directory "
                                                "without run/, or let the file system take a snapshot of it, which is like a power cut"};
    }
    return {StatusCode::InvalidArgument, path + " is a directory and holds no store; wanted is messages.db of storage-sqlite"};
}

}  // namespace

Result<BackupReport> backupSqlite(const std::string& database, const std::string& target, const BackupWatcher& watcher, FileSystem& files) {
    if (files.exists(target)) return Status(StatusCode::AlreadyExists, target + " exists; nothing is overwritten");
    if (Status named = isDatabase(files, database); !named) return named;
    auto source = Database::openToRead(database, kBusyTimeout);
    if (!source) return source.error();
    // One snapshot for all steps: without it every commit of the broker would begin the copy anew.
    if (Status begun = source->execute("BEGIN"); !begun) return begun;
    if (const auto looked = source->integer("SELECT count(*) FROM sqlite_master"); !looked) return looked.error();
    const std::string unfinished = target + ".unfinished";
    static_cast<void>(files.remove(unfinished));
    const Result<BackupReport> report = copyAndCheck(*source, unfinished, files, watcher);
    const Status moved = report ? files.rename(unfinished, target) : report.error();
    // A power cut must not take the name of a copy that was reported.
    if (moved) {
        const Status durable = files.syncDirectory(directoryOf(target));
        return durable ? report : Result<BackupReport>(durable);
    }
    static_cast<void>(files.remove(unfinished));
    return moved;
}

Result<std::vector<std::string>> checkSqlite(const std::string& database) {
    if (Status named = isDatabase(systemFiles(), database); !named) return named;
    auto opened = Database::openToRead(database, kBusyTimeout);
    if (!opened) return opened.error();
    auto check = opened->prepare("PRAGMA integrity_check(" + std::to_string(kLinesMax) + ")");
    if (!check) return check.error();
    std::vector<std::string> lines;
    int code = SQLITE_ROW;
    while ((code = check->step()) == SQLITE_ROW) lines.emplace_back(check->bytes(0));
    if (code != SQLITE_DONE) return opened->failure("check");
    if (lines == std::vector<std::string>{"ok"}) lines.clear();
    return lines;
}

}  // namespace patchbay::storetool
