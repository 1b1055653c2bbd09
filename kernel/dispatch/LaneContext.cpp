#include "dispatch/LaneContext.h"

#include "dispatch/Dispatcher.h"
#include "metrics/RequestMetrics.h"

#include <algorithm>
#include <utility>

namespace patchbay::kernel {

namespace {

thread_local LaneContext* currentLane = nullptr;

}  // namespace

LaneContext* LaneContext::current() noexcept { return currentLane; }

LaneContext* LaneContext::exchangeCurrent(LaneContext* other) noexcept { return std::exchange(currentLane, other); }

void LaneContext::replaceRunning(const plugin::RequestCore& one, const plugin::RequestCore& other) noexcept {
    if (currentLane != nullptr && currentLane->running == &one) currentLane->running = &other;
}

void LaneContext::called(const Binding& binding) {
    const auto same = [&](const Called& one) { return one.processor == binding.processor; };
    if (!called_.empty() && same(called_.back())) return;
    if (std::any_of(called_.begin(), called_.end(), same)) return;
    called_.push_back({binding.processor, binding.generation});
}

void LaneContext::runBatch() noexcept {
    ending_.clear();
    ending_.swap(called_);
    for (const auto& one : ending_) one.processor->endOfBatch(lane);
}

void LaneContext::endBatch() noexcept {
    if (called_.empty()) return;
    runBatch();
    ending_.clear();
}

void LaneContext::handBack(ServerRequest& request) noexcept {
    request.next_ = nullptr;
    if (lastBack_ != nullptr) lastBack_->next_ = &request;
    else firstBack_ = &request;
    lastBack_ = &request;
}

void LaneContext::hold(ServerRequest& request) noexcept {
    request.next_ = nullptr;
    if (lastHeld_ != nullptr) lastHeld_->next_ = &request;
    else firstHeld_ = &request;
    lastHeld_ = &request;
    heldBytes += request.frameBytes();
    heldCount.store(heldCount.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

MonotonicTime LaneContext::heldSince(MonotonicTime now) const noexcept {
    return firstHeld_ != nullptr ? firstHeld_->queuedAt_ : now;
}

ServerRequest* LaneContext::takeHeld() noexcept {
    lastHeld_ = nullptr;
    heldBytes = 0;
    heldCount.store(0, std::memory_order_relaxed);
    return std::exchange(firstHeld_, nullptr);
}

ServerRequest* LaneContext::takeHeldBefore(MonotonicTime since) noexcept {
    auto* const first = firstHeld_;
    ServerRequest* last = nullptr;
    while (firstHeld_ != nullptr && firstHeld_->queuedAt_ <= since) {
        last = firstHeld_;
        firstHeld_ = last->next_;
        heldBytes -= last->frameBytes();
        heldCount.store(heldCount.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    if (firstHeld_ == nullptr) lastHeld_ = nullptr;
    if (last == nullptr) return nullptr;
    last->next_ = nullptr;
    return first;
}

void LaneContext::endedInTurn(RequestCell& cell) {
    // A turn serves few codes, and mostly the same one many times.
    for (auto& [known, times] : ended_) {
        if (known != &cell) continue;
        ++times;
        return;
    }
    ended_.emplace_back(&cell, 1);
}

void LaneContext::endTurn() noexcept {
    if (ended_.empty() && ending_.empty()) return;
    const auto us = dispatcher_->turnTook(lane);
    for (const auto& [cell, times] : ended_) cell->took(us, times);
    ended_.clear();
    if (dispatcher_->isSlow(us)) [[unlikely]] {
        std::vector<const Generation*> callers;
        for (const auto& one : ending_) callers.push_back(one.generation.get());
        dispatcher_->turnWasSlow(*this, us, callers);
    }
    if (timedTurns > 0) --timedTurns;
    ending_.clear();
}

bool LaneContext::endOfTurn() noexcept {
    if (!called_.empty()) runBatch();
    for (int round = 0; round < kRoundsMax && firstBack_ != nullptr; ++round) {
        auto* request = std::exchange(firstBack_, nullptr);
        lastBack_ = nullptr;
        while (request != nullptr) {
            auto* const next = std::exchange(request->next_, nullptr);
            dispatcher_->again(*request);
            request = next;
        }
        if (!called_.empty()) runBatch();
    }
    endTurn();
    if (entered > 0) dispatcher_->requests_.add(std::exchange(entered, 0));
    return firstBack_ != nullptr;
}

}  // namespace patchbay::kernel
