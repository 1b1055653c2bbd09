// QueueCheck: the units of one consume queue beside the records of the log.
#pragma once

#include "StoreFiles.h"

#include "ConsumeQueueUnit.h"

#include "patchbay/protocol/message/MessageRecord.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::storetool {

/// Reads records of the log by position. Keeps one file open. One thread.
class LogBytes {
public:
    explicit LogBytes(const StoreFiles& store) noexcept : store_(store) {}
    /// Up to `bytes` from a position on; shorter at the end of the file and where there is none.
    [[nodiscard]] Result<std::string> read(std::int64_t position, std::int64_t bytes);
    /// Whether a record that knows its place and size begins there.
    [[nodiscard]] Result<bool> hasRecord(std::int64_t position, std::int32_t bytes);

private:
    const StoreFiles& store_;
    std::unique_ptr<File> open_;
    std::int64_t opened_ = -1;
};

/// Purpose: first told of every record of its queue, in the order of the log, then asked about the rest. One thread.
class QueueCheck {
public:
    QueueCheck(const StoreFiles& store, const QueueFolder& folder) noexcept : store_(store), folder_(folder) {}

    [[nodiscard]] const QueueFolder& folder() const noexcept { return folder_; }
    [[nodiscard]] std::int64_t unitBytes() const noexcept { return folder_.batch ? mmapstore::kBatchUnitBytes : mmapstore::kUnitBytes; }
    /// What is wrong with names and sizes; empty when nothing is.
    [[nodiscard]] std::string structure() const;
    /// A record of the log that belongs here.
    Status see(const protocol::RecordView& record, LogBytes& log);
    /// Looks at all units, once every record was seen.
    Status count(LogBytes& log, std::int64_t logEnd);

    std::int64_t units = 0;          ///< that stand for messages
    std::int64_t missing = 0;        ///< records without their unit
    std::int64_t firstMissing = -1;  ///< queue offset
    std::int64_t wrong = 0;          ///< units that point to something else
    std::int64_t firstWrong = -1;    ///< queue offset, or number of the unit
    std::int64_t beyond = 0;         ///< units that point behind the end of the log

private:
    [[nodiscard]] Result<std::string> chunk(std::int64_t at, std::int64_t bytes) const;
    [[nodiscard]] Result<mmapstore::Unit> unit(std::int64_t offset);

    const StoreFiles& store_;
    const QueueFolder& folder_;
    std::string kept_;               // units from keptFrom_ on
    std::int64_t keptFrom_ = -1;
};

}  // namespace patchbay::storetool
