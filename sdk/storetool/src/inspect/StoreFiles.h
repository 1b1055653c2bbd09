// StoreFiles: the files of a store as they lie there, for reading only.
#pragma once

#include "patchbay/storetool/StoreTool.h"

#include "patchbay/base/FileSystem.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::storetool {

struct SequenceFile {
    std::int64_t start = 0;  ///< of its first byte in its sequence
    std::int64_t bytes = 0;
    std::string path;
};

struct QueueFolder {
    std::string topic;
    std::int32_t id = 0;
    bool batch = false;                 ///< of batchconsumequeue
    std::vector<SequenceFile> files;    ///< ascending
};

/// Purpose: finds and locks. Holds the store's lock as long as it lives, so that no broker starts meanwhile.
class StoreFiles {
public:
    static Result<StoreFiles> open(FileSystem& files, const StoreToolOptions& options);

    [[nodiscard]] FileSystem& files() const noexcept { return *files_; }
    [[nodiscard]] const std::string& root() const noexcept { return root_; }
    [[nodiscard]] const std::vector<std::string>& logDirectories() const noexcept { return logDirectories_; }
    [[nodiscard]] const std::vector<SequenceFile>& log() const noexcept { return log_; }
    /// Size of a whole commit-log file; 0 without one.
    [[nodiscard]] std::int64_t logFileBytes() const noexcept { return logFileBytes_; }
    [[nodiscard]] std::int64_t logMin() const noexcept { return log_.empty() ? 0 : log_.front().start; }
    [[nodiscard]] bool abortPresent() const noexcept { return files_->exists(root_ + "/abort"); }
    [[nodiscard]] Result<std::vector<QueueFolder>> queues() const;
    [[nodiscard]] Result<std::vector<std::string>> indexFiles() const;

private:
    Status lock();
    Status findLog();
    Status findQueues(const std::string& folder, bool batch, std::vector<QueueFolder>& found) const;

    FileSystem* files_ = nullptr;
    std::string root_;
    std::vector<std::string> logDirectories_;
    std::vector<SequenceFile> log_;
    std::int64_t logFileBytes_ = 0;
    std::unique_ptr<FileLock> lock_;
};

/// Files of a directory whose names are offsets, ascending; others are left out. Empty for a missing directory.
Result<std::vector<SequenceFile>> listSequence(FileSystem& files, const std::string& directory);

}  // namespace patchbay::storetool
