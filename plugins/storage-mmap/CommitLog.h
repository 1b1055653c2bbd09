// CommitLog: the sequence of files that holds every message once, in the order of arrival.
#pragma once

#include "Layout.h"
#include "SegmentAllocator.h"

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace patchbay::mmapstore {

/// Purpose: owns the files of the log: which there are and in which directory, the one that is written, those that wait for a sync.
/// Knows nothing of records. Owned by the store.
/// Threads: write(), roll() and cut() by one thread at a time (the append lock); sync() by one (the flusher); the rest any.
/// Failure: every function leaves the log as it was or says what is wrong; nothing is retried here.
class CommitLog {
public:
    CommitLog(FileSystem& files, const Clock& clock, plugin::Logger& log, const Layout& layout, std::int64_t segmentBytes) noexcept
        : files_(files), log_(log), layout_(layout), segmentBytes_(segmentBytes),
          allocator_(files, clock, log, [this](std::int64_t start) { return placeOf(start); }, segmentBytes) {}

    /// Finds the files in all directories. Corrupt for a file of a wrong size that is not the last, and for one that is there
    /// twice; an empty last one is removed, a shorter last one (a copy that was cut off) is extended. An empty one that begins behind
    /// `durable` is what a crash left: the log ends before it, and what is behind is set aside.
    Status open(std::int64_t durable = INT64_MAX);
    /// `isCrowded`: of several directories this one should get no new files.
    void setCrowded(std::function<bool(const std::string&)> isCrowded) { isCrowded_ = std::move(isCrowded); }
    void startAllocator(SegmentAllocator::Housekeeping housekeeping) { allocator_.start(std::move(housekeeping)); }
    void poke() noexcept { allocator_.poke(); }
    void stopAllocator() noexcept { allocator_.stop(); }

    [[nodiscard]] std::int64_t segmentBytes() const noexcept { return segmentBytes_; }
    [[nodiscard]] std::int64_t segmentStart(std::int64_t position) const noexcept { return position - position % segmentBytes_; }
    [[nodiscard]] std::int64_t bytesLeft(std::int64_t position) const noexcept { return segmentBytes_ - position % segmentBytes_; }
    /// Start offsets of all files, ascending.
    [[nodiscard]] std::vector<std::int64_t> segments() const;
    /// Whether one of the files has this position.
    [[nodiscard]] bool holds(std::int64_t position) const;
    /// Where the oldest file starts; 0 without files.
    [[nodiscard]] std::int64_t min() const noexcept { return min_.load(std::memory_order_acquire); }

    /// Makes `position` the place of the next write: later files go, those that hold something into a folder `aside` in their
    /// directory, with a line in the log; opens the one that holds it (or makes the file of an empty log). `clear` zeroes what lies behind, so that no old record can ever follow a new one.
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
    /// Takes whole files that end at or before `position` out of the log, never the last; on the disk they stay. Oldest first.
    [[nodiscard]] std::vector<std::string> forget(std::int64_t position);
    /// Folder beside the file of a position for what does not belong to the log any more.
    [[nodiscard]] std::string asideOf(std::int64_t position) const;
    /// Where the file that starts at `start` is, or will be.
    [[nodiscard]] std::string path(std::int64_t start) const;
    /// Opens the file that starts at `start` for reading.
    [[nodiscard]] Result<std::unique_ptr<File>> openForRead(std::int64_t start) const {
        return files_.open(path(start), OpenMode::Read);
    }

private:
    struct Found {
        std::size_t directory;
        FileInfo info;
    };
    struct Segment : RefCounted {
        Segment(std::int64_t first, std::unique_ptr<File> opened) noexcept : start(first), file(std::move(opened)) {}
        const std::int64_t start;
        const std::unique_ptr<File> file;
        std::atomic<bool> unsynced{false};
    };

    [[nodiscard]] Segment* writer(std::int64_t start) const noexcept;

    [[nodiscard]] Result<std::vector<Found>> findFiles() const;
    Status putAway(const std::string& path);
    Status putAwayFrom(const std::vector<Found>& found, std::size_t first);
    Status checkSize(const Found& found, bool last);
    void use(std::int64_t start, std::unique_ptr<File> file);
    /// RocketMQ's choice among several directories.
    [[nodiscard]] std::string placeOf(std::int64_t start) const;
    [[nodiscard]] std::string pathOf(const Found& found) const { return layout_.logs[found.directory] + "/" + found.info.name; }

    FileSystem& files_;
    plugin::Logger& log_;
    const Layout& layout_;
    const std::int64_t segmentBytes_;
    std::function<bool(const std::string&)> isCrowded_;
    SegmentAllocator allocator_;
    std::atomic<std::int64_t> min_{0};

    mutable std::mutex mutex_;
    std::vector<std::int64_t> starts_;       // guarded by mutex_
    std::vector<std::string> paths_;         // guarded by mutex_; of each of them
    std::vector<Ref<Segment>> unsynced_;     // guarded by mutex_
    std::vector<Ref<Segment>> writers_;      // append lock; more than one only while a batch crosses the end of a file
};

}  // namespace patchbay::mmapstore
