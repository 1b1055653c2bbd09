// FileSystem and File: the only way to the disk, so that tests and simulations can make it fail, fill or lose power.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/base/Slice.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/uio.h>
#include <vector>

namespace patchbay {

/// A range of a file mapped for reading. Unmapped when the last reference goes; valid after the File is closed.
class Mapping : public RefCounted {
public:
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
    /// True when reading [offset, offset+size) would not wait for the disk (a hint: it may be evicted meanwhile).
    [[nodiscard]] virtual bool resident(std::size_t offset, std::size_t size) const noexcept = 0;
    /// Reads [offset, offset+size) from the disk; waits for it. Io when a part of it cannot be read, or is no longer there because
    /// the file was cut: looking at it would end the process by SIGBUS. Ok, unread, where the system cannot do it (Linux < 5.14).
    [[nodiscard]] virtual Status populate(std::size_t offset, std::size_t size) const = 0;

protected:
    std::string_view bytes_;
};

/// One open regular file. Thread-safe as the system calls are; the owner closes it by destroying it.
/// Each call retries EINTR and short transfers itself. A failure is Io, or Full for ENOSPC/EDQUOT, with path and text.
class File {
public:
    virtual ~File() = default;
    [[nodiscard]] virtual const std::string& path() const noexcept = 0;
    [[nodiscard]] virtual Result<std::uint64_t> size() const = 0;
    /// Reads up to buffer.size() bytes; fewer only at the end of the file.
    [[nodiscard]] virtual Result<std::size_t> readAt(std::span<char> buffer, std::uint64_t offset) const = 0;
    /// Writes all or fails; after a failure the range holds unspecified bytes.
    virtual Status writeAt(std::string_view bytes, std::uint64_t offset) = 0;
    /// As writeAt for several pieces in one system call where possible. May change `pieces`.
    virtual Status writeAt(std::span<iovec> pieces, std::uint64_t offset) = 0;
    /// fdatasync. After a failure nothing written before is known to be safe, and a later success proves nothing.
    virtual Status sync() = 0;
    /// Starts write-back of a range without waiting for it (a hint).
    virtual void startWriteback(std::uint64_t offset, std::uint64_t size) noexcept = 0;
    virtual Status truncate(std::uint64_t size) = 0;
    /// Reserves blocks and sets the size to at least offset+size.
    virtual Status allocate(std::uint64_t offset, std::uint64_t size) = 0;
    [[nodiscard]] virtual Result<Ref<Mapping>> map(std::uint64_t offset, std::size_t size) const = 0;
};

struct FileInfo {
    std::string name;      ///< without directory
    std::uint64_t size;    ///< bytes
    bool directory;
};

struct DiskSpace {
    std::uint64_t totalBytes;
    std::uint64_t freeBytes;  ///< available to this process
};

/// Keeps an advisory lock until destroyed.
class FileLock {
public:
    virtual ~FileLock() = default;
};

enum class OpenMode : std::uint8_t { Read, ReadWrite, Create };  ///< Create: ReadWrite, made when missing

/// The directory that a path lies in: "." for a bare name.
[[nodiscard]] std::string directoryOf(const std::string& path);

/// Thread-safe. Paths are UTF-8.
class FileSystem {
public:
    virtual ~FileSystem() = default;
    [[nodiscard]] virtual Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
    /// With all parents; an existing directory is success.
    virtual Status makeDirectories(const std::string& path) = 0;
    /// Entries of a directory, by name; without "." and "..". NotFound when there is no such directory.
    [[nodiscard]] virtual Result<std::vector<FileInfo>> list(const std::string& path) const = 0;
    [[nodiscard]] virtual bool exists(const std::string& path) const noexcept = 0;
    /// Replaces `to` atomically.
    virtual Status rename(const std::string& from, const std::string& to) = 0;
    /// A file or an empty directory; NotFound when there is none.
    virtual Status remove(const std::string& path) = 0;
    /// Makes renames, creations and removals in a directory durable.
    virtual Status syncDirectory(const std::string& path) = 0;
    /// Makes all files and directories of the file system that holds `path` durable: for many small files at once, where syncing
    /// each would take as many turns of the disk. It also waits for what others wrote there.
    virtual Status syncAll(const std::string& path) = 0;
    [[nodiscard]] virtual Result<DiskSpace> space(const std::string& path) const = 0;
    /// Takes the lock or answers Busy at once; creates the file. Excludes other processes and other calls of this one; on Linux
    /// also programs that take a record lock on the first byte, as Java's FileChannel.lock does.
    [[nodiscard]] virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path) = 0;

    /// The whole file as text; at most `bytesMax` (OutOfRange beyond it).
    [[nodiscard]] Result<std::string> readAll(const std::string& path, std::uint64_t bytesMax = 64U << 20);
    /// Writes `path`.tmp, syncs it, keeps the old file as `path`.bak when `keepBackup`, renames, syncs the directory:
    /// after a crash either the old or the new content is there.
    Status replaceAtomically(const std::string& path, std::string_view content, bool keepBackup);
};

/// The operating system's files. One object for the process.
[[nodiscard]] FileSystem& systemFiles() noexcept;

}  // namespace patchbay
