#include "SegmentAllocator.h"

#include <pthread.h>

namespace patchbay::mmapstore {

void SegmentAllocator::start() {
    stopping_ = false;
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "mmap-files");
        run();
    });
}

void SegmentAllocator::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
    if (ready_) {
        const std::string path = ready_->path();
        ready_.reset();
        // Left behind it would only be an empty file at the end of the log.
        (void)files_.remove(path);
    }
}

void SegmentAllocator::prepare(std::int64_t start) {
    const std::lock_guard lock(mutex_);
    if (wanted_ == start || working_ == start || readyStart_ == start) return;
    wanted_ = start;
    changed_.notify_all();
}

Result<std::unique_ptr<File>> SegmentAllocator::take(std::int64_t start) {
    {
        std::unique_lock lock(mutex_);
        if (wanted_ == start) wanted_.reset();
        changed_.wait(lock, [&] { return working_ != start; });
        if (readyStart_ == start && ready_) {
            readyStart_ = -1;
            return std::move(ready_);
        }
    }
    return make(start);
}

Result<std::unique_ptr<File>> SegmentAllocator::make(std::int64_t start) {
    const std::string path = layout_.segment(start);
    Result<std::unique_ptr<File>> file = files_.open(path, OpenMode::Create);
    if (!file) return file.error();
    Status reserved = (*file)->allocate(0, static_cast<std::uint64_t>(segmentBytes_));
    if (reserved) reserved = files_.syncDirectory(layout_.log);
    if (!reserved) {
        file->reset();
        // A file of odd size at the end of the log would have to be explained at the next start.
        (void)files_.remove(path);
        return reserved;
    }
    return std::move(file).value();
}

void SegmentAllocator::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return stopping_ || wanted_.has_value(); });
        if (stopping_) return;
        const std::int64_t start = *wanted_;
        wanted_.reset();
        working_ = start;
        lock.unlock();
        Result<std::unique_ptr<File>> file = make(start);
        if (!file) {
            log_.limited(plugin::LogLevel::Warn, "next commit-log file is not there yet", {{"error", file.error().toString()}});
        }
        lock.lock();
        working_.reset();
        readyStart_ = file ? start : -1;
        ready_ = file ? std::move(*file) : nullptr;
        changed_.notify_all();
    }
}

}  // namespace patchbay::mmapstore
