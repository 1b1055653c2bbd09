// LineQueue: lines on their way to the log, bounded, and the one thread that writes them.
#pragma once

#include "patchbay/plugin/Logger.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace patchbay::kernel {

struct LogLine {
    std::chrono::system_clock::time_point time;
    plugin::LogLevel level;
    const std::string* path;   ///< lives as long as the queue
    std::string text;
};

/// Whoever adds a line never waits for its writing: when there are too many lines or bytes the oldest go. Any thread.
class LineQueue {
public:
    using Write = std::function<void(const LogLine& line)>;
    LineQueue(std::size_t linesMax, std::size_t bytesMax, Write write);
    /// Writes what is queued, for a moment at most.
    ~LineQueue();

    void add(LogLine line);
    /// Returns when the lines added before it are written, or after two seconds.
    void flush() noexcept;
    [[nodiscard]] std::size_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

private:
    void work() noexcept;

    const std::size_t linesMax_;
    const std::size_t bytesMax_;
    const Write write_;
    std::atomic<std::size_t> dropped_{0};
    std::mutex mutex_;
    std::condition_variable added_;
    std::condition_variable written_;
    // Guarded by mutex_.
    std::deque<LogLine> lines_;
    std::size_t bytes_ = 0;
    std::uint64_t addedCount_ = 0;
    std::uint64_t goneCount_ = 0;   // written or dropped
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace patchbay::kernel
