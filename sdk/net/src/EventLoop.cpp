#include "patchbay/net/EventLoop.h"

#include "patchbay/base/Assert.h"

#include <algorithm>
#include <utility>

namespace patchbay::net {

namespace {

thread_local EventLoop* currentLoop = nullptr;

class FunctionTask final : public LoopTask {
public:
    explicit FunctionTask(std::function<void()> task) : task_(std::move(task)) {}
    void run() noexcept override {
        task_();
        delete this;
    }
    void discard() noexcept override { delete this; }

private:
    const std::function<void()> task_;
};

// Chunks that wait for their next use: enough for a burst, little enough to be no one's memory problem.
constexpr std::size_t kIdleChunks = 4;

}  // namespace

EventLoop::EventLoop(std::uint32_t index, const Clock& clock, const LoopOptions& options, std::unique_ptr<Poller> poller)
    : index_(index), clock_(clock), options_(options), poller_(std::move(poller)), now_(clock.now()), timers_(now_),
      cursor_(Ref<ChunkPool>::adopt(new ChunkPool(options.chunkBytes, kIdleChunks))) {}

EventLoop::~EventLoop() {
    // What is discarded may let go of something that posts again.
    while (auto* task = takePosted()) {
        while (task != nullptr) std::exchange(task, task->next_)->discard();
    }
}

EventLoop* EventLoop::current() noexcept { return currentLoop; }

void EventLoop::run() {
    currentLoop = this;
    while (!stopping_.load(std::memory_order_acquire)) turn(-1);
    turn(0);
    currentLoop = nullptr;
}

void EventLoop::stop() noexcept {
    stopping_.store(true, std::memory_order_release);
    poller_->wake();
}

void EventLoop::turn(int timeoutMs) {
    auto* const outer = std::exchange(currentLoop, this);
    sleeping_.store(true, std::memory_order_seq_cst);
    const auto count = poller_->wait(events_, waitMs(timeoutMs));
    sleeping_.store(false, std::memory_order_relaxed);
    now_ = clock_.now();
    received_ = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (events_[i].who != nullptr) events_[i].who->ready(events_[i].readiness);
        if (received_ >= options_.turnBytes) {
            finishBatch();
            received_ = 0;
        }
    }
    runPosted();
    timers_.advance(now_);
    finishBatch();
    cursor_.rewindIfUnused();
    auto released = std::move(released_);
    released.clear();
    if (released_.empty()) released_ = std::move(released);  // keeps the memory
    currentLoop = outer;
}

int EventLoop::waitMs(int timeoutMs) const noexcept {
    // Read after sleeping_ was set: whoever posts later sees it and wakes the poller.
    if (again_ || posted_.load(std::memory_order_seq_cst) != nullptr) return 0;
    if (timeoutMs == 0) return 0;
    // Not now_, when the last turn began: what it took is a part of the time until the timer.
    const int timer = timers_.waitMs(clock_.now());
    if (timer < 0) return timeoutMs;
    return timeoutMs < 0 ? timer : std::min(timer, timeoutMs);
}

void EventLoop::post(LoopTask& task) noexcept {
    auto* head = posted_.load(std::memory_order_relaxed);
    do {
        task.next_ = head;
    } while (!posted_.compare_exchange_weak(head, &task, std::memory_order_seq_cst, std::memory_order_relaxed));
    if (sleeping_.load(std::memory_order_seq_cst) && sleeping_.exchange(false, std::memory_order_seq_cst)) poller_->wake();
}

void EventLoop::post(std::function<void()> task) { post(*new FunctionTask(std::move(task))); }

LoopTask* EventLoop::takePosted() noexcept {
    if (posted_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    auto* newest = posted_.exchange(nullptr, std::memory_order_acquire);
    LoopTask* oldest = nullptr;
    while (newest != nullptr) {
        auto* const next = newest->next_;
        newest->next_ = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

void EventLoop::runPosted() noexcept {
    auto* oldest = takePosted();
    while (oldest != nullptr) {
        auto* const task = oldest;
        oldest = task->next_;
        task->run();
    }
}

TimerWheel::Id EventLoop::after(std::chrono::milliseconds delay, TimerWheel::Callback callback) {
    return timers_.schedule(now_ + delay, std::move(callback));
}

void EventLoop::finishBatch() noexcept {
    again_ = false;
    for (auto* listener : listeners_) again_ = listener->endOfTurn() || again_;
    while (!toFlush_.empty()) {
        flushing_.swap(toFlush_);
        for (auto* who : flushing_) {
            who->marked_ = false;
            who->flush();
        }
        flushing_.clear();
    }
}

}  // namespace patchbay::net
