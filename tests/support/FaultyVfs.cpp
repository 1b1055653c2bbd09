#include "support/FaultyVfs.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <sqlite3.h>

namespace patchbay::test {

namespace {

std::atomic<testkit::FaultyFiles*> current{nullptr};
std::atomic<PowerDisk*> currentDisk{nullptr};
sqlite3_vfs* below = nullptr;

/// SQLite allocates it with room for the real file behind.
struct FaultyFile {
    sqlite3_file base;
    testkit::FaultyFiles* faults;  // may be null
    PowerDisk* disk;               // may be null
    const char* name;              // SQLite's; valid while the file is open
    sqlite3_file* real;
};

FaultyFile& mine(sqlite3_file* file) { return *reinterpret_cast<FaultyFile*>(file); }
sqlite3_file* real(sqlite3_file* file) { return mine(file).real; }
const sqlite3_io_methods& methods(sqlite3_file* file) { return *real(file)->pMethods; }

int writeFault(sqlite3_file* file, bool* torn = nullptr) {
    const auto* faults = mine(file).faults;
    const Status fault = faults == nullptr ? Status::ok() : faults->beforeWrite(torn);
    if (fault) return SQLITE_OK;
    return fault.code() == StatusCode::Full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

int onClose(sqlite3_file* file) { return methods(file).xClose(real(file)); }
int onRead(sqlite3_file* file, void* to, int bytes, sqlite3_int64 offset) {
    if (const auto* faults = mine(file).faults; faults != nullptr && !faults->beforeRead()) return SQLITE_IOERR_READ;
    return methods(file).xRead(real(file), to, bytes, offset);
}
int onWrite(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 offset) {
    bool torn = false;
    if (const int fault = writeFault(file, &torn); fault != SQLITE_OK) {
        if (torn) (void)methods(file).xWrite(real(file), from, bytes / 2, offset);
        return fault;
    }
    if (auto* disk = mine(file).disk; disk != nullptr) disk->wrote(mine(file).name, offset, {static_cast<const char*>(from), static_cast<std::size_t>(bytes)});
    return methods(file).xWrite(real(file), from, bytes, offset);
}
int onTruncate(sqlite3_file* file, sqlite3_int64 size) {
    if (const int fault = writeFault(file); fault != SQLITE_OK) return fault;
    if (auto* disk = mine(file).disk; disk != nullptr) disk->truncated(mine(file).name, size);
    return methods(file).xTruncate(real(file), size);
}
int onSync(sqlite3_file* file, int flags) {
    if (const auto* faults = mine(file).faults; faults != nullptr && !faults->beforeSync()) return SQLITE_IOERR_FSYNC;
    if (auto* disk = mine(file).disk; disk != nullptr) {
        disk->synced(mine(file).name);
        return SQLITE_OK;  // what is certain is the disk's business from here on
    }
    const int code = methods(file).xSync(real(file), flags);
    if (auto* faults = mine(file).faults; code == SQLITE_OK && faults != nullptr && mine(file).name != nullptr) faults->noteSync(mine(file).name);
    return code;
}
int onSize(sqlite3_file* file, sqlite3_int64* size) { return methods(file).xFileSize(real(file), size); }
int onLock(sqlite3_file* file, int level) { return methods(file).xLock(real(file), level); }
int onUnlock(sqlite3_file* file, int level) { return methods(file).xUnlock(real(file), level); }
int onCheckLock(sqlite3_file* file, int* reserved) { return methods(file).xCheckReservedLock(real(file), reserved); }
int onControl(sqlite3_file* file, int operation, void* argument) { return methods(file).xFileControl(real(file), operation, argument); }
int onSectorSize(sqlite3_file* file) { return methods(file).xSectorSize(real(file)); }
int onDevice(sqlite3_file* file) { return methods(file).xDeviceCharacteristics(real(file)); }
int onShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** at) {
    return methods(file).xShmMap(real(file), region, size, extend, at);
}
int onShmLock(sqlite3_file* file, int offset, int count, int flags) { return methods(file).xShmLock(real(file), offset, count, flags); }
void onShmBarrier(sqlite3_file* file) { methods(file).xShmBarrier(real(file)); }
int onShmUnmap(sqlite3_file* file, int remove) { return methods(file).xShmUnmap(real(file), remove); }

const sqlite3_io_methods kMethods = {2, onClose, onRead, onWrite, onTruncate, onSync, onSize, onLock, onUnlock, onCheckLock, onControl,
                                     onSectorSize, onDevice, onShmMap, onShmLock, onShmBarrier, onShmUnmap, nullptr, nullptr};

int onOpen(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* outFlags) {
    FaultyFile& opened = mine(file);
    opened.faults = current.load();
    opened.disk = name == nullptr ? nullptr : currentDisk.load();
    opened.name = name;
    if (opened.disk != nullptr) opened.disk->opened(name);
    opened.real = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(FaultyFile));
    std::memset(static_cast<void*>(opened.real), 0, static_cast<std::size_t>(below->szOsFile));
    const int code = below->xOpen(below, name, opened.real, flags, outFlags);
    opened.base.pMethods = opened.real->pMethods != nullptr ? &kMethods : nullptr;
    return code;
}

int onDelete(sqlite3_vfs*, const char* name, int syncDirectory) {
    if (PowerDisk* disk = currentDisk.load(); disk != nullptr) disk->removed(name);
    if (testkit::FaultyFiles* files = current.load(); files != nullptr) files->noteRemoval(name);
    return below->xDelete(below, name, syncDirectory);
}

}  // namespace

void useFaultyVfs(testkit::FaultyFiles* files, PowerDisk* disk) {
    static std::once_flag once;
    static sqlite3_vfs vfs;
    current = files;
    currentDisk = disk;
    std::call_once(once, [] {
        below = sqlite3_vfs_find(nullptr);
        vfs = *below;
        vfs.zName = "patchbay-faulty";
        vfs.szOsFile += static_cast<int>(sizeof(FaultyFile));
        vfs.pNext = nullptr;
        vfs.xOpen = onOpen;
        vfs.xDelete = onDelete;
        sqlite3_vfs_register(&vfs, 1);
    });
}

}  // namespace patchbay::test
