#include "patchbay/net/EventLoopPool.h"

#include "patchbay/base/Assert.h"

#include <algorithm>
#include <latch>
#include <pthread.h>
#include <utility>

namespace patchbay::net {

std::uint32_t defaultLoopCount() noexcept {
    const auto cores = std::thread::hardware_concurrency();
    return cores <= 2 ? 1 : std::min(4U, cores / 2);
}

EventLoopPool::EventLoopPool(std::uint32_t loops, const Clock& clock, const LoopOptions& options, std::string threadPrefix)
    : prefix_(std::move(threadPrefix)) {
    PATCHBAY_ASSERT(loops > 0);
    for (std::uint32_t i = 0; i < loops; ++i) {
        loops_.push_back(std::make_unique<EventLoop>(i, clock, options, makeEpollPoller()));
    }
}

EventLoopPool::~EventLoopPool() { stop(); }

void EventLoopPool::start() {
    for (auto& loop : loops_) {
        threads_.emplace_back([this, &loop = *loop] {
            ::pthread_setname_np(::pthread_self(), (prefix_ + "-" + std::to_string(loop.index())).substr(0, 15).c_str());
            loop.run();
        });
    }
}

void EventLoopPool::stop() noexcept {
    for (auto& loop : loops_) loop->stop();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
}

void EventLoopPool::onEach(const std::function<void(EventLoop&)>& task) {
    std::latch done(static_cast<std::ptrdiff_t>(loops_.size()));
    for (auto& loop : loops_) {
        loop->post([&task, &done, &loop = *loop] {
            task(loop);
            done.count_down();
        });
    }
    done.wait();
}

}  // namespace patchbay::net
