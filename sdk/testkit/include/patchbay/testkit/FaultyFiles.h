// FaultyFiles: a FileSystem that fails, fills up or hangs when the test says so.
#pragma once

#include "patchbay/base/FileSystem.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::testkit {

/// Passes everything on to another FileSystem, which must outlive it, unless a fault is set. Faults hold until they are cleared
/// and apply to open files too. Thread-safe.
class FaultyFiles final : public FileSystem {
public:
    explicit FaultyFiles(FileSystem& below) : faults_(std::make_shared<Faults>()), below_(below) {}

    void failWrites(Status with);   ///< writes, truncations and allocations; e.g. Full
    void failReads(Status with);    ///< populating mappings as well; nothing mapped is resident then
    void failSyncs(Status with, std::uint64_t times = UINT64_MAX);  ///< of files; the next `times` of them
    /// For files whose path contains `part`, however they are opened; files that are open are not concerned.
    void failOpens(Status with, std::string part);
    /// Lets them wait until clear().
    void holdOpens(std::string part);
    /// Waits (in real time, bounded) until one is held. False when none came.
    bool awaitHeldOpen();
    void clear();                   ///< ends all faults and lets held syncs go on
    /// Lets every sync() wait until clear(): a disk that does not answer.
    void holdSyncs();
    /// Waits (in real time, bounded) until a sync() is held. False when none came.
    bool awaitHeldSync();

    // The faults themselves, for backends whose files go another way than through FileSystem.
    [[nodiscard]] Status beforeWrite() const { return faults_->look(&Faults::write); }
    [[nodiscard]] Status beforeRead() const { return faults_->look(&Faults::read); }
    /// Waits while syncs are held.
    [[nodiscard]] Status beforeSync() const { return faults_->waitForSync(); }

    [[nodiscard]] std::uint64_t syncs() const noexcept { return faults_->syncs.load(); }

    [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
    Status makeDirectories(const std::string& path) override { return below_.makeDirectories(path); }
    [[nodiscard]] Result<std::vector<FileInfo>> list(const std::string& path) const override { return below_.list(path); }
    [[nodiscard]] bool exists(const std::string& path) const noexcept override { return below_.exists(path); }
    Status rename(const std::string& from, const std::string& to) override { return below_.rename(from, to); }
    Status remove(const std::string& path) override { return below_.remove(path); }
    Status syncDirectory(const std::string& path) override { return below_.syncDirectory(path); }
    Status syncAll(const std::string& path) override;
    [[nodiscard]] Result<DiskSpace> space(const std::string& path) const override { return below_.space(path); }
    [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path) override { return below_.lock(path); }

private:
    friend class FaultyFile;
    friend class FaultyMapping;
    struct Faults {
        std::mutex mutex;
        std::condition_variable changed;
        Status write;
        Status read;
        Status sync;
        Status open;
        std::string openPart;
        std::uint64_t syncsToFail = 0;
        bool hold = false;
        int held = 0;
        bool holdOpens = false;
        int heldOpens = 0;
        std::atomic<std::uint64_t> syncs{0};

        [[nodiscard]] Status look(Status Faults::* which);
        [[nodiscard]] Status beforeOpen(const std::string& path);
        [[nodiscard]] Status waitForSync();
    };
    std::shared_ptr<Faults> faults_;
    FileSystem& below_;
};

}  // namespace patchbay::testkit
