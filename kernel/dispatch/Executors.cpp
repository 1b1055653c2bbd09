#include "dispatch/Executors.h"

#include <algorithm>
#include <system_error>

namespace patchbay::kernel {

namespace {

/// Threads that an executor which wants too many leaves to those after it.
constexpr std::uint32_t kLeftToOthers = 8;

}  // namespace

Executors::Executors(std::uint32_t loops, std::uint32_t threadsMax, const Clock& clock, std::size_t queueBytesMax)
    : loops_(loops), threadsMax_(threadsMax), clock_(clock), queueBytesMax_(queueBytesMax) {}

Executors::~Executors() { stop(); }

Result<BoundedExecutor*> Executors::obtain(const plugin::ExecutorSpec& spec) {
    const std::lock_guard lock(mutex_);
    for (const auto& executor : executors_) {
        if (executor->spec().name == spec.name) return executor.get();
    }
    if (spec.threads == 0 || spec.queueCapacity == 0) {
        return Status(StatusCode::InvalidArgument, "executor '" + spec.name + "' needs at least one thread and one place to queue");
    }
    const std::uint32_t left = threadsMax_ - threads_;
    if (left == 0) {
        return Status(StatusCode::OutOfRange, "executor '" + spec.name + "' wants " + std::to_string(spec.threads) +
                                                  " threads, none is left; raise executorThreadsMax");
    }
    plugin::ExecutorSpec possible = spec;
    if (spec.threads > left) possible.threads = left - std::min(kLeftToOthers, left / 2);
    try {
        executors_.push_back(std::make_unique<BoundedExecutor>(possible, loops_ + threads_, queueBytesMax_, clock_));
    } catch (const std::system_error& error) {
        return Status(StatusCode::Unavailable, "executor '" + spec.name + "': " + error.what());
    }
    threads_ += possible.threads;
    if (possible.threads < spec.threads) shortages_.push_back({spec.name, spec.threads, possible.threads});
    return executors_.back().get();
}

std::vector<Executors::Shortage> Executors::shortages() const {
    const std::lock_guard lock(mutex_);
    return shortages_;
}

std::vector<service::ExecutorStats> Executors::stats() const {
    std::vector<service::ExecutorStats> list;
    const std::lock_guard lock(mutex_);
    for (const auto& executor : executors_) list.push_back(executor->stats());
    return list;
}

void Executors::stop() noexcept {
    // Not under the lock: what still runs may ask for stats().
    std::vector<BoundedExecutor*> all;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& executor : executors_) all.push_back(executor.get());
    }
    for (BoundedExecutor* executor : all) executor->stop();
}

}  // namespace patchbay::kernel
