#include "LogCopier.h"

#include <algorithm>
#include <pthread.h>

namespace patchbay::plugins::sqlite {

Status LogCopier::open(const std::string& path, const StoreSettings& settings) {
    auto database = Database::open(path, settings.busyTimeout);
    if (!database) return database.error();
    database_ = std::move(*database);
    // SQLite opens the log with the first read.
    const auto tables = database_.integer("SELECT count(*) FROM sqlite_master");
    if (!tables) return tables.error();
    const auto pageBytes = database_.integer("PRAGMA page_size");
    if (!pageBytes) return pageBytes.error();
    pageBytes_ = *pageBytes;
    running_ = true;
    thread_ = std::thread([this] { loop(); });
    pthread_setname_np(thread_.native_handle(), "sqlite-copier");
    return Status::ok();
}

void LogCopier::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        running_ = false;
        changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
    database_ = Database();
}

void LogCopier::begin() {
    const std::lock_guard lock(mutex_);
    if (wanted_ || !running_) return;
    wanted_ = true;
    changed_.notify_all();
}

void LogCopier::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !wanted_; });
}

bool LogCopier::isBusy() const {
    const std::lock_guard lock(mutex_);
    return wanted_;
}

std::int64_t LogCopier::copiedBytes() const {
    const std::lock_guard lock(mutex_);
    return copiedPages_ * pageBytes_;
}

void LogCopier::forget() {
    const std::lock_guard lock(mutex_);
    copiedPages_ = 0;
}

void LogCopier::loop() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return wanted_ || !running_; });
        if (!wanted_) return;
        lock.unlock();
        const int copied = pass();
        lock.lock();
        copiedPages_ = copied;
        wanted_ = false;
        changed_.notify_all();
    }
}

int LogCopier::pass() {
    int copied = 0;
    const int code = sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, &copied);
    if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY) return std::max(copied, 0);  // busy: somebody else is at it
    const Status failure = database_.failure("copy the write-ahead log into");
    log_.limited(plugin::LogLevel::Error, "PB-1504 the write-ahead log cannot be copied into the database", {{"reason", failure.message()}});
    return 0;
}

}  // namespace patchbay::plugins::sqlite
