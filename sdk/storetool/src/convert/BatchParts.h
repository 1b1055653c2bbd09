// BatchParts: the messages of a record that holds several, each as a record of its own.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/MessageRecord.h"

#include <cstdint>
#include <optional>
#include <string>

namespace patchbay::storetool {

/// Takes records of batch queues apart as consumers do: a part has flag, body and properties of its entry, the queue offset that a
/// consumer counts for it, and the rest from the record. The first part keeps the physical offset, the others get the numbers behind
/// it, which lie within the record. One thread.
class BatchParts {
public:
    /// Whether a record of a batch queue is more than one message.
    [[nodiscard]] static bool holdsSeveral(const protocol::RecordView& record) noexcept;
    /// The record's views must last until its last part was given. Unsupported, with the reason, when the parts are not what
    /// the record's offsets are.
    Status begin(const protocol::RecordView& record);
    /// The next part; its views last until the next call. False when none is left.
    bool next(protocol::RecordView& part);

private:
    protocol::RecordFields fields_;                  // of the next part, but for what its entry says
    std::optional<protocol::BatchReader> entries_;   // nothing: no part is left
    std::string plain_;                              // the body, where it was compressed
    std::string part_;
};

}  // namespace patchbay::storetool
