// QueueFiles: the consume-queue files that are open, a bounded number of them.
#pragma once

#include "Residency.h"

#include "patchbay/base/FileSystem.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace patchbay::mmapstore {

/// An open file; stays open while it is referenced, whatever the cache does.
struct QueueFile : RefCounted {
    explicit QueueFile(std::unique_ptr<File> opened) noexcept : file(std::move(opened)) {}
    /// Null when the file cannot be mapped.
    [[nodiscard]] Ref<Residency> residency(std::size_t bytes);
    const std::unique_ptr<File> file;

private:
    std::mutex mutex_;
    Ref<Residency> residency_;  // guarded by mutex_; made when it is asked for
};

/// Purpose: tens of thousands of queues share a few descriptors. Owned by the store; any thread; one short lock a call,
/// system calls outside it. The least recently used file is closed when there are too many.
class QueueFiles {
public:
    QueueFiles(FileSystem& files, std::int64_t openMax) noexcept : files_(files), openMax_(static_cast<std::size_t>(openMax)) {}

    /// The file of `owner` that starts at `start`; `path` is only asked for when it has to be opened.
    template <typename Path>
    [[nodiscard]] Result<Ref<QueueFile>> open(const void* owner, std::int64_t start, Path path, OpenMode mode) {
        if (Ref<QueueFile> known = find({owner, start})) return known;
        Result<std::unique_ptr<File>> file = files_.open(path(), mode);
        if (!file) return file.error();
        Ref<QueueFile> opened = Ref<QueueFile>::adopt(new QueueFile(std::move(*file)));
        keep({owner, start}, opened);
        return opened;
    }
    /// Closes the files of a queue that start at or after `from`.
    void forget(const void* owner, std::int64_t from = 0);
    /// Closes the files of a queue that start below `to`.
    void forgetBelow(const void* owner, std::int64_t to);

private:
    struct Key {
        const void* owner;
        std::int64_t start;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const noexcept {
            return std::hash<const void*>()(key.owner) * 31U + std::hash<std::int64_t>()(key.start);
        }
    };
    struct Kept {
        Ref<QueueFile> file;
        std::uint64_t used;
    };

    [[nodiscard]] Ref<QueueFile> find(const Key& key);
    void keep(const Key& key, const Ref<QueueFile>& file);

    FileSystem& files_;
    const std::size_t openMax_;
    std::mutex mutex_;
    std::unordered_map<Key, Kept, KeyHash> kept_;  // guarded by mutex_
    std::uint64_t clock_ = 0;                      // guarded by mutex_; counts uses
};

}  // namespace patchbay::mmapstore
