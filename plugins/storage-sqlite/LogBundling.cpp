#include "LogBundling.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace patchbay::plugins::sqlite {

namespace {

// SQLite's own VFS writes at most this at once.
constexpr std::size_t kBundleBytes = (128U << 10) - 1;
// Of a frame of the log (https://www.sqlite.org/fileformat2.html): a header with the size of the database at 4, which only the last frame
// of a transaction has, and a page.
constexpr int kFrameHeaderBytes = 24;

/// What SQLite allocates for the log, with room for the real file behind.
struct LogFile {
    sqlite3_file base;
    char* bundle;            ///< kBundleBytes
    std::size_t used;
    sqlite3_int64 at;        ///< where the bundle begins in the file
    bool lastFrame;          ///< the header of a transaction's last frame came
    sqlite3_file* real;
};

LogFile& mine(sqlite3_file* file) { return *reinterpret_cast<LogFile*>(file); }
sqlite3_file* real(sqlite3_file* file) { return mine(file).real; }
const sqlite3_io_methods& methods(sqlite3_file* file) { return *real(file)->pMethods; }

int passOn(sqlite3_file* file) {
    LogFile& log = mine(file);
    if (log.used == 0) return SQLITE_OK;
    // After a failure SQLite takes the transaction back and writes anew at this place.
    const int bytes = static_cast<int>(std::exchange(log.used, 0));
    return methods(file).xWrite(log.real, log.bundle, bytes, log.at);
}

int onWrite(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 offset) {
    LogFile& log = mine(file);
    const auto size = static_cast<std::size_t>(bytes);
    if (offset != log.at + static_cast<sqlite3_int64>(log.used) || log.used + size > kBundleBytes) {
        if (const int code = passOn(file); code != SQLITE_OK) return code;
    }
    if (log.used == 0) log.at = offset;
    std::memcpy(log.bundle + log.used, from, size);
    log.used += size;
    if (bytes == kFrameHeaderBytes) {
        const auto* header = static_cast<const char*>(from);
        log.lastFrame = std::any_of(header + 4, header + 8, [](char byte) { return byte != 0; });
        return SQLITE_OK;
    }
    return std::exchange(log.lastFrame, false) ? passOn(file) : SQLITE_OK;
}

int onRead(sqlite3_file* file, void* to, int bytes, sqlite3_int64 offset) {
    const int code = passOn(file);
    return code == SQLITE_OK ? methods(file).xRead(real(file), to, bytes, offset) : code;
}
int onTruncate(sqlite3_file* file, sqlite3_int64 size) {
    const int code = passOn(file);
    return code == SQLITE_OK ? methods(file).xTruncate(real(file), size) : code;
}
int onSync(sqlite3_file* file, int flags) {
    const int code = passOn(file);
    return code == SQLITE_OK ? methods(file).xSync(real(file), flags) : code;
}
int onSize(sqlite3_file* file, sqlite3_int64* size) {
    const int code = passOn(file);
    return code == SQLITE_OK ? methods(file).xFileSize(real(file), size) : code;
}
int onClose(sqlite3_file* file) {
    static_cast<void>(passOn(file));
    delete[] std::exchange(mine(file).bundle, nullptr);
    return methods(file).xClose(real(file));
}
int onLock(sqlite3_file* file, int level) { return methods(file).xLock(real(file), level); }
int onUnlock(sqlite3_file* file, int level) { return methods(file).xUnlock(real(file), level); }
int onCheckLock(sqlite3_file* file, int* reserved) { return methods(file).xCheckReservedLock(real(file), reserved); }
int onControl(sqlite3_file* file, int operation, void* argument) { return methods(file).xFileControl(real(file), operation, argument); }
int onSectorSize(sqlite3_file* file) { return methods(file).xSectorSize(real(file)); }
int onDevice(sqlite3_file* file) { return methods(file).xDeviceCharacteristics(real(file)); }

constexpr sqlite3_io_methods kMethods = {1, onClose, onRead, onWrite, onTruncate, onSync, onSize, onLock, onUnlock, onCheckLock, onControl,
                                         onSectorSize, onDevice, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};

int onOpen(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* outFlags) {
    auto* const below = static_cast<sqlite3_vfs*>(vfs->pAppData);
    if ((flags & SQLITE_OPEN_WAL) == 0) return below->xOpen(below, name, file, flags, outFlags);
    LogFile& log = mine(file);
    log = {};
    log.bundle = new (std::nothrow) char[kBundleBytes];
    if (log.bundle == nullptr) return SQLITE_NOMEM;
    log.real = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(LogFile));
    std::memset(static_cast<void*>(log.real), 0, static_cast<std::size_t>(below->szOsFile));
    const int code = below->xOpen(below, name, log.real, flags, outFlags);
    if (log.real->pMethods != nullptr) {
        log.base.pMethods = &kMethods;  // SQLite closes it, even after a failure
    } else {
        delete[] std::exchange(log.bundle, nullptr);
    }
    return code;
}

sqlite3_vfs& belowOf(sqlite3_vfs* vfs) { return *static_cast<sqlite3_vfs*>(vfs->pAppData); }
int onDelete(sqlite3_vfs* vfs, const char* name, int sync) { return belowOf(vfs).xDelete(&belowOf(vfs), name, sync); }
int onAccess(sqlite3_vfs* vfs, const char* name, int flags, int* out) { return belowOf(vfs).xAccess(&belowOf(vfs), name, flags, out); }
int onFullPath(sqlite3_vfs* vfs, const char* name, int bytes, char* out) { return belowOf(vfs).xFullPathname(&belowOf(vfs), name, bytes, out); }
int onRandomness(sqlite3_vfs* vfs, int bytes, char* out) { return belowOf(vfs).xRandomness(&belowOf(vfs), bytes, out); }
int onSleep(sqlite3_vfs* vfs, int microseconds) { return belowOf(vfs).xSleep(&belowOf(vfs), microseconds); }
int onTime(sqlite3_vfs* vfs, double* out) { return belowOf(vfs).xCurrentTime(&belowOf(vfs), out); }
int onLastError(sqlite3_vfs* vfs, int bytes, char* out) { return belowOf(vfs).xGetLastError(&belowOf(vfs), bytes, out); }

}  // namespace

LogBundling::LogBundling() : name_("patchbay-log-" + std::to_string(reinterpret_cast<std::uintptr_t>(this))) {
    sqlite3_vfs* const below = sqlite3_vfs_find(nullptr);
    vfs_.iVersion = 1;
    vfs_.szOsFile = below->szOsFile + static_cast<int>(sizeof(LogFile));
    vfs_.mxPathname = below->mxPathname;
    vfs_.zName = name_.c_str();
    vfs_.pAppData = below;
    vfs_.xOpen = onOpen;
    vfs_.xDelete = onDelete;
    vfs_.xAccess = onAccess;
    vfs_.xFullPathname = onFullPath;
    vfs_.xRandomness = onRandomness;
    vfs_.xSleep = onSleep;
    vfs_.xCurrentTime = onTime;
    vfs_.xGetLastError = onLastError;
    sqlite3_vfs_register(&vfs_, 0);
}

LogBundling::~LogBundling() { sqlite3_vfs_unregister(&vfs_); }

}  // namespace patchbay::plugins::sqlite
