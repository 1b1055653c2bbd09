#include "producer/FaultTable.h"

#include <algorithm>

namespace patchbay::client {

using std::chrono::milliseconds;

milliseconds FaultTable::pauseFor(milliseconds latency) noexcept {
    struct Step {
        int fromMs;
        int pauseMs;
    };
    static constexpr Step kSteps[] = {{15000, 30000}, {5000, 10000}, {3000, 6000}, {1800, 5000}, {550, 2000}};
    for (const auto& step : kSteps) {
        if (latency >= milliseconds(step.fromMs)) return milliseconds(step.pauseMs);
    }
    return milliseconds(0);
}

void FaultTable::note(const std::string& broker, milliseconds latency, bool isolate, bool reachable) {
    const auto until = clock_.now() + pauseFor(isolate ? milliseconds(10000) : latency);
    const std::lock_guard lock(mutex_);
    auto& entry = entries_[broker];
    entry.until = std::max(entry.until, until);
    entry.reachable = reachable;
}

bool FaultTable::isAvailable(std::string_view broker) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(broker);
    return found == entries_.end() || found->second.until <= clock_.now();
}

bool FaultTable::isReachable(std::string_view broker) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(broker);
    return found == entries_.end() || found->second.reachable;
}

std::vector<std::string> FaultTable::unreachable() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> brokers;
    for (const auto& [broker, entry] : entries_) {
        if (!entry.reachable) brokers.push_back(broker);
    }
    return brokers;
}

void FaultTable::reached(const std::string& broker) {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(broker); found != entries_.end()) found->second.reachable = true;
}

}  // namespace patchbay::client
