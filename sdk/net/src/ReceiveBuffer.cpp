#include "patchbay/net/ReceiveBuffer.h"

#include "patchbay/base/Assert.h"

#include <utility>

namespace patchbay::net {

void ReceiveChunk::destroy() noexcept {
    if (const Ref<ChunkPool> pool = std::move(pool_)) {
        pool->giveBack(this);
    } else {
        delete this;
    }
}

ChunkPool::~ChunkPool() {
    for (auto* chunk : idle_) delete chunk;
}

Ref<ReceiveChunk> ChunkPool::take() {
    ReceiveChunk* chunk = nullptr;
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            chunk = idle_.back();
            idle_.pop_back();
        }
    }
    if (chunk == nullptr) {
        chunk = new ReceiveChunk(chunkBytes_);
    } else {
        chunk->reuse();
    }
    chunk->pool_ = Ref<ChunkPool>::share(this);
    return Ref<ReceiveChunk>::adopt(chunk);
}

void ChunkPool::giveBack(ReceiveChunk* chunk) noexcept {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < idleMax_) {
        idle_.push_back(chunk);
    } else {
        delete chunk;
    }
}

std::span<char> ReceiveCursor::room(std::size_t bytes) {
    PATCHBAY_ASSERT(bytes <= pool_->chunkBytes());
    if (!chunk_ || chunk_->capacity() - used_ < bytes) {
        if (chunk_ && chunk_->unique()) {
            used_ = 0;
        } else {
            chunk_ = pool_->take();
            used_ = 0;
        }
    }
    return {chunk_->data() + used_, chunk_->capacity() - used_};
}

}  // namespace patchbay::net
