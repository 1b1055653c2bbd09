#include "consumer/OffsetStore.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace patchbay::client {

void OffsetStore::update(const MessageQueue& queue, std::int64_t offset, bool onlyForward) {
    auto& entry = entries_[queue];
    if (entry.frozen || (onlyForward && offset <= entry.offset)) return;
    entry.offset = offset;
}

void OffsetStore::freeze(const MessageQueue& queue, std::int64_t offset) {
    auto& entry = entries_[queue];
    entry.offset = offset;
    entry.frozen = true;
}

std::int64_t OffsetStore::known(const MessageQueue& queue) const {
    const auto found = entries_.find(queue);
    return found == entries_.end() ? -1 : found->second.offset;
}

void OffsetStore::forget(const MessageQueue& queue, const std::function<void()>& done) {
    auto node = entries_.extract(queue);
    const auto finish = [done](const Status&) {
        if (done) done();
    };
    if (node.empty() || node.mapped().offset < 0 || node.mapped().offset == node.mapped().written) return finish(Status::ok());
    write(queue, node.mapped().offset, finish);
}

}  // namespace patchbay::client
