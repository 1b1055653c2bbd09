#include "QueueLocks.h"

namespace patchbay::plugins::clients {

std::vector<protocol::MessageQueue> QueueLocks::lock(const protocol::LockBatchRequest& request) {
    std::vector<protocol::MessageQueue> granted;
    if (request.mqSet.empty()) return granted;
    const MonotonicTime now = clock_.now();
    const std::lock_guard guard(mutex_);
    Group& group = groups_[request.consumerGroup];
    for (const auto& queue : request.mqSet) {
        const auto [at, added] = group.try_emplace(queue);
        Held& held = at->second;
        if (!added && held.clientId != request.clientId && now - held.refreshed <= life_) continue;
        if (held.clientId != request.clientId) held.clientId = request.clientId;
        held.refreshed = now;
        granted.push_back(queue);
    }
    return granted;
}

void QueueLocks::unlock(const protocol::LockBatchRequest& request) {
    const std::lock_guard guard(mutex_);
    const auto group = groups_.find(request.consumerGroup);
    if (group == groups_.end()) return;
    for (const auto& queue : request.mqSet) {
        const auto at = group->second.find(queue);
        if (at != group->second.end() && at->second.clientId == request.clientId) group->second.erase(at);
    }
    if (group->second.empty()) groups_.erase(group);
}

void QueueLocks::expire() {
    const MonotonicTime now = clock_.now();
    const std::lock_guard guard(mutex_);
    for (auto& [name, group] : groups_) {
        std::erase_if(group, [&](const auto& entry) { return now - entry.second.refreshed > life_; });
    }
    std::erase_if(groups_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace patchbay::plugins::clients
