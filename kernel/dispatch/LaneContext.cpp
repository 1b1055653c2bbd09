#include "dispatch/LaneContext.h"

#include "dispatch/Dispatcher.h"

#include <algorithm>
#include <utility>

namespace patchbay::kernel {

namespace {

thread_local LaneContext* currentLane = nullptr;

}  // namespace

LaneContext* LaneContext::current() noexcept { return currentLane; }

LaneContext* LaneContext::exchangeCurrent(LaneContext* other) noexcept { return std::exchange(currentLane, other); }

void LaneContext::called(const Binding& binding) {
    const auto same = [&](const Called& one) { return one.processor == binding.processor; };
    if (!called_.empty() && same(called_.back())) return;
    if (std::any_of(called_.begin(), called_.end(), same)) return;
    called_.push_back({binding.processor, binding.generation});
}

void LaneContext::endBatch() noexcept {
    if (called_.empty()) return;
    ending_.swap(called_);
    for (const auto& one : ending_) one.processor->endOfBatch(lane);
    ending_.clear();
}

void LaneContext::handBack(ServerRequest& request) noexcept {
    request.next_ = nullptr;
    if (lastBack_ != nullptr) lastBack_->next_ = &request;
    else firstBack_ = &request;
    lastBack_ = &request;
}

bool LaneContext::endOfTurn() noexcept {
    endBatch();
    for (int round = 0; round < kRoundsMax && firstBack_ != nullptr; ++round) {
        auto* request = std::exchange(firstBack_, nullptr);
        lastBack_ = nullptr;
        while (request != nullptr) {
            auto* const next = std::exchange(request->next_, nullptr);
            dispatcher_->route(*request);
            request = next;
        }
        endBatch();
    }
    if (entered > 0) dispatcher_->requests_.add(std::exchange(entered, 0));
    return firstBack_ != nullptr;
}

}  // namespace patchbay::kernel
