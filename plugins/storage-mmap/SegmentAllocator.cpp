#include "SegmentAllocator.h"

#include <pthread.h>
#include <utility>

namespace patchbay::mmapstore {

namespace {

constexpr std::chrono::milliseconds kRetryInterval{500};

}  // namespace

Status SegmentAllocator::reserve(File& file, std::int64_t segmentBytes) {
    const Status reserved = file.allocate(0, static_cast<std::uint64_t>(segmentBytes));
    if (reserved.code() != StatusCode::Full) return reserved;
    return {StatusCode::Full, reserved.message() + "; a file of the log takes " + std::to_string(segmentBytes) + " bytes at once (mappedFileSizeCommitLog)"};
}

void SegmentAllocator::start(Housekeeping housekeeping) {
    stopping_ = false;
    housekeeping_ = std::move(housekeeping);
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

void SegmentAllocator::poke() noexcept {
    const std::lock_guard lock(mutex_);
    poked_ = true;
    changed_.notify_all();
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
        poked_ = true;  // one file more than before
        changed_.notify_all();
        if (readyStart_ == start && ready_) {
            readyStart_ = -1;
            return std::move(ready_);
        }
        if (failedStart_ == start && clock_.now() < nextTry_) return failure_;
    }
    Result<std::unique_ptr<File>> file = make(start);
    const std::lock_guard lock(mutex_);
    note(start, file ? Status::ok() : file.error());
    return file;
}

void SegmentAllocator::note(std::int64_t start, const Status& outcome) {
    failedStart_ = outcome ? -1 : start;
    failure_ = outcome;
    nextTry_ = clock_.now() + kRetryInterval;
}

Result<std::unique_ptr<File>> SegmentAllocator::make(std::int64_t start) {
    const std::string path = pathOf_(start);
    Result<std::unique_ptr<File>> file = files_.open(path, OpenMode::Create);
    if (!file) return file.error();
    Status reserved = reserve(**file, segmentBytes_);
    // Its size has to be durable before it is written to: with asynchronous flush the next file may be durable before this one, and an empty
    // file in front of that is one which a start cannot explain.
    if (reserved) reserved = (*file)->sync();
    if (reserved) reserved = files_.syncDirectory(path.substr(0, path.rfind('/')));
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
    const auto isDue = [&] { return stopping_ || poked_ || wanted_.has_value(); };
    poked_ = true;  // how long there is time shows the first look
    std::chrono::milliseconds pause = kNever;
    while (true) {
        if (pause == kNever) {
            changed_.wait(lock, isDue);
        } else {
            (void)clock_.waitFor(changed_, lock, pause, isDue);
        }
        if (stopping_) return;
        if (wanted_) {
            prepareNow(*std::exchange(wanted_, std::nullopt), lock);
            continue;
        }
        poked_ = false;
        lock.unlock();
        pause = housekeeping_ ? housekeeping_() : kNever;
        lock.lock();
    }
}

void SegmentAllocator::prepareNow(std::int64_t start, std::unique_lock<std::mutex>& lock) {
    working_ = start;
    lock.unlock();
    Result<std::unique_ptr<File>> file = make(start);
    if (!file) {
        log_.limited(plugin::LogLevel::Warn, "next commit-log file is not there yet", {{"error", file.error().toString()}});
    }
    lock.lock();
    working_.reset();
    note(start, file ? Status::ok() : file.error());
    readyStart_ = file ? start : -1;
    ready_ = file ? std::move(*file) : nullptr;
    poked_ = true;  // there may be more files now than the limits allow
    changed_.notify_all();
}

}  // namespace patchbay::mmapstore
