#include "TailCache.h"

#include <algorithm>

namespace patchbay::plugins::sqlite {

char* TailCache::reserve(std::size_t bytes) {
    if (blocks_.empty() || blocks_.back()->size - blocks_.back()->used < bytes) {
        blocks_.push_back(Ref<TailBlock>::adopt(new TailBlock(std::max(kBlockBytes, bytes))));
        bytes_ += blocks_.back()->size;
    }
    TailBlock& last = *blocks_.back();
    char* const at = last.bytes.get() + last.used;
    last.used += bytes;
    return at;
}

void TailCache::evict(std::size_t bytesMax) {
    while (bytes_ > bytesMax && !blocks_.empty()) {
        TailBlock& oldest = *blocks_.front();
        for (const auto& owner : oldest.owners) {
            const std::lock_guard lock(owner->mutex);
            if (!owner->tail.empty() && owner->tail.front().block == &oldest) owner->tail.dropFirst();
        }
        bytes_ -= oldest.size;
        oldest.owners.clear();
        blocks_.pop_front();
    }
}

}  // namespace patchbay::plugins::sqlite
