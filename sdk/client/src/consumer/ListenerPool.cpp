#include "consumer/ListenerPool.h"

#include <utility>

namespace patchbay::client {

void ListenerPool::post(std::function<void()> task) {
    executor_.post([state = state_, task = std::move(task)] {
        {
            const std::lock_guard lock(state->mutex);
            if (state->closed) return;
            ++state->working;
        }
        task();
        const std::lock_guard lock(state->mutex);
        --state->working;
        state->idle.notify_all();
    });
}

bool ListenerPool::close(std::chrono::milliseconds limit) {
    const bool own = executor_.onOwnThread();
    bool idle = false;
    {
        std::unique_lock lock(state_->mutex);
        state_->closed = true;
        idle = clock_.waitFor(state_->idle, lock, limit, [&] { return state_->working <= (own ? 1U : 0U); });
    }
    if (idle) executor_.stop(true);
    else executor_.abandon();
    return idle;
}

}  // namespace patchbay::client
