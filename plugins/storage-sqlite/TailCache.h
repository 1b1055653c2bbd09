// TailCache: the newest records of all queues in memory, so that readers who keep up never ask the database.
#pragma once

#include "patchbay/base/Slice.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::plugins::sqlite {

class QueueState;

/// A block of encoded records in the order in which they were appended. Counted: readers keep the blocks that they send from.
class TailBlock final : public RefCounted {
public:
    explicit TailBlock(std::size_t bytesMax) : size(bytesMax), bytes(new char[bytesMax]) {}

    const std::size_t size;
    std::size_t used = 0;
    const std::unique_ptr<char[]> bytes;
    std::vector<Ref<QueueState>> owners;  ///< the queue of each record that was published, in order
};

/// One record in a queue's tail. The block lives as long as the entry is in its queue.
struct TailEntry {
    TailBlock* block;
    const char* record;
    std::int64_t physicalOffset;
    std::int64_t storeTime;
    std::int64_t tagsCode;
    std::int32_t bytes;
};

/// The newest entries of a queue, oldest first. One that is empty has no memory of its own, because most queues of many are idle.
class TailEntries {
public:
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size() - first_; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] const TailEntry& operator[](std::size_t at) const noexcept { return entries_[first_ + at]; }
    [[nodiscard]] const TailEntry& front() const noexcept { return entries_[first_]; }
    void add(const TailEntry& entry) { entries_.push_back(entry); }
    void dropFirst() {
        ++first_;
        if (empty()) {
            clear();
        } else if (first_ * 2 >= entries_.size()) {
            // Moved by the half that is left: constant cost for each entry.
            entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }
    }
    void clear() noexcept {
        entries_ = {};
        first_ = 0;
    }

private:
    std::vector<TailEntry> entries_;
    std::size_t first_ = 0;
};

/// A queue as readers and the writer share it. Counted, because a reader may still look at a queue whose topic is deleted.
/// The writer alone changes it; everything behind `mutex` is read by any thread.
class QueueState final : public RefCounted {
public:
    QueueState(std::int64_t key, std::string ofTopic, std::int32_t number, std::int64_t first, std::int64_t end)
        : id(key), topic(std::move(ofTopic)), queueId(number), min(first), max(end), next(end) {}

    const std::int64_t id;          ///< key in the table `queue`
    const std::string topic;
    const std::int32_t queueId;

    std::mutex mutex;
    std::int64_t min;               ///< first offset that is there
    std::int64_t max;               ///< one past the last visible one
    bool dropped = false;           ///< its topic was deleted
    TailEntries tail;               ///< the last tail.size() messages before max

    std::int64_t next;              ///< writer only: the next offset to give out
};

/// Owned and used by the writer alone; blocks are shared with readers. The oldest block goes when there are too many bytes.
class TailCache {
public:
    explicit TailCache(std::size_t bytesMax) : bytesMax_(bytesMax) {}
    ~TailCache() { evict(0); }

    /// Room for a record that is not visible yet; valid until the next evict() after its publication.
    char* reserve(std::size_t bytes);
    /// The block of the last reserve().
    [[nodiscard]] TailBlock& block() noexcept { return *blocks_.back(); }
    /// Drops the oldest blocks beyond the limit.
    void trim() { evict(bytesMax_); }

private:
    void evict(std::size_t bytesMax);

    static constexpr std::size_t kBlockBytes = 256U << 10;
    const std::size_t bytesMax_;
    std::size_t bytes_ = 0;
    std::deque<Ref<TailBlock>> blocks_;
};

}  // namespace patchbay::plugins::sqlite
