// BoundedExecutor: a few named threads that run processors which may block.
#pragma once

#include "dispatch/ServerRequest.h"
#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Processor.h"
#include "patchbay/service/Observation.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::kernel {

class Dispatcher;

/// Threads x-<name>-N, each a lane, that serve one bounded queue of requests and call endOfBatch() when it is momentarily
/// empty. Owned by Executors until the process ends, so that lanes stay what they are across reloads. Any thread.
/// stop() runs nothing more: what is queued is answered SYSTEM_BUSY.
class BoundedExecutor {
public:
    /// Starts the threads; throws std::system_error when there can be no more.
    /// `bytesMax`: frames that may wait together.
    BoundedExecutor(plugin::ExecutorSpec spec, plugin::Lane firstLane, std::size_t bytesMax, const Clock& clock);
    ~BoundedExecutor();  ///< stops
    BoundedExecutor(const BoundedExecutor&) = delete;
    BoundedExecutor& operator=(const BoundedExecutor&) = delete;

    [[nodiscard]] const plugin::ExecutorSpec& spec() const noexcept { return spec_; }
    /// When the queue is full or stopped the request is not taken; the text says against which limit.
    [[nodiscard]] std::optional<std::string> push(ServerRequest& request) noexcept;
    [[nodiscard]] service::ExecutorStats stats() const;
    /// Answers requests that have waited longer than the spec allows; true when requests remain that may do so later.
    bool expire(MonotonicTime now) noexcept;
    /// True for the one caller that has to see to it that expire() is called when the oldest request may have waited too long.
    [[nodiscard]] bool armExpiry() noexcept;
    void expiryDue() noexcept { expiryArmed_.store(false, std::memory_order_seq_cst); }
    void stop() noexcept;

private:
    static constexpr std::size_t kBatchMax = 32;

    void work(std::uint32_t thread) noexcept;
    /// Up to `most` requests, linked; null when there are none.
    [[nodiscard]] ServerRequest* take(std::size_t most) noexcept;
    [[nodiscard]] bool waitedTooLong(const ServerRequest& request, MonotonicTime now) const noexcept;
    void refuse(ServerRequest& request, MonotonicTime now, std::size_t queued) noexcept;

    const plugin::ExecutorSpec spec_;
    const plugin::Lane firstLane_;
    const std::size_t bytesMax_;
    const Clock& clock_;
    std::atomic<bool> expiryArmed_{false};
    std::atomic<std::uint64_t> refusedLate_{0};

    mutable std::mutex mutex_;
    std::condition_variable filled_;
    // Guarded by mutex_.
    ServerRequest* first_ = nullptr;
    ServerRequest* last_ = nullptr;
    std::size_t queued_ = 0;
    std::size_t queuedBytes_ = 0;
    std::uint64_t refusedFull_ = 0;
    std::size_t waiting_ = 0;   // threads
    std::size_t waking_ = 0;    // of those, threads that were notified and have not run yet
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace patchbay::kernel
