#include "consumer/PullWork.h"

#include <utility>

namespace patchbay::client {

std::vector<ReceivedMessage> PullWork::take(std::size_t count) {
    std::vector<ReceivedMessage> messages;
    const auto& queues = core_->queues();
    auto at = queues.upper_bound(lastTaken_);
    for (std::size_t i = 0; i < queues.size() && messages.size() < count; ++i) {
        if (at == queues.end()) at = queues.begin();
        auto& queue = *at->second;
        if (!queue.paused) {
            for (auto& message : queue.inbox().take(count - messages.size())) {
                taken_[at->first].push_back(message.queueOffset());
                messages.push_back(std::move(message));
            }
            lastTaken_ = at->first;
        }
        ++at;
    }
    return messages;
}

void PullWork::acknowledge() {
    for (const auto& [name, offsets] : std::exchange(taken_, {})) {
        const auto found = core_->queues().find(name);
        if (found == core_->queues().end()) continue;
        auto& inbox = found->second->inbox();
        for (const auto offset : offsets) inbox.remove(offset);
        if (const auto offset = inbox.commitOffset()) core_->offsets().update(name, *offset, false);
        found->second->drained();
    }
}

void PullWork::forget(const MessageQueue& queue) { taken_.erase(queue); }

void PullWork::wait(std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    (void)core_->instance().runtime().clock().waitFor(came_, lock, time, [this] { return woken_; });
    woken_ = false;
}

void PullWork::wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    came_.notify_all();
}

}  // namespace patchbay::client
