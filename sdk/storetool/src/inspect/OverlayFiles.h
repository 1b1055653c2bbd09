// OverlayFiles: a disk on which everything can be changed and nothing is: changes are kept in memory, over the files below.
#pragma once

#include "patchbay/base/FileSystem.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace patchbay::storetool {

/// Purpose: a store is opened and recovered on it to see what would happen. Written pages take memory, reserved space takes none.
/// Names below are read through once changed names, so that renames and removals hold. Thread-safe. Locks are not taken below.
class OverlayFiles final : public FileSystem {
public:
    explicit OverlayFiles(FileSystem& below) noexcept : below_(below) {}
    ~OverlayFiles() override;

    [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
    Status makeDirectories(const std::string& path) override;
    [[nodiscard]] Result<std::vector<FileInfo>> list(const std::string& path) const override;
    [[nodiscard]] bool exists(const std::string& path) const noexcept override;
    Status rename(const std::string& from, const std::string& to) override;
    Status remove(const std::string& path) override;
    Status syncDirectory(const std::string&) override { return Status::ok(); }
    Status syncAll(const std::string&) override { return Status::ok(); }
    [[nodiscard]] Result<DiskSpace> space(const std::string& path) const override { return below_.space(path); }
    [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path) override;

private:
    friend class OverlayFile;
    struct Node;

    /// Where a name leads: a node of ours, or a path below; nothing when it was removed or never was.
    struct Place {
        std::shared_ptr<Node> node;
        std::string below;
    };
    [[nodiscard]] std::optional<Place> find(const std::string& path) const;
    [[nodiscard]] std::string belowOf(const std::string& path) const;
    [[nodiscard]] std::vector<FileInfo> listLocked(const std::string& path) const;
    [[nodiscard]] bool isDirectory(const std::string& path) const;

    FileSystem& below_;
    mutable std::mutex mutex_;                               // everything below, and the nodes
    std::map<std::string, std::shared_ptr<Node>> nodes_;     // files that were opened for writing, under their present names
    std::set<std::string> removed_;                          // names below that are gone, files and directories
    std::map<std::string, std::string> moved_;               // directories: present name to the name below
    std::set<std::string> directories_;                      // made here
};

}  // namespace patchbay::storetool
