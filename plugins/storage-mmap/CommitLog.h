// CommitLog: the sequence of files that holds every message once, in the order of arrival.
#pragma once

#include "Layout.h"
#include "SegmentAllocator.h"

#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace patchbay::mmapstore {

/// Purpose: owns the files of the log: which there are, the one that is written, those that wait for a sync.
/// Knows nothing of records. Owned by the store.
/// Threads: write(), roll() and cut() by one thread at a time (the append lock); sync() by one (the flusher); the rest any.
/// Failure: every function leaves the log as it was or says what is wrong; nothing is retried here.
class CommitLog {
public:
    CommitLog(FileSystem& files, plugin::Logger& log, const Layout& layout, std::int64_t segmentBytes) noexcept
        : files_(files), log_(log), layout_(layout), segmentBytes_(segmentBytes), allocator_(files, log, layout, segmentBytes) {}

    /// Finds the files. Corrupt for a file of a wrong size that is not the last; an empty last one is removed, a shorter
    /// last one (a copy that was cut off) is extended.
    Status open();
    void startAllocator() { allocator_.start(); }
    void stopAllocator() noexcept { allocator_.stop(); }

    [[nodiscard]] std::int64_t segmentBytes() const noexcept { return segmentBytes_; }
    [[nodiscard]] std::int64_t segmentStart(std::int64_t position) const noexcept { return position - position % segmentBytes_; }
    [[nodiscard]] std::int64_t bytesLeft(std::int64_t position) const noexcept { return segmentBytes_ - position % segmentBytes_; }
    /// Start offsets of all files, ascending.
    [[nodiscard]] std::vector<std::int64_t> segments() const;
    /// Where the oldest file starts; 0 without files.
    [[nodiscard]] std::int64_t min() const noexcept { return min_.load(std::memory_order_acquire); }

    /// Makes `position` the place of the next write: removes later files, opens the one that holds it (or makes the file of
    /// an empty log). `clear` zeroes what lies behind, so that no old record can ever follow a new one.
    Status cut(std::int64_t position, bool clear);
    /// Makes sure that the file that starts at `start`, the newest or the one behind it, can be written.
    Status roll(std::int64_t start);
    [[nodiscard]] bool isWritable(std::int64_t position) const noexcept { return writer(segmentStart(position)) != nullptr; }
    /// Writes within one writable file. Asks for the next file when this one is half full.
    Status write(std::int64_t position, std::string_view bytes);
    /// Nothing is written below the file of `position` any more.
    void settle(std::int64_t position) noexcept;
    /// Makes everything durable that was written before the call.
    Status sync();
    /// Removes whole files that end at or before `position`, never the last. Returns the number.
    [[nodiscard]] Result<std::size_t> trim(std::int64_t position);
    /// Opens the file that starts at `start` for reading.
    [[nodiscard]] Result<std::unique_ptr<File>> openForRead(std::int64_t start) const {
        return files_.open(layout_.segment(start), OpenMode::Read);
    }

private:
    struct Segment : RefCounted {
        Segment(std::int64_t first, std::unique_ptr<File> opened) noexcept : start(first), file(std::move(opened)) {}
        const std::int64_t start;
        const std::unique_ptr<File> file;
        std::atomic<bool> unsynced{false};
    };

    [[nodiscard]] Segment* writer(std::int64_t start) const noexcept;

    Status checkSize(const FileInfo& info, bool last);
    void use(std::int64_t start, std::unique_ptr<File> file);

    FileSystem& files_;
    plugin::Logger& log_;
    const Layout& layout_;
    const std::int64_t segmentBytes_;
    SegmentAllocator allocator_;
    std::atomic<std::int64_t> min_{0};

    mutable std::mutex mutex_;
    std::vector<std::int64_t> starts_;       // guarded by mutex_
    std::vector<Ref<Segment>> unsynced_;     // guarded by mutex_
    std::vector<Ref<Segment>> writers_;      // append lock; more than one only while a batch crosses the end of a file
};

}  // namespace patchbay::mmapstore
