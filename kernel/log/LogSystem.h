// LogSystem: the log of the process: one queue, one writing thread, one file.
#pragma once

#include "log/LogSettings.h"
#include "patchbay/base/Clock.h"
#include "patchbay/base/Result.h"
#include "patchbay/plugin/Logger.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace patchbay::kernel {

class PathLogger;

/// Loggers are named by paths ("kernel.net", "plugin.pull") and live as long as this. Any thread. Lines beyond the queue's size
/// push out the oldest; how many were lost is written as soon as the writer catches up. The destructor writes what is queued, but for a
/// standard error that nobody reads.
class LogSystem {
public:
    /// Io when the file cannot be opened.
    static Result<std::unique_ptr<LogSystem>> open(const LogSettings& settings, const Clock& clock);
    ~LogSystem();

    [[nodiscard]] plugin::Logger& logger(std::string_view path);
    /// Takes over the levels of new settings; file and queue stay as they are.
    void setLevels(const LogSettings& settings);
    /// Opens the file by its name again, before the next line: who moved it away gets no more lines in it. Any thread.
    void reopen() noexcept;
    /// Lines that were dropped so far.
    [[nodiscard]] std::uint64_t dropped() const noexcept;
    /// Returns when the lines written before it are in the file.
    void flush() noexcept;

private:
    struct Backend;
    LogSystem(const LogSettings& settings, const Clock& clock, std::unique_ptr<Backend> backend);

    const Clock& clock_;
    std::mutex mutex_;
    // Guarded by mutex_.
    LogSettings settings_;
    std::map<std::string, std::unique_ptr<PathLogger>, std::less<>> loggers_;
    const std::unique_ptr<Backend> backend_;   ///< last: lines that are still to be written name their loggers
};

}  // namespace patchbay::kernel
