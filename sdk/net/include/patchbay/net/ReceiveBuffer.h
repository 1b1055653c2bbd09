// ReceiveBuffer: where received bytes lie while requests look at them.
#pragma once

#include "patchbay/base/Slice.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace patchbay::net {

class ChunkPool;

/// A block of memory that connections of one loop read into, one behind the other. Kept by every request whose frame lies in
/// it; goes back to its pool, on any thread, when the last one lets go.
class ReceiveChunk final : public RefCounted {
public:
    explicit ReceiveChunk(std::size_t capacity)
        : bytes_(std::make_unique_for_overwrite<char[]>(capacity)), capacity_(capacity) {}
    [[nodiscard]] char* data() noexcept { return bytes_.get(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

protected:
    void destroy() noexcept override;

private:
    friend class ChunkPool;
    const std::unique_ptr<char[]> bytes_;
    const std::size_t capacity_;
    Ref<ChunkPool> pool_;  // set while handed out
};

/// Chunks of one size. Lives as long as its last chunk. Thread-safe.
class ChunkPool final : public RefCounted {
public:
    /// Keeps at most `idleMax` unused chunks.
    ChunkPool(std::size_t chunkBytes, std::size_t idleMax) : chunkBytes_(chunkBytes), idleMax_(idleMax) {}
    ~ChunkPool() override;
    [[nodiscard]] Ref<ReceiveChunk> take();
    [[nodiscard]] std::size_t chunkBytes() const noexcept { return chunkBytes_; }

private:
    friend class ReceiveChunk;
    void giveBack(ReceiveChunk* chunk) noexcept;

    const std::size_t chunkBytes_;
    const std::size_t idleMax_;
    std::mutex mutex_;
    std::vector<ReceiveChunk*> idle_;  // guarded by mutex_
};

/// The chunk that a loop reads into now, and how much of it is used. Loop thread only.
class ReceiveCursor {
public:
    explicit ReceiveCursor(Ref<ChunkPool> pool) noexcept : pool_(std::move(pool)) {}
    /// At least `bytes` (not more than a chunk) contiguous free bytes; a new chunk when the rest of this one is too small.
    std::span<char> room(std::size_t bytes);
    void use(std::size_t bytes) noexcept { used_ += bytes; }
    [[nodiscard]] ReceiveChunk& chunk() const noexcept { return *chunk_; }
    [[nodiscard]] std::size_t chunkBytes() const noexcept { return pool_->chunkBytes(); }
    /// Starts over in the same, still warm, chunk when no request looks at it any more.
    void rewindIfUnused() noexcept { if (chunk_ && used_ > 0 && chunk_->unique()) used_ = 0; }

private:
    Ref<ChunkPool> pool_;
    Ref<ReceiveChunk> chunk_;
    std::size_t used_ = 0;
};

}  // namespace patchbay::net
