#include "metrics/RequestMetrics.h"

#include <algorithm>

namespace patchbay::kernel {

namespace {

constexpr std::chrono::minutes kFaultWindow{1};

void readHistogram(const std::array<RequestCell::Count, RequestCell::kSteps>& from, const RequestCell::Count& sum,
                   service::TimeHistogram& to) {
    for (std::size_t i = 0; i < from.size(); ++i) to.counts[i] += from[i].load(std::memory_order_relaxed);
    to.sumUs += sum.load(std::memory_order_relaxed);
}

std::uint64_t& countOf(service::PluginFaults& faults, PluginFault kind) noexcept {
    switch (kind) {
        case PluginFault::Exception: return faults.exceptions;
        case PluginFault::Dropped: return faults.dropped;
        case PluginFault::Twice: return faults.twice;
        case PluginFault::Oversize: return faults.oversize;
        case PluginFault::Undeliverable: return faults.undeliverable;
        case PluginFault::SlowCall: return faults.slowCalls;
    }
    return faults.exceptions;
}

}  // namespace

std::size_t timeStep(std::int64_t us) noexcept {
    const auto& bounds = service::TimeHistogram::kBoundsUs;
    return static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), us) - bounds.begin());
}

RequestCells& RequestMetrics::cells(std::uint32_t listener, std::int32_t code, const std::string& plugin) {
    const std::lock_guard lock(mutex_);
    auto& found = cells_[{listener, code, plugin}];
    if (!found) found = std::make_unique<RequestCells>(loops_);
    return *found;
}

void RequestMetrics::fault(const std::string& plugin, PluginFault kind) {
    std::function<void()> tell;
    {
        const std::lock_guard lock(mutex_);
        auto& entry = faults_[plugin];
        ++countOf(entry.counts, kind);
        if (entry.limit == 0 || kind == PluginFault::Undeliverable || kind == PluginFault::SlowCall) return;
        const auto now = clock_.now();
        if (entry.inWindow == 0 || now - entry.windowBegan > kFaultWindow) {
            entry.windowBegan = now;
            entry.inWindow = 0;
        }
        if (++entry.inWindow != entry.limit) return;
        tell = entry.tell;
    }
    if (tell) tell();
}

void RequestMetrics::watch(const std::string& plugin, std::uint32_t limit, std::function<void()> tell) {
    const std::lock_guard lock(mutex_);
    auto& entry = faults_[plugin];
    entry.limit = limit;
    entry.tell = std::move(tell);
    entry.inWindow = 0;
}

std::vector<service::RequestStats> RequestMetrics::requests(const std::vector<std::string>& listeners) const {
    std::vector<service::RequestStats> list;
    const std::lock_guard lock(mutex_);
    list.reserve(cells_.size());
    for (const auto& [key, cells] : cells_) {
        const auto& [listener, code, plugin] = key;
        service::RequestStats stats;
        stats.listener = listener < listeners.size() ? listeners[listener] : std::string();
        stats.plugin = plugin;
        stats.code = code;
        stats.queued = static_cast<std::uint64_t>(std::max<std::int64_t>(cells->queued.load(std::memory_order_relaxed), 0));
        for (std::size_t i = 0; i < loops_; ++i) {
            auto& cell = (*cells)[i];
            // Ended ones first: what is read later may only be larger, so that nothing seems to have ended before it came.
            stats.answered += cell.answered.load(std::memory_order_relaxed);
            stats.errors += cell.errors.load(std::memory_order_relaxed);
            stats.busy += cell.busy.load(std::memory_order_relaxed);
            readHistogram(cell.latency, cell.latencySumUs, stats.latency);
            readHistogram(cell.wait, cell.waitSumUs, stats.wait);
            stats.calls += cell.calls.load(std::memory_order_relaxed);
        }
        list.push_back(std::move(stats));
    }
    return list;
}

std::vector<service::PluginFaults> RequestMetrics::faults() const {
    std::vector<service::PluginFaults> list;
    const std::lock_guard lock(mutex_);
    for (const auto& [plugin, entry] : faults_) {
        list.push_back(entry.counts);
        list.back().plugin = plugin;
    }
    return list;
}

}  // namespace patchbay::kernel
