#include "log/LogSystem.h"

#include "log/LineQueue.h"
#include "log/RateLimit.h"
#include "log/StandardErrorSink.h"

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <spdlog/sinks/rotating_file_sink.h>
#include <unistd.h>

namespace patchbay::kernel {

using plugin::LogLevel;

namespace {

constexpr char kPattern[] = "%Y-%m-%dT%H:%M:%S.%e%z %L %n %v";

/// Opening it would wait for a reader.
bool isPipeOfNobody(const std::string& path) {
    std::error_code none;
    if (!std::filesystem::is_fifo(path, none)) return false;
    const int fd = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) ::close(fd);
    return fd < 0;
}

spdlog::level::level_enum spdlogLevel(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::Trace: return spdlog::level::trace;
        case LogLevel::Debug: return spdlog::level::debug;
        case LogLevel::Info: return spdlog::level::info;
        case LogLevel::Warn: return spdlog::level::warn;
        case LogLevel::Error: return spdlog::level::err;
    }
    return spdlog::level::info;
}

spdlog::sink_ptr fileSink(const std::string& file, std::size_t bytesMax, std::size_t count) {
    auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_st>(file, bytesMax, count);
    sink->set_pattern(kPattern);
    return sink;
}

}  // namespace

/// The sinks and, in front of them, the queue whose thread alone uses them.
struct LogSystem::Backend {
    Backend(const LogSettings& settings, spdlog::sink_ptr to, StandardErrorSink* hurried)
        : file(settings.file), fileBytesMax(settings.fileBytesMax), fileCount(settings.fileCount), sink(std::move(to)), standardError(hurried), queue(settings.queueLines, settings.queueBytes, [this](const LogLine& line) { write(line); }) {}
    ~Backend() {
        if (standardError != nullptr) standardError->hurry();
    }

    [[nodiscard]] std::size_t lost() const noexcept { return standardError != nullptr ? standardError->lost() : 0; }
    /// Says first how many lines are missing before this one.
    void write(const LogLine& line) {
        if (again.exchange(false, std::memory_order_acq_rel)) openAgain();
        const auto count = lost() + queue.dropped();
        if (count > reported) {
            const auto text = "log lines were dropped count=" + std::to_string(count - reported);
            const auto before = lost();
            sink->log(spdlog::details::log_msg(line.time, {}, "kernel.log", spdlog::level::warn, text));
            // That line may be lost as well: then it is said later.
            if (lost() == before) reported = count;
        }
        sink->log(spdlog::details::log_msg(line.time, {}, *line.path, spdlogLevel(line.level), line.text));
        sink->flush();   // a line that an operator waits for is there at once
    }

    /// Lines go on into the old file when the new one cannot be opened.
    void openAgain() noexcept {
        try {
            if (isPipeOfNobody(file)) throw std::runtime_error("it is a pipe that nobody reads");
            sink = fileSink(file, fileBytesMax, fileCount);
        } catch (const std::exception& error) {
            const auto text = "the log file cannot be opened again file=" + file + " error=\"" + error.what() + "\"";
            sink->log(spdlog::details::log_msg(std::chrono::system_clock::now(), {}, "kernel.log", spdlog::level::err, text));
        }
    }

    const std::string file;   ///< empty for standard error
    const std::size_t fileBytesMax;
    const std::size_t fileCount;
    spdlog::sink_ptr sink;
    std::atomic<bool> again{false};
    StandardErrorSink* const standardError;   ///< null for a file
    std::size_t reported = 0;
    LineQueue queue;   // goes first: its thread writes what is queued before it ends
};

/// Hands finished lines to the queue.
class PathLogger final : public plugin::Logger {
public:
    PathLogger(const std::string& path, LogLevel level, const Clock& clock, LineQueue& queue)
        : path_(path), clock_(clock), queue_(queue), level_(level) {}

    [[nodiscard]] bool enabled(LogLevel level) const noexcept override {
        return level >= level_.load(std::memory_order_relaxed);
    }
    void setLevel(LogLevel level) noexcept { level_.store(level, std::memory_order_relaxed); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

protected:
    void write(LogLevel level, std::string_view line) noexcept override {
        try {
            queue_.add({std::chrono::system_clock::time_point(std::chrono::milliseconds(clock_.wallMs())), level, &path_, std::string(line)});
        } catch (...) {   // out of memory: a line that cannot be kept is a line that is lost
        }
    }
    bool admit(std::string_view message, std::uint64_t& hidden) noexcept override {
        return limit_.admit(message, clock_.now(), hidden);
    }

private:
    const std::string path_;
    const Clock& clock_;
    LineQueue& queue_;
    std::atomic<LogLevel> level_;
    RateLimit limit_;
};

Result<std::unique_ptr<LogSystem>> LogSystem::open(const LogSettings& settings, const Clock& clock) {
    try {
        std::unique_ptr<Backend> backend;
        if (settings.file.empty()) {
            auto target = std::make_shared<StandardErrorSink>(STDERR_FILENO);
            target->set_pattern(kPattern);
            backend = std::make_unique<Backend>(settings, target, target.get());
        } else {
            std::filesystem::create_directories(std::filesystem::path(settings.file).parent_path());
            if (isPipeOfNobody(settings.file)) return Status(StatusCode::Io, "log file " + settings.file + ": it is a pipe that nobody reads");
            backend = std::make_unique<Backend>(settings, fileSink(settings.file, settings.fileBytesMax, settings.fileCount), nullptr);
        }
        return std::unique_ptr<LogSystem>(new LogSystem(settings, clock, std::move(backend)));
    } catch (const std::exception& error) {
        return Status(StatusCode::Io, "log file " + settings.file + ": " + error.what());
    }
}

LogSystem::LogSystem(const LogSettings& settings, const Clock& clock, std::unique_ptr<Backend> backend)
    : clock_(clock), settings_(settings), backend_(std::move(backend)) {}

LogSystem::~LogSystem() = default;

plugin::Logger& LogSystem::logger(std::string_view path) {
    const std::lock_guard lock(mutex_);
    const auto found = loggers_.find(path);
    if (found != loggers_.end()) return *found->second;
    const std::string name(path);
    auto made = std::make_unique<PathLogger>(name, settings_.levelOf(path), clock_, backend_->queue);
    return *loggers_.emplace(name, std::move(made)).first->second;
}

void LogSystem::setLevels(const LogSettings& settings) {
    const std::lock_guard lock(mutex_);
    settings_ = settings;
    for (const auto& [path, logger] : loggers_) logger->setLevel(settings_.levelOf(path));
}

void LogSystem::reopen() noexcept {
    if (!backend_->file.empty()) backend_->again.store(true, std::memory_order_release);
}

std::uint64_t LogSystem::dropped() const noexcept {
    return backend_->queue.dropped() + backend_->lost();
}

void LogSystem::flush() noexcept {
    backend_->queue.flush();
}

}  // namespace patchbay::kernel
