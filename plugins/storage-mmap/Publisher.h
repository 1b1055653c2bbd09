// Publisher: makes appended messages visible and tells the listeners.
#pragma once

#include "AppendWork.h"
#include "StoreState.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace patchbay::mmapstore {

/// Owned by the store. publish() by one thread at a time: the appender's under its lock, or the flusher's. Listeners are called
/// with a lock held, so that none is called after remove() returned; they must not come back into the store.
class Publisher {
public:
    explicit Publisher(StoreState& state) noexcept : state_(state) {}

    void publish(const AppendWork& work) noexcept {
        // In this order: who sees the unit also sees that the log reaches so far.
        state_.visibleEnd.store(work.end, std::memory_order_release);
        for (const AppendWork::Run& run : work.runs) run.queue->publish(run.end);
        if (work.records.empty()) return;
        const std::lock_guard lock(mutex_);
        for (service::AppendListener* listener : listeners_) listener->appended(work.records);
    }
    void add(service::AppendListener& listener) {
        const std::lock_guard lock(mutex_);
        listeners_.push_back(&listener);
    }
    void remove(service::AppendListener& listener) noexcept {
        const std::lock_guard lock(mutex_);
        std::erase(listeners_, &listener);
    }

private:
    StoreState& state_;
    std::mutex mutex_;
    std::vector<service::AppendListener*> listeners_;  // guarded by mutex_
};

}  // namespace patchbay::mmapstore
