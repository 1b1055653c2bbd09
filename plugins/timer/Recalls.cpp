#include "Recalls.h"

#include "TimerMessage.h"

#include <algorithm>

namespace patchbay::plugins::timer {

Recalls::Answer Recalls::recall(std::string_view key, std::int64_t slotMs) {
    const std::lock_guard lock(mutex_);
    if (slotMs <= deliveredUntil_) return Answer::TooLate;
    if (keys_.size() >= limit_) return Answer::TooMany;
    keys_.insert_or_assign(std::string(key), slotMs + kSlotMsMax);
    return Answer::Recalled;
}

void Recalls::undo(std::string_view key) {
    const std::lock_guard lock(mutex_);
    if (const auto at = keys_.find(key); at != keys_.end()) keys_.erase(at);
}

void Recalls::restore(std::string_view key, std::int64_t slotMs) {
    const std::lock_guard lock(mutex_);
    keys_.insert_or_assign(std::string(key), slotMs + kSlotMsMax);
}

void Recalls::deliverUntil(std::int64_t ms) {
    const std::lock_guard lock(mutex_);
    deliveredUntil_ = std::max(deliveredUntil_, ms);
}

std::int64_t Recalls::deliveredUntil() const {
    const std::lock_guard lock(mutex_);
    return deliveredUntil_;
}

void Recalls::forgetOld() {
    const std::lock_guard lock(mutex_);
    std::erase_if(keys_, [this](const auto& entry) { return entry.second < deliveredUntil_; });
}

std::size_t Recalls::size() const {
    const std::lock_guard lock(mutex_);
    return keys_.size();
}

}  // namespace patchbay::plugins::timer
