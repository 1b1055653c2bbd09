#include "dispatch/Executors.h"

#include <system_error>

namespace patchbay::kernel {

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
    if (spec.threads > threadsMax_ - threads_) {
        return Status(StatusCode::OutOfRange, "executor '" + spec.name + "' wants " + std::to_string(spec.threads) +
                                                  " threads, " + std::to_string(threadsMax_ - threads_) +
                                                  " are left; raise executorThreadsMax");
    }
    try {
        executors_.push_back(std::make_unique<BoundedExecutor>(spec, loops_ + threads_, queueBytesMax_, clock_));
    } catch (const std::system_error& error) {
        return Status(StatusCode::Unavailable, "executor '" + spec.name + "': " + error.what());
    }
    threads_ += spec.threads;
    return executors_.back().get();
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
