#include "EarlierDeliveries.h"

namespace patchbay::plugins::timer {

namespace {

using protocol::RecordView;

constexpr service::ReadLimits kLimits{1024, 4 << 20, false};

/// What a message and its copies have in common. A producer that sends again after a time-out sends two that are alike: they are counted.
std::string identity(const RecordView& record, const TimerMessage& message, std::int32_t rolled) {
    std::string text(message.uniqueKey);
    for (const std::int64_t number :
         {record.bornTimestamp, message.outMs.value_or(0), std::int64_t{rolled}, std::int64_t{record.bodyCrc}}) {
        (text += '\1') += std::to_string(number);
    }
    return text;
}

}  // namespace

bool EarlierDeliveries::take(std::string_view topic, std::int32_t queueId, const RecordView& record, const TimerMessage& message,
                             std::int32_t rolled, std::int64_t notBeforeMs) {
    if (record.physicalOffset >= end_) return false;
    std::pair key(std::string(topic), queueId);
    auto queue = queues_.find(key);
    if (queue == queues_.end()) queue = queues_.emplace(std::move(key), read(topic, queueId, notBeforeMs)).first;
    const auto copy = queue->second.find(identity(record, message, rolled));
    if (copy == queue->second.end()) return false;
    if (--copy->second == 0) queue->second.erase(copy);
    return true;
}

EarlierDeliveries::Copies EarlierDeliveries::read(std::string_view topic, std::int32_t queueId, std::int64_t notBeforeMs) const {
    Copies copies;
    const auto from = store_.offsetAt(topic, queueId, notBeforeMs, service::Bound::Lower);
    if (!from) return copies;
    service::ReadResult result;
    for (std::int64_t offset = *from;; offset = result.nextOffset) {
        store_.read(topic, queueId, offset, kLimits, nullptr, result);
        if (result.status != service::ReadStatus::Found) return copies;
        for (std::string_view piece : result.pieces) {
            RecordView record;
            while (!piece.empty() && RecordView::parse(piece, record, protocol::RecordCheck::Layout) == protocol::RecordStatus::Message) {
                if (record.physicalOffset >= end_) return copies;
                const TimerMessage message = TimerMessage::of(record.properties);
                if (message.outMs) ++copies[identity(record, message, message.rolled)];
                piece.remove_prefix(static_cast<std::size_t>(record.size));
            }
        }
    }
}

}  // namespace patchbay::plugins::timer
