#include "OrderedReader.h"

#include <algorithm>
#include <tuple>

namespace patchbay::storetool {

namespace {

constexpr std::size_t kChunksTogether = 64U << 20;
constexpr std::size_t kChunkMin = 4U << 10;
constexpr std::size_t kChunkMax = 256U << 10;

std::string whereOf(const OrderedReader::QueueRange& queue, std::int64_t offset) {
    return "topic " + queue.topic + ", queue " + std::to_string(queue.queueId) + ", offset " + std::to_string(offset) + ": ";
}

Status unreadable(const OrderedReader::QueueRange& queue, std::int64_t offset, std::string_view why) {
    return {StatusCode::Corrupt, whereOf(queue, offset) + std::string(why)};
}

}  // namespace

OrderedReader::OrderedReader(service::MessageStore& store, TopicRule rule)
    : store_(store), rule_(std::move(rule)), isDense_(store.capabilities().sql) {
    limits_.messagesMax = 1'000;
}

Status OrderedReader::start() {
    const auto keys = store_.queues();
    limits_.bytesMax = static_cast<std::int32_t>(std::clamp(kChunksTogether / std::max<std::size_t>(keys.size(), 1), kChunkMin, kChunkMax));
    for (const auto& key : keys) {
        const auto range = store_.range(key.topic, key.queueId);
        if (!range.exists) continue;
        const auto reading = rule_(key.topic);
        if (!reading) return reading.error();
        if (*reading == TopicReading::LeftOut) {
            leftOut_.push_back(key.topic + "/" + std::to_string(key.queueId));
            continue;
        }
        auto cursor = std::make_unique<Cursor>(QueueRange{key.topic, key.queueId, range.min, range.max});
        if (*reading == TopicReading::Apart) cursor->parts = std::make_unique<BatchParts>();
        const auto found = advance(*cursor);
        if (!found) return found.error();
        if (*found && (cursor->record.topic != key.topic || cursor->record.queueId != key.queueId)) {
            leftOut_.push_back(key.topic + "/" + std::to_string(key.queueId));
            continue;
        }
        total_ += range.max - range.min;
        ranges_.push_back(cursor->queue);
        if (!*found) continue;
        order_.push(cursor.get());
        cursors_.push_back(std::move(cursor));
    }
    std::sort(ranges_.begin(), ranges_.end(),
              [](const QueueRange& a, const QueueRange& b) { return std::tie(a.topic, a.queueId) < std::tie(b.topic, b.queueId); });
    return Status::ok();
}

Result<bool> OrderedReader::next(protocol::RecordView& record) {
    if (given_ != nullptr) {
        const auto more = advance(*given_);
        if (!more) return more.error();
        if (*more) order_.push(given_);
    }
    if (order_.empty()) {
        given_ = nullptr;
        return false;
    }
    given_ = order_.top();
    order_.pop();
    record = given_->record;
    return true;
}

Result<bool> OrderedReader::advance(Cursor& cursor) {
    if (cursor.parts && cursor.parts->next(cursor.record)) return true;
    while (cursor.at == cursor.chunk.size()) {
        if (cursor.offset >= cursor.queue.max) {
            cursor.chunk = {};
            cursor.at = 0;
            return false;
        }
        if (Status filled = fill(cursor); !filled) return filled;
    }
    const std::string_view rest = std::string_view(cursor.chunk).substr(cursor.at);
    if (protocol::RecordView::parse(rest, cursor.record) != protocol::RecordStatus::Message) return unreadable(cursor.queue, cursor.offset, "a record is damaged");
    cursor.at += static_cast<std::size_t>(cursor.record.size);
    if (!cursor.parts || !BatchParts::holdsSeveral(cursor.record)) return true;
    const std::int64_t offset = cursor.record.queueOffset;
    if (Status begun = cursor.parts->begin(cursor.record); !begun) {
        return Status(begun.code(), whereOf(cursor.queue, offset) + "a batch in one record cannot be taken apart: " + std::string(begun.message()));
    }
    return cursor.parts->next(cursor.record);
}

Status OrderedReader::fill(Cursor& cursor) {
    const auto& queue = cursor.queue;
    store_.read(queue.topic, queue.queueId, cursor.offset, limits_, nullptr, result_);
    if (result_.nextOffset <= cursor.offset || (result_.status != service::ReadStatus::Found && result_.status != service::ReadStatus::Gone)) {
        return unreadable(queue, cursor.offset, "the store cannot read it");
    }
    // A database holds every message of a queue. Its store passes over what is lost, so that consumers go on; a copy must not.
    if (isDense_ && result_.messages != result_.nextOffset - cursor.offset) {
        return unreadable(queue, cursor.offset, std::to_string(result_.nextOffset - cursor.offset - result_.messages) + " of the messages from here on are damaged or missing");
    }
    cursor.chunk.clear();
    cursor.at = 0;
    for (const auto piece : result_.pieces) cursor.chunk += piece;
    cursor.offset = result_.nextOffset;
    result_.clear();  // so that nothing of the store is kept
    return Status::ok();
}

}  // namespace patchbay::storetool
