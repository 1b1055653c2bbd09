// SegmentAllocator: makes the next commit-log file before it is needed.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace patchbay::mmapstore {

/// Purpose: a roll of the log costs the appender a pointer, not the reservation of a gigabyte.
/// Owned by the commit log. One thread of its own that sleeps unless a file was asked for; take() may be called by one
/// thread at a time. A failure is answered for half a second without another try, because take() is called by whoever sends and
/// reserving the last blocks of a disk takes long. stop() removes a file that was
/// prepared and not taken, as RocketMQ does. Between files the thread looks after old ones.
class SegmentAllocator {
public:
    /// Does a part of what is to be done and answers how long that has time until the next part.
    using Housekeeping = std::function<std::chrono::milliseconds()>;
    static constexpr std::chrono::milliseconds kNever = std::chrono::milliseconds::max();

    /// `pathOf`: where the file that starts at an offset goes.
    SegmentAllocator(FileSystem& files, const Clock& clock, plugin::Logger& log, std::function<std::string(std::int64_t)> pathOf,
                     std::int64_t segmentBytes) noexcept
        : files_(files), clock_(clock), log_(log), pathOf_(std::move(pathOf)), segmentBytes_(segmentBytes) {}
    ~SegmentAllocator() { stop(); }

    /// Blocks for a whole file; a disk that is too full for it is told how much it takes and which key says so.
    static Status reserve(File& file, std::int64_t segmentBytes);

    void start(Housekeeping housekeeping);
    /// Housekeeping at once. Any thread.
    void poke() noexcept;
    void stop() noexcept;

    /// Asks for the file in the background. Asking twice for the same one is cheap.
    void prepare(std::int64_t start);
    /// The file, from the background or made now. It is of full size, zero and its name is durable.
    [[nodiscard]] Result<std::unique_ptr<File>> take(std::int64_t start);

private:
    [[nodiscard]] Result<std::unique_ptr<File>> make(std::int64_t start);
    /// Under mutex_: what is known after a try to make the file that begins there.
    void note(std::int64_t start, const Status& outcome);
    void run();
    void prepareNow(std::int64_t start, std::unique_lock<std::mutex>& lock);

    FileSystem& files_;
    const Clock& clock_;
    plugin::Logger& log_;
    const std::function<std::string(std::int64_t)> pathOf_;
    const std::int64_t segmentBytes_;
    Housekeeping housekeeping_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<std::int64_t> wanted_;   // guarded by mutex_, like everything below
    std::optional<std::int64_t> working_;
    std::int64_t readyStart_ = -1;
    std::unique_ptr<File> ready_;
    Status failure_;                       // of the last try, for failedStart_
    std::int64_t failedStart_ = -1;
    MonotonicTime nextTry_{};
    bool stopping_ = false;
    bool poked_ = false;
    std::thread thread_;
};

}  // namespace patchbay::mmapstore
