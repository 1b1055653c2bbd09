#include "Database.h"

namespace patchbay::plugins::sqlite {

StatusCode statusCodeOf(int sqliteCode) noexcept {
    switch (sqliteCode & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED: return StatusCode::Busy;
        case SQLITE_FULL: return StatusCode::Full;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB: return StatusCode::Corrupt;
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH: return StatusCode::Denied;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN: return StatusCode::Io;
        case SQLITE_TOOBIG: return StatusCode::OutOfRange;
        default: return StatusCode::Internal;
    }
}

Statement& Statement::bind(int index, std::int64_t value) noexcept {
    sqlite3_bind_int64(statement_, index, value);
    return *this;
}

Statement& Statement::bindText(int index, std::string_view value) noexcept {
    sqlite3_bind_text64(statement_, index, value.data() == nullptr ? "" : value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bindTextOrNull(int index, std::string_view value) noexcept {
    return value.empty() ? bindNull(index) : bindText(index, value);
}

Statement& Statement::bindNull(int index) noexcept {
    sqlite3_bind_null(statement_, index);
    return *this;
}

Statement& Statement::bindBlob(int index, std::string_view value) noexcept {
    sqlite3_bind_blob64(statement_, index, value.data() == nullptr ? "" : value.data(), value.size(), SQLITE_STATIC);
    return *this;
}

std::string_view Statement::bytes(int column) const noexcept {
    const void* data = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

void Statement::reset() noexcept {
    // Bindings stay: each use binds all of them anew.
    sqlite3_reset(statement_);
}

Result<Database> Database::open(const std::string& path, std::chrono::milliseconds busyTimeout, const char* vfs) {
    return openWith(path, busyTimeout, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
}

Result<Database> Database::openToRead(const std::string& path, std::chrono::milliseconds busyTimeout) {
    return openWith(path, busyTimeout, SQLITE_OPEN_READONLY, nullptr);
}

Result<Database> Database::openWith(const std::string& path, std::chrono::milliseconds busyTimeout, int flags, const char* vfs) {
    Database database;
    database.path_ = path;
    // Each connection has one user at a time, so SQLite's own locks around it are not needed.
    const int code = sqlite3_open_v2(path.c_str(), &database.handle_, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
    if (code != SQLITE_OK) return database.failure("open");
    sqlite3_busy_timeout(database.handle_, static_cast<int>(busyTimeout.count()));
    return database;
}

Status Database::execute(const std::string& sql) {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return failure("change");
    return Status::ok();
}

Result<Statement> Database::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return failure("read the schema of");
    return Statement(statement);
}

Result<std::int64_t> Database::integer(std::string_view sql) {
    auto statement = prepare(sql);
    if (!statement) return statement.error();
    const int code = statement->step();
    if (code == SQLITE_ROW) return statement->integer(0);
    if (code == SQLITE_DONE) return 0;
    return failure("read");
}

Result<std::string> Database::text(std::string_view sql) {
    auto statement = prepare(sql);
    if (!statement) return statement.error();
    const int code = statement->step();
    if (code == SQLITE_ROW) return std::string(statement->bytes(0));
    if (code == SQLITE_DONE) return std::string();
    return failure("read");
}

Status Database::failure(std::string_view doing) const {
    const int code = handle_ == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(handle_);
    const char* reason = handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_);
    return {statusCodeOf(code), "cannot " + std::string(doing) + " " + path_ + ": " + reason};
}

}  // namespace patchbay::plugins::sqlite
