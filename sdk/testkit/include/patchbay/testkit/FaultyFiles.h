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
    explicit FaultyFiles(FileSystem& below);
    ~FaultyFiles() override;

    void failWrites(Status with);   ///< writes, truncations and allocations; e.g. Full
    /// The next `passing` of them still succeed. The first write behind them fails in its middle: half of its bytes are there.
    void failWritesAfter(std::uint64_t passing, Status with);
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

    /// Remembers from now on what of the files below a directory a power cut would leave; what is there now is safe. For files that
    /// are opened afterwards.
    void watchPower(const std::string& directory);
    /// Writes into another directory what a power cut now leaves of the watched one at worst: of each file what its last sync() made
    /// durable, and only files whose name a sync of their directory did.
    void leavePowerCut(const std::string& directory) const;

    // The faults themselves, for backends whose files go another way than through FileSystem.
    /// `torn`, which may be null: whether the write that fails leaves half of its bytes.
    [[nodiscard]] Status beforeWrite(bool* torn = nullptr) const { return faults_->beforeWrite(torn); }
    [[nodiscard]] Status beforeRead() const { return faults_->look(&Faults::read); }
    /// Waits while syncs are held.
    [[nodiscard]] Status beforeSync() const { return faults_->waitForSync(); }
    /// A file was made durable with its name, or removed for good.
    void noteSync(const std::string& path);
    void noteRemoval(const std::string& path);

    /// Those that succeeded.
    [[nodiscard]] std::uint64_t syncs() const noexcept { return faults_->syncs.load(); }

    [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
    Status makeDirectories(const std::string& path) override { return below_.makeDirectories(path); }
    [[nodiscard]] Result<std::vector<FileInfo>> list(const std::string& path) const override { return below_.list(path); }
    [[nodiscard]] bool exists(const std::string& path) const noexcept override { return below_.exists(path); }
    Status rename(const std::string& from, const std::string& to) override;
    Status remove(const std::string& path) override;
    Status syncDirectory(const std::string& path) override;
    Status syncAll(const std::string& path) override;
    [[nodiscard]] Result<DiskSpace> space(const std::string& path) const override { return below_.space(path); }
    [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path) override { return below_.lock(path); }

private:
    friend class FaultyFile;
    friend class FaultyMapping;
    class Durable;
    struct Faults {
        std::mutex mutex;
        std::condition_variable changed;
        Status write;
        std::uint64_t writesToPass = 0;
        bool tear = false;
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
        /// `torn`: whether the write leaves half of its bytes. May be null.
        [[nodiscard]] Status beforeWrite(bool* torn);
        [[nodiscard]] Status beforeOpen(const std::string& path);
        [[nodiscard]] Status waitForSync();
    };
    std::shared_ptr<Faults> faults_;
    std::shared_ptr<Durable> durable_;  // null unless watchPower() was called
    FileSystem& below_;
};

}  // namespace patchbay::testkit
