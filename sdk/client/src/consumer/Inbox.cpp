#include "consumer/Inbox.h"

#include <algorithm>
#include <limits>

namespace patchbay::client {

std::size_t Inbox::add(const std::vector<ReceivedMessage>& messages) {
    std::size_t added = 0;
    for (const auto& message : messages) {
        const auto [at, fresh] = entries_.try_emplace(message.queueOffset(), Entry{message});
        if (!fresh) continue;
        ++added;
        waitsFrom_ = std::min(waitsFrom_, message.queueOffset());
        bytes_ += message.body().size();
        next_ = std::max(next_, message.queueOffset() + 1);
    }
    return added;
}

std::vector<ReceivedMessage> Inbox::take(std::size_t count) {
    std::vector<ReceivedMessage> taken;
    if (waiting() == 0) return taken;
    taken.reserve(std::min(count, waiting()));
    auto at = entries_.lower_bound(waitsFrom_);
    for (; at != entries_.end() && taken.size() < count; ++at) {
        auto& entry = at->second;
        if (entry.taken) continue;
        entry.taken = true;
        ++taken_;
        taken.push_back(entry.message);
    }
    waitsFrom_ = at == entries_.end() ? std::numeric_limits<std::int64_t>::max() : at->first;
    return taken;
}

void Inbox::giveBack(std::int64_t offset) {
    const auto found = entries_.find(offset);
    if (found == entries_.end() || !found->second.taken) return;
    found->second.taken = false;
    waitsFrom_ = std::min(waitsFrom_, offset);
    --taken_;
}

void Inbox::remove(std::int64_t offset) {
    const auto found = entries_.find(offset);
    if (found == entries_.end()) return;
    bytes_ -= found->second.message.body().size();
    if (found->second.taken) --taken_;
    entries_.erase(found);
}

void Inbox::clear() {
    entries_.clear();
    bytes_ = taken_ = 0;
    next_ = -1;
}

std::optional<std::int64_t> Inbox::commitOffset() const {
    if (!entries_.empty()) return entries_.begin()->first;
    if (next_ < 0) return std::nullopt;
    return next_;
}

}  // namespace patchbay::client
