// Database and Statement: SQLite's C API with owners and Status.
#pragma once

#include "patchbay/base/Result.h"

#include <chrono>
#include <cstdint>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::plugins::sqlite {

/// What a result code of SQLite means to the rest of the broker.
[[nodiscard]] StatusCode statusCodeOf(int sqliteCode) noexcept;

/// A prepared statement. Owned next to its Database, which must outlive it; used by one thread at a time. Values are bound from 1,
/// columns read from 0, as in SQLite. Bound texts and blobs are not copied: they must stay until the next reset().
class Statement {
public:
    Statement() noexcept = default;
    explicit Statement(sqlite3_stmt* statement) noexcept : statement_(statement) {}
    Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
    Statement& operator=(Statement&& other) noexcept { std::swap(statement_, other.statement_); return *this; }
    ~Statement() { sqlite3_finalize(statement_); }

    Statement& bind(int index, std::int64_t value) noexcept;
    Statement& bindText(int index, std::string_view value) noexcept;
    Statement& bindTextOrNull(int index, std::string_view value) noexcept;  ///< NULL for an empty one
    Statement& bindNull(int index) noexcept;
    Statement& bindBlob(int index, std::string_view value) noexcept;
    /// SQLITE_ROW, SQLITE_DONE or an error.
    int step() noexcept { return sqlite3_step(statement_); }
    [[nodiscard]] std::int64_t integer(int column) const noexcept { return sqlite3_column_int64(statement_, column); }
    [[nodiscard]] bool isNull(int column) const noexcept { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
    [[nodiscard]] int columns() const noexcept { return sqlite3_column_count(statement_); }
    /// Text or blob; valid until the next step() or reset().
    [[nodiscard]] std::string_view bytes(int column) const noexcept;
    void reset() noexcept;

private:
    sqlite3_stmt* statement_ = nullptr;
};

/// Resets a statement at the end of a scope, so that no read transaction stays open behind it.
class StatementUse {
public:
    explicit StatementUse(Statement& statement) noexcept : statement_(statement) {}
    StatementUse(const StatementUse&) = delete;
    StatementUse& operator=(const StatementUse&) = delete;
    ~StatementUse() { statement_.reset(); }

private:
    Statement& statement_;
};

/// One connection to a database file; used by one thread at a time. Closed by destruction, after its statements.
class Database {
public:
    Database() noexcept = default;
    Database(Database&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}
    Database& operator=(Database&& other) noexcept { std::swap(handle_, other.handle_); path_.swap(other.path_); return *this; }
    ~Database() { sqlite3_close_v2(handle_); }

    /// Opens for reading and writing, creating the file, through the VFS of that name or the default one. Waits up to `busyTimeout` for
    /// locks of other processes.
    static Result<Database> open(const std::string& path, std::chrono::milliseconds busyTimeout, const char* vfs = nullptr);
    /// Opens for reading only; the file has to be there.
    static Result<Database> openToRead(const std::string& path, std::chrono::milliseconds busyTimeout);
    /// One or more statements without results.
    Status execute(const std::string& sql);
    Result<Statement> prepare(std::string_view sql);
    /// The first column of the first row; 0 when there is none.
    Result<std::int64_t> integer(std::string_view sql);
    Result<std::string> text(std::string_view sql);

    /// The last failure on this connection, as "cannot <doing> <path>: <reason>".
    [[nodiscard]] Status failure(std::string_view doing) const;
    /// True when the file may only be read, because of its rights or those of its directory.
    [[nodiscard]] bool isReadOnly() const noexcept { return sqlite3_db_readonly(handle_, "main") == 1; }
    [[nodiscard]] bool inTransaction() const noexcept { return sqlite3_get_autocommit(handle_) == 0; }
    [[nodiscard]] std::int64_t lastRowId() const noexcept { return sqlite3_last_insert_rowid(handle_); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// For what has no function here; not to be closed.
    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }

private:
    static Result<Database> openWith(const std::string& path, std::chrono::milliseconds busyTimeout, int flags, const char* vfs);

    sqlite3* handle_ = nullptr;
    std::string path_;
};

}  // namespace patchbay::plugins::sqlite
