#include "patchbay/storetool/StoreConvert.h"

#include "Database.h"

#include "patchbay/base/FileSystem.h"

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

Status copyPages(Database& source, const std::string& to, const BackupWatcher& watcher) {
    auto target = Database::open(to, kBusyTimeout);
    if (!target) return target.error();
    Backup backup(*target, source);
    if (!backup.started()) return target->failure("write");
    int code = SQLITE_OK;
    while ((code = backup.step()) == SQLITE_OK) {
        if (watcher && !watcher(backup.progress())) return {StatusCode::Cancelled, "given up on request"};
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

Result<BackupReport> copyAndCheck(Database& source, const std::string& to, const BackupWatcher& watcher) {
    if (Status copied = copyPages(source, to, watcher); !copied) return copied;
    return checkCopy(to);
}

}  // namespace

Result<BackupReport> backupSqlite(const std::string& database, const std::string& target, const BackupWatcher& watcher) {
    FileSystem& files = systemFiles();
    if (files.exists(target)) return Status(StatusCode::AlreadyExists, target + " exists; nothing is overwritten");
    if (!files.exists(database)) return Status(StatusCode::NotFound, "there is no " + database);
    auto source = Database::openToRead(database, kBusyTimeout);
    if (!source) return source.error();
    // One snapshot for all steps: without it every commit of the broker would begin the copy anew.
    if (Status begun = source->execute("BEGIN"); !begun) return begun;
    if (const auto looked = source->integer("SELECT count(*) FROM sqlite_master"); !looked) return looked.error();
    const std::string unfinished = target + ".unfinished";
    static_cast<void>(files.remove(unfinished));
    const Result<BackupReport> report = copyAndCheck(*source, unfinished, watcher);
    const Status moved = report ? files.rename(unfinished, target) : report.error();
    if (moved) return report;
    static_cast<void>(files.remove(unfinished));
    return moved;
}

Result<std::vector<std::string>> checkSqlite(const std::string& database) {
    if (!systemFiles().exists(database)) return Status(StatusCode::NotFound, "there is no " + database);
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
