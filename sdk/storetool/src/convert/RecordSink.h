// RecordSink: where converted messages go.
#pragma once

#include "OrderedReader.h"

namespace patchbay::storetool {

/// One of the two kinds of target. One thread. After a failure it is only destroyed.
class RecordSink {
public:
    virtual ~RecordSink() = default;
    /// All queues, before the first message.
    virtual Status begin(const std::vector<OrderedReader::QueueRange>& queues) = 0;
    /// The next message in physical order.
    virtual Status add(const protocol::RecordView& record) = 0;
    /// Makes everything durable. Physical offsets of later messages will be at least `nextPhysical` where they were kept.
    virtual Status finish(std::int64_t nextPhysical) = 0;
};

/// The fields of a record as they are needed to write it again. Views into the record.
[[nodiscard]] protocol::RecordFields fieldsOf(const protocol::RecordView& record) noexcept;

}  // namespace patchbay::storetool
