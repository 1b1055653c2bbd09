// PowerDisk: what a disk would still hold of SQLite's files if the power failed now.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::test {

/// Told by FaultyVfs of every change. A sync makes the changes of its file certain; of the others each may or may not have reached
/// the disk, in any order and in parts of sectors. Thread-safe. Lives longer than the connections that use it.
class PowerDisk {
public:
    /// Calls `cut` once, before the change with this number from now on (1 = the next), on the thread that makes it.
    void beforeChange(std::uint64_t number, std::function<void()> cut);
    /// Writes the files as a power cut now leaves them into a directory. `seed` decides what of the uncertain is there.
    /// May be called by `cut`.
    void leaveTo(const std::string& directory, std::uint64_t seed);

    // For the VFS.
    void opened(const std::string& path);
    void wrote(const std::string& path, std::int64_t offset, std::string_view bytes);
    void truncated(const std::string& path, std::int64_t size);
    void synced(const std::string& path);
    void removed(const std::string& path);

private:
    struct Change {
        std::int64_t offset;  // of a write; the size of a truncation
        std::string bytes;
        bool truncates;
    };
    struct Image {
        std::string certain;
        std::vector<Change> pending;
    };
    /// Counts, and cuts when it is time. Without the lock.
    void change();
    static void apply(std::string& content, const Change& change, std::size_t bytes);

    std::mutex mutex_;
    std::map<std::string, Image> files_;
    std::uint64_t left_ = 0;
    std::function<void()> cut_;
};

}  // namespace patchbay::test
