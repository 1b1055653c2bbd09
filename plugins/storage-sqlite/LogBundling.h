// LogBundling: writes the pages of a transaction to SQLite's write-ahead log in one piece.
#pragma once

#include <sqlite3.h>
#include <string>

namespace patchbay::plugins::sqlite {

/// SQLite hands each page of a transaction to the log by two system calls, which is a good part of what a message costs. This is a VFS in
/// front of the default one: it gathers what goes to the log file and passes it on at the latest with the last page of a commit, so that
/// nothing is committed that has not been written and an error of the disk still fails the transaction. All other files are the default
/// VFS's own. Owned by who opens a connection by its name, and must outlive that connection; the file is used by one thread at a time.
class LogBundling {
public:
    LogBundling();
    ~LogBundling();
    LogBundling(const LogBundling&) = delete;
    LogBundling& operator=(const LogBundling&) = delete;

    /// For sqlite3_open_v2(). No other VFS of the process has it.
    [[nodiscard]] const char* name() const noexcept { return name_.c_str(); }

private:
    std::string name_;
    sqlite3_vfs vfs_{};
};

}  // namespace patchbay::plugins::sqlite
