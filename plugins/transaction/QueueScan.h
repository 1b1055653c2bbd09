// QueueScan: reads a queue of the store record by record.
#pragma once

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::transaction {

struct ScannedRecord {
    std::int64_t offset;
    std::optional<protocol::RecordView> view;   ///< nothing: it is there, but damaged
};

/// Borrows the store. One thread; may wait for the disk.
class QueueScan {
public:
    QueueScan(service::MessageStore& store, std::string_view topic) : store_(store), topic_(topic) {}

    /// Reads some records from `offset` on; false when the queue has none there. What it hands out lives until the next call.
    bool read(std::int64_t offset);
    [[nodiscard]] const std::vector<ScannedRecord>& records() const noexcept { return records_; }
    /// Where to go on. Beyond the last record; after a gap in the queue, behind the gap.
    [[nodiscard]] std::int64_t next() const noexcept { return next_; }

private:
    void parse(std::string_view bytes, std::int64_t offset);

    service::MessageStore& store_;
    std::string_view topic_;
    service::ReadResult result_;
    std::string joined_;
    std::vector<ScannedRecord> records_;
    std::int64_t next_ = 0;
};

}  // namespace patchbay::plugins::transaction
