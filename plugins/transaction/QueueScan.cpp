#include "QueueScan.h"

#include "HalfMessage.h"

namespace patchbay::plugins::transaction {

using protocol::RecordStatus;

bool QueueScan::read(std::int64_t offset) {
    records_.clear();
    next_ = offset;
    store_.read(topic_, kQueueId, offset, {}, nullptr, result_);
    if (result_.status == service::ReadStatus::Gone || result_.status == service::ReadStatus::OffsetTooSmall) {
        next_ = result_.nextOffset;
        return next_ > offset;
    }
    if (result_.status != service::ReadStatus::Found) return false;
    if (result_.pieces.size() == 1) {
        parse(result_.pieces.front(), offset);
    } else {
        joined_.clear();
        for (const auto piece : result_.pieces) joined_ += piece;
        parse(joined_, offset);
    }
    return !records_.empty();
}

void QueueScan::parse(std::string_view bytes, std::int64_t offset) {
    while (!bytes.empty()) {
        protocol::RecordView view;
        const RecordStatus status = protocol::RecordView::parse(bytes, view);
        if (status == RecordStatus::Message) {
            offset = view.queueOffset;
            records_.push_back({offset++, view});
            bytes.remove_prefix(view.bytes.size());
            continue;
        }
        records_.push_back({offset++, std::nullopt});
        // A record that names its size can be passed over; otherwise the rest of this reading is lost and read again.
        const bool sized = (status == RecordStatus::BadCrc || status == RecordStatus::BadSize) && view.size > 0;
        if (!sized || static_cast<std::size_t>(view.size) > bytes.size()) break;
        bytes.remove_prefix(static_cast<std::size_t>(view.size));
    }
    next_ = offset;
}

}  // namespace patchbay::plugins::transaction
