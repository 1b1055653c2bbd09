#include "QueueLocks.h"

#include <algorithm>

namespace patchbay::plugins::clients {

std::vector<protocol::MessageQueue> QueueLocks::lock(const protocol::LockBatchRequest& request, bool& full) {
    full = false;
    std::vector<protocol::MessageQueue> granted;
    if (request.mqSet.empty()) return granted;
    const MonotonicTime now = clock_.now();
    const std::lock_guard guard(mutex_);
    Group& group = groups_[request.consumerGroup];
    for (const auto& queue : request.mqSet) {
        auto at = group.find(queue);
        const bool added = at == group.end();
        if (added) {
            if (size_ >= capacity_) {
                full = true;
                continue;
            }
            at = group.try_emplace(queue).first;
            ++size_;
        }
        Held& held = at->second;
        if (!added && held.clientId != request.clientId && now - held.refreshed <= life_) continue;
        if (held.clientId != request.clientId) held.clientId = request.clientId;
        held.refreshed = now;
        granted.push_back(queue);
    }
    if (group.empty()) groups_.erase(request.consumerGroup);
    return granted;
}

void QueueLocks::unlock(const protocol::LockBatchRequest& request) {
    const std::lock_guard guard(mutex_);
    const auto group = groups_.find(request.consumerGroup);
    if (group == groups_.end()) return;
    for (const auto& queue : request.mqSet) {
        const auto at = group->second.find(queue);
        if (at == group->second.end() || at->second.clientId != request.clientId) continue;
        group->second.erase(at);
        --size_;
    }
    if (group->second.empty()) groups_.erase(group);
}

bool QueueLocks::anyHeld(std::string_view group) const {
    const std::lock_guard guard(mutex_);
    const auto at = groups_.find(group);
    if (at == groups_.end()) return false;
    const MonotonicTime now = clock_.now();
    return std::ranges::any_of(at->second, [&](const auto& entry) { return now - entry.second.refreshed <= life_; });
}

std::vector<service::QueueLock> QueueLocks::held(std::string_view group) const {
    std::vector<service::QueueLock> locks;
    const std::lock_guard guard(mutex_);
    const auto at = groups_.find(group);
    if (at == groups_.end()) return locks;
    const MonotonicTime now = clock_.now();
    for (const auto& [queue, held] : at->second) {
        const auto age = now - held.refreshed;
        if (age > life_) continue;
        locks.push_back({queue, held.clientId, std::chrono::duration_cast<std::chrono::milliseconds>(age).count()});
    }
    return locks;
}

void QueueLocks::expire() {
    const MonotonicTime now = clock_.now();
    const std::lock_guard guard(mutex_);
    for (auto& [name, group] : groups_) {
        size_ -= std::erase_if(group, [&](const auto& entry) { return now - entry.second.refreshed > life_; });
    }
    std::erase_if(groups_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace patchbay::plugins::clients
