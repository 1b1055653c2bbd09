#include "TransactionTable.h"

#include <algorithm>
#include <utility>

namespace patchbay::plugins::transaction {

TransactionTable::State* TransactionTable::find(std::int64_t offset) noexcept {
    if (offset < base_ || offset >= base_ + static_cast<std::int64_t>(states_.size())) return nullptr;
    return &states_[static_cast<std::size_t>(offset - base_)];
}

void TransactionTable::begin(std::int64_t base, std::int64_t end) {
    const std::lock_guard lock(mutex_);
    base_ = base;
    extendLocked(end);
}

void TransactionTable::extend(std::int64_t end) {
    const std::lock_guard lock(mutex_);
    extendLocked(end);
}

void TransactionTable::extendLocked(std::int64_t end) {
    const std::int64_t size = end - base_;
    if (size <= static_cast<std::int64_t>(states_.size())) return;
    open_ += static_cast<std::size_t>(size) - states_.size();
    states_.resize(static_cast<std::size_t>(size), State::Open);
}

Claim TransactionTable::claim(std::int64_t offset, plugin::Request& request) {
    const std::lock_guard lock(mutex_);
    // A quick producer ends it before the store has told its listeners of it.
    extendLocked(offset + 1);
    State* state = find(offset);
    if (state == nullptr || *state == State::Ended) return Claim::Ended;
    if (*state == State::Ending) return Claim::InProgress;
    if (*state == State::Moving) {
        request.detach();
        waiting_.push_back(std::move(request));
        return Claim::Held;
    }
    *state = State::Ending;
    return Claim::Taken;
}

void TransactionTable::reopen(std::int64_t offset) noexcept {
    const std::lock_guard lock(mutex_);
    State* state = find(offset);
    if (state != nullptr && *state != State::Ended) *state = State::Open;
}

void TransactionTable::endLocked(std::int64_t offset) noexcept {
    State* state = find(offset);
    if (state == nullptr || *state == State::Ended) return;
    *state = State::Ended;
    --open_;
}

void TransactionTable::forgetCopy(std::string_view key, std::int64_t offset) {
    if (key.empty()) return;
    const auto found = copies_.find(std::string(key));
    if (found != copies_.end() && found->second.offset == offset) copies_.erase(found);
}

void TransactionTable::end(std::int64_t offset, std::string_view key) {
    const std::lock_guard lock(mutex_);
    endLocked(offset);
    forgetCopy(key, offset);
}

void TransactionTable::endRange(std::int64_t from, std::int64_t to) {
    const std::lock_guard lock(mutex_);
    const std::int64_t last = std::min(to, base_ + static_cast<std::int64_t>(states_.size()));
    for (std::int64_t at = std::max(from, base_); at < last; ++at) endLocked(at);
    std::erase_if(copies_, [&](const auto& copy) { return copy.second.offset >= from && copy.second.offset < to; });
}

bool TransactionTable::beginMove(std::int64_t offset) noexcept {
    const std::lock_guard lock(mutex_);
    State* state = find(offset);
    if (state == nullptr || *state != State::Open) return false;
    *state = State::Moving;
    return true;
}

void TransactionTable::moved(std::int64_t offset, std::string key, Place copy) {
    const std::lock_guard lock(mutex_);
    endLocked(offset);
    extendLocked(copy.offset + 1);
    copies_.insert_or_assign(std::move(key), copy);
}

void TransactionTable::addCopy(std::string key, Place copy) {
    const std::lock_guard lock(mutex_);
    extendLocked(copy.offset + 1);
    copies_.insert_or_assign(std::move(key), copy);
}

std::optional<TransactionTable::Place> TransactionTable::copyOf(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = copies_.find(key);
    if (found == copies_.end()) return std::nullopt;
    return found->second;
}

std::vector<plugin::Request> TransactionTable::release() {
    const std::lock_guard lock(mutex_);
    return std::exchange(waiting_, {});
}

std::int64_t TransactionTable::nextOpen(std::int64_t from, std::int64_t to) const noexcept {
    const std::lock_guard lock(mutex_);
    const std::int64_t last = std::min(to, base_ + static_cast<std::int64_t>(states_.size()));
    for (std::int64_t at = std::max(from, base_); at < last; ++at) {
        if (states_[static_cast<std::size_t>(at - base_)] == State::Open) return at;
    }
    return to;
}

std::int64_t TransactionTable::advance() noexcept {
    const std::lock_guard lock(mutex_);
    while (!states_.empty() && states_.front() == State::Ended) {
        states_.pop_front();
        ++base_;
    }
    return base_;
}

std::int64_t TransactionTable::endOffset() const noexcept {
    const std::lock_guard lock(mutex_);
    return base_ + static_cast<std::int64_t>(states_.size());
}

std::size_t TransactionTable::open() const noexcept {
    const std::lock_guard lock(mutex_);
    return open_;
}

}  // namespace patchbay::plugins::transaction
