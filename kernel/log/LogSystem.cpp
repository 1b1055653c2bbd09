#include "log/LogSystem.h"

#include "log/RateLimit.h"

#include <atomic>
#include <filesystem>
#include <future>
#include <pthread.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace patchbay::kernel {

using plugin::LogLevel;

namespace {

constexpr char kPattern[] = "%Y-%m-%dT%H:%M:%S.%e%z %L %n %v";

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

/// Writes a line about lost lines when it sees that there are some. Only the writing thread calls it.
class CountingSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    explicit CountingSink(spdlog::sink_ptr target) : target_(std::move(target)) {}
    std::atomic<std::size_t> reported{0};
    std::function<std::size_t()> lost;

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        const auto count = lost ? lost() : 0;
        const auto before = reported.load(std::memory_order_relaxed);
        if (count > before) {
            reported.store(count, std::memory_order_relaxed);
            const auto text = "log lines were dropped count=" + std::to_string(count - before);
            target_->log(spdlog::details::log_msg(message.time, {}, "kernel.log", spdlog::level::warn, text));
        }
        target_->log(message);
    }
    void flush_() override { target_->flush(); }
    void set_pattern_(const std::string& pattern) override { target_->set_pattern(pattern); }

private:
    const spdlog::sink_ptr target_;
};

}  // namespace

struct LogSystem::Backend {
    std::shared_ptr<CountingSink> sink;
    // Goes before the sink; its thread writes what is queued before it ends.
    std::shared_ptr<spdlog::details::thread_pool> pool;
};

/// Hands finished lines to the queue.
class PathLogger final : public plugin::Logger {
public:
    PathLogger(const std::string& path, LogLevel level, const Clock& clock, std::shared_ptr<spdlog::async_logger> target)
        : path_(path), clock_(clock), target_(std::move(target)), level_(level) {}

    [[nodiscard]] bool enabled(LogLevel level) const noexcept override {
        return level >= level_.load(std::memory_order_relaxed);
    }
    void setLevel(LogLevel level) noexcept { level_.store(level, std::memory_order_relaxed); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

protected:
    void write(LogLevel level, std::string_view line) noexcept override {
        try {
            target_->log(spdlogLevel(level), spdlog::string_view_t(line.data(), line.size()));
        } catch (...) {   // out of memory: a line that cannot be kept is a line that is lost
        }
    }
    bool admit(std::string_view message, std::uint64_t& hidden) noexcept override {
        return limit_.admit(message, clock_.now(), hidden);
    }

private:
    const std::string path_;
    const Clock& clock_;
    const std::shared_ptr<spdlog::async_logger> target_;
    std::atomic<LogLevel> level_;
    RateLimit limit_;
};

Result<std::unique_ptr<LogSystem>> LogSystem::open(const LogSettings& settings, const Clock& clock) {
    try {
        spdlog::sink_ptr target;
        if (settings.file.empty()) {
            target = std::make_shared<spdlog::sinks::stderr_sink_st>();
        } else {
            std::filesystem::create_directories(std::filesystem::path(settings.file).parent_path());
            target = std::make_shared<spdlog::sinks::rotating_file_sink_st>(settings.file, settings.fileBytesMax, settings.fileCount);
        }
        auto backend = std::make_unique<Backend>();
        backend->sink = std::make_shared<CountingSink>(std::move(target));
        backend->sink->set_pattern(kPattern);
        backend->pool = std::make_shared<spdlog::details::thread_pool>(settings.queueLines, 1, [] { pthread_setname_np(pthread_self(), "log"); });
        backend->sink->lost = [pool = backend->pool.get()] { return pool->overrun_counter(); };
        return std::unique_ptr<LogSystem>(new LogSystem(settings, clock, std::move(backend)));
    } catch (const std::exception& error) {
        return Status(StatusCode::Io, "log file " + settings.file + ": " + error.what());
    }
}

LogSystem::LogSystem(const LogSettings& settings, const Clock& clock, std::unique_ptr<Backend> backend)
    : clock_(clock), backend_(std::move(backend)), settings_(settings) {}

LogSystem::~LogSystem() = default;

plugin::Logger& LogSystem::logger(std::string_view path) {
    const std::lock_guard lock(mutex_);
    const auto found = loggers_.find(path);
    if (found != loggers_.end()) return *found->second;
    const std::string name(path);
    auto target = std::make_shared<spdlog::async_logger>(name, backend_->sink, backend_->pool,
                                                         spdlog::async_overflow_policy::overrun_oldest);
    target->set_level(spdlog::level::trace);
    target->flush_on(spdlog::level::trace);   // on the writing thread; a line that an operator waits for is there at once
    auto made = std::make_unique<PathLogger>(name, settings_.levelOf(path), clock_, std::move(target));
    return *loggers_.emplace(name, std::move(made)).first->second;
}

void LogSystem::setLevels(const LogSettings& settings) {
    const std::lock_guard lock(mutex_);
    settings_ = settings;
    for (const auto& [path, logger] : loggers_) logger->setLevel(settings_.levelOf(path));
}

std::uint64_t LogSystem::dropped() const noexcept {
    return backend_->pool->overrun_counter();
}

void LogSystem::flush() noexcept {
    // A queue of the pool has no barrier; a sink that fulfils a promise when its turn comes is one.
    class Barrier final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
    public:
        std::promise<void> reached;

    protected:
        void sink_it_(const spdlog::details::log_msg&) override { reached.set_value(); }
        void flush_() override {}
    };
    try {
        auto barrier = std::make_shared<Barrier>();
        auto reached = barrier->reached.get_future();
        auto logger = std::make_shared<spdlog::async_logger>("", barrier, backend_->pool, spdlog::async_overflow_policy::block);
        logger->log(spdlog::level::critical, "");
        barrier.reset();
        logger.reset();
        reached.wait_for(std::chrono::seconds(2));
    } catch (...) {   // nothing to wait for then
    }
}

}  // namespace patchbay::kernel
