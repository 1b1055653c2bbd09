// OrderedReader: all messages of a store in the order in which they were stored, through its read() alone.
#pragma once

#include "BatchParts.h"

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/MessageStore.h"

#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::storetool {

/// What becomes of a topic's messages.
enum class TopicReading : std::uint8_t {
    AsStored,
    Apart,      ///< a record may hold several messages; they are given one by one
    LeftOut,
};

/// Merges the queues by physical offset. One thread; nobody may write meanwhile. Memory: a piece of each queue, together at most
/// some 64 MB unless there are very many queues.
class OrderedReader {
public:
    using TopicRule = std::function<Result<TopicReading>(std::string_view topic)>;
    OrderedReader(service::MessageStore& store, TopicRule rule);

    /// Looks at every queue once. Before next().
    Status start();
    /// The next message; false at the end. The view lasts until the next call. Unsupported when a record cannot be taken apart.
    Result<bool> next(protocol::RecordView& record);

    struct QueueRange {
        std::string topic;
        std::int32_t queueId;
        std::int64_t min;
        std::int64_t max;
    };
    /// Queues with their ranges, by name; after start().
    [[nodiscard]] const std::vector<QueueRange>& queues() const noexcept { return ranges_; }
    [[nodiscard]] std::int64_t messagesTotal() const noexcept { return total_; }
    /// Queues that show messages of other queues, or that are of such a topic; not part of the above.
    [[nodiscard]] const std::vector<std::string>& leftOut() const noexcept { return leftOut_; }

private:
    struct Cursor {
        explicit Cursor(QueueRange of) : queue(std::move(of)), offset(queue.min) {}
        const QueueRange queue;
        std::int64_t offset;              // of the next piece
        std::string chunk;
        std::size_t at = 0;               // in it, behind the record
        protocol::RecordView record;
        std::unique_ptr<BatchParts> parts;  // where records are taken apart
    };
    struct Later {
        bool operator()(const Cursor* a, const Cursor* b) const noexcept { return a->record.physicalOffset > b->record.physicalOffset; }
    };

    /// Parses the next record of the cursor; false at the end of its queue.
    Result<bool> advance(Cursor& cursor);
    Status fill(Cursor& cursor);

    service::MessageStore& store_;
    const TopicRule rule_;
    const bool isDense_;                  // the store has every message between the ends of a queue
    std::vector<QueueRange> ranges_;
    std::vector<std::string> leftOut_;
    std::vector<std::unique_ptr<Cursor>> cursors_;
    std::priority_queue<Cursor*, std::vector<Cursor*>, Later> order_;
    Cursor* given_ = nullptr;
    service::ReadLimits limits_;
    service::ReadResult result_;
    std::int64_t total_ = 0;
};

}  // namespace patchbay::storetool
