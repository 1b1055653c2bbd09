// MemoryFiles: a disk in memory that can lose power: what was not synced is lost, in part and out of order.
#pragma once

#include "patchbay/base/FileSystem.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace patchbay::test {

/// Mappings see writes at once, as on a real system. A file's content is durable after its sync(), its name after
/// syncDirectory() of its directory; directories are durable at once. Thread-safe.
class MemoryFiles final : public FileSystem {
public:
    MemoryFiles();
    ~MemoryFiles() override;

    /// A new disk as it is found after a power cut now: everything durable, and of the rest some sectors by chance.
    [[nodiscard]] std::unique_ptr<MemoryFiles> afterPowerCut(std::uint64_t seed) const;
    /// A new disk as a killed process leaves it: everything, and as far from being durable as it is here.
    [[nodiscard]] std::unique_ptr<MemoryFiles> afterKill() const;

    /// Calls `action` once, before the n-th change from now (1 = the next one). No lock is held.
    void beforeChange(std::uint64_t n, std::function<void()> action);
    /// The n-th write from now fails with `status` after the first half of its bytes.
    void failWrite(std::uint64_t n, Status status);
    /// Blocks for files whose path contains `part` are refused as Full, also where only a sparse file's own are asked for. An empty
    /// part ends it.
    void refuseBlocks(std::string part);
    [[nodiscard]] std::uint64_t refusedBlocks() const;  ///< how often
    /// Files may hold that many bytes in all; what goes beyond is Full.
    void setCapacity(std::uint64_t bytes);

    [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
    Status makeDirectories(const std::string& path) override;
    [[nodiscard]] Result<std::vector<FileInfo>> list(const std::string& path) const override;
    [[nodiscard]] bool exists(const std::string& path) const noexcept override;
    Status rename(const std::string& from, const std::string& to) override;
    Status remove(const std::string& path) override;
    Status syncDirectory(const std::string& path) override;
    Status syncAll(const std::string& path) override;
    [[nodiscard]] Result<DiskSpace> space(const std::string& path) const override;
    [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path) override;

private:
    friend class MemoryFile;
    class Lock;
    struct Node;
    using Names = std::map<std::string, std::shared_ptr<Node>>;

    /// Counts a change; takes mutex_ and gives it to the caller.
    [[nodiscard]] std::unique_lock<std::mutex> change();
    [[nodiscard]] std::uint64_t used() const;

    mutable std::mutex mutex_;
    Names names_;
    Names durableNames_;
    std::set<std::string> directories_;
    std::set<std::string> locks_;
    std::uint64_t capacity_ = std::uint64_t{1} << 40;
    std::uint64_t untilAction_ = 0;
    std::function<void()> action_;
    std::string noBlocksFor_;
    std::uint64_t refusedBlocks_ = 0;
    std::uint64_t untilFailure_ = 0;
    Status failure_;
};

}  // namespace patchbay::test
