// Executors: all executors of the process, by name, and their lanes.
#pragma once

#include "dispatch/BoundedExecutor.h"
#include "patchbay/base/Result.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::kernel {

/// Lanes are numbered when the process starts, so that plugins can size their per-lane state in init() although not all
/// executors are known yet: loops have 0 … loops-1, executor threads follow in the order in which they are declared, and
/// laneCount() counts as many of them as the configuration allows (executorThreadsMax). Any thread.
class Executors {
public:
    /// `queueBytesMax`: of each executor's queue.
    Executors(std::uint32_t loops, std::uint32_t threadsMax, const Clock& clock, std::size_t queueBytesMax = std::size_t{64} << 20);
    ~Executors();
    [[nodiscard]] plugin::Lane laneCount() const noexcept { return loops_ + threadsMax_; }
    /// The executor of that name, made from `spec` when there is none yet. One that asks for more threads than are left gets what is
    /// left but a few, so that those that come later have some too; shortages() names it. OutOfRange when none is left, InvalidArgument
    /// for no threads or no queue, Unavailable when the system has no more threads.
    Result<BoundedExecutor*> obtain(const plugin::ExecutorSpec& spec);
    /// In the order in which they were made.
    [[nodiscard]] std::vector<service::ExecutorStats> stats() const;
    struct Shortage {
        std::string name;
        std::uint32_t wanted = 0;
        std::uint32_t given = 0;
    };
    /// Executors with fewer threads than they asked for.
    [[nodiscard]] std::vector<Shortage> shortages() const;
    void stop() noexcept;

private:
    const std::uint32_t loops_;
    const std::uint32_t threadsMax_;
    const Clock& clock_;
    const std::size_t queueBytesMax_;
    mutable std::mutex mutex_;
    std::uint32_t threads_ = 0;                                  // guarded by mutex_
    std::vector<std::unique_ptr<BoundedExecutor>> executors_;    // guarded by mutex_
    std::vector<Shortage> shortages_;                            // guarded by mutex_
};

}  // namespace patchbay::kernel
