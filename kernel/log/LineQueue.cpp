#include "log/LineQueue.h"

#include <pthread.h>

namespace patchbay::kernel {

namespace {

constexpr std::chrono::seconds kFlushPatience{2};

}  // namespace

LineQueue::LineQueue(std::size_t linesMax, std::size_t bytesMax, Write write)
    : linesMax_(linesMax), bytesMax_(bytesMax), write_(std::move(write)), thread_([this] { work(); }) {}

LineQueue::~LineQueue() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    added_.notify_one();
    thread_.join();
}

void LineQueue::add(LogLine line) {
    std::deque<LogLine> gone;   // freed without the lock
    {
        const std::lock_guard lock(mutex_);
        bytes_ += line.text.size();
        lines_.push_back(std::move(line));
        ++addedCount_;
        // The newest stays, however long it is.
        while (lines_.size() > 1 && (lines_.size() > linesMax_ || bytes_ > bytesMax_)) {
            bytes_ -= lines_.front().text.size();
            gone.push_back(std::move(lines_.front()));
            lines_.pop_front();
            ++goneCount_;
        }
        dropped_.fetch_add(gone.size(), std::memory_order_relaxed);
    }
    added_.notify_one();
}

void LineQueue::flush() noexcept {
    std::unique_lock lock(mutex_);
    const auto until = addedCount_;
    written_.wait_for(lock, kFlushPatience, [&] { return goneCount_ >= until; });
}

void LineQueue::work() noexcept {
    pthread_setname_np(pthread_self(), "log");
    std::unique_lock lock(mutex_);
    for (;;) {
        added_.wait(lock, [&] { return stopping_ || !lines_.empty(); });
        if (lines_.empty()) return;
        auto line = std::move(lines_.front());
        lines_.pop_front();
        bytes_ -= line.text.size();
        lock.unlock();
        try {
            write_(line);
        } catch (...) {   // a disk that is full: the line is lost
            dropped_.fetch_add(1, std::memory_order_relaxed);
        }
        lock.lock();
        ++goneCount_;
        written_.notify_all();
    }
}

}  // namespace patchbay::kernel
