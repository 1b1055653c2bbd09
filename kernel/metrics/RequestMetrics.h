// RequestMetrics: what is counted of every request, by listener, code and plugin, and what plugins do wrong.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/service/Observation.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace patchbay::kernel {

/// A step of service::TimeHistogram.
[[nodiscard]] std::size_t timeStep(std::int64_t us) noexcept;

/// The counts of one code on one loop. Written by that loop's thread alone, so that no count costs a locked instruction; read by any.
struct alignas(64) RequestCell {
    using Count = std::atomic<std::uint64_t>;
    static constexpr std::size_t kSteps = service::TimeHistogram::kBoundsUs.size() + 1;

    static void add(Count& count, std::uint64_t n = 1) noexcept {
        count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    void took(std::int64_t us, std::uint64_t times = 1) noexcept {
        add(latency[timeStep(us)], times);
        add(latencySumUs, static_cast<std::uint64_t>(us) * times);
    }
    void waited(std::int64_t us) noexcept {
        add(wait[timeStep(us)]);
        add(waitSumUs, static_cast<std::uint64_t>(us));
    }

    Count calls{0};
    Count answered{0};
    Count errors{0};
    Count busy{0};
    Count latencySumUs{0};
    Count waitSumUs{0};
    std::array<Count, kSteps> latency{};
    std::array<Count, kSteps> wait{};
};

/// The cells of one code at one plugin, by loop. Lives as long as the process: generations come and go.
class RequestCells {
public:
    explicit RequestCells(std::size_t loops) : cells_(new RequestCell[loops]) {}
    [[nodiscard]] RequestCell& operator[](std::size_t loop) noexcept { return cells_[loop]; }
    /// Requests in an executor's queue. Changed under the lock of that queue.
    std::atomic<std::int64_t> queued{0};

private:
    const std::unique_ptr<RequestCell[]> cells_;
};

enum class PluginFault : std::uint8_t { Exception, Dropped, Twice, Oversize, Undeliverable, SlowCall };

/// One object for the process, owned by the dispatcher. Any thread; faults and look-ups of cells take a lock and are rare.
class RequestMetrics {
public:
    RequestMetrics(std::size_t loops, const Clock& clock) : loops_(loops), clock_(clock) {}

    [[nodiscard]] RequestCells& cells(std::uint32_t listener, std::int32_t code, const std::string& plugin);
    void fault(const std::string& plugin, PluginFault kind);
    /// `tell` is called, on the thread of a fault, when the plugin has had `limit` faults within a minute; 0 = never. Undeliverable
    /// answers and slow calls are none.
    void watch(const std::string& plugin, std::uint32_t limit, std::function<void()> tell);

    /// `listeners` by ListenerIndex.
    [[nodiscard]] std::vector<service::RequestStats> requests(const std::vector<std::string>& listeners) const;
    [[nodiscard]] std::vector<service::PluginFaults> faults() const;

private:
    struct Faults {
        service::PluginFaults counts;
        std::uint32_t limit = 0;
        std::function<void()> tell;
        MonotonicTime windowBegan{};
        std::uint32_t inWindow = 0;
    };
    using Key = std::tuple<std::uint32_t, std::int32_t, std::string>;

    const std::size_t loops_;
    const Clock& clock_;
    mutable std::mutex mutex_;
    // Guarded by mutex_; entries never go.
    std::map<Key, std::unique_ptr<RequestCells>> cells_;
    std::map<std::string, Faults, std::less<>> faults_;
};

}  // namespace patchbay::kernel
