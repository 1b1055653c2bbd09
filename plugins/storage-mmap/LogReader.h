// LogReader: single records of the commit log, for those who know where one should be.
#pragma once

#include "ConsumeQueueUnit.h"
#include "ReadWindows.h"

#include "patchbay/base/Slice.h"

#include <cstdint>
#include <string_view>

namespace patchbay::mmapstore {

/// Purpose: reads one record and doubts what it finds. Owned by the store; any thread; may wait for the disk.
class LogReader {
public:
    explicit LogReader(ReadWindows& windows) noexcept : windows_(windows) {}

    /// The record that a unit points to. Corrupt when something else lies there; NotFound and Io as ReadWindows::find().
    [[nodiscard]] Result<Slice> record(const Unit& unit) const;
    /// The record that starts at a position, which lies before `end`; NotFound when none starts there, Io when that cannot be told. From
    /// `hotFrom` on everything surely is in memory.
    [[nodiscard]] Result<Slice> recordAt(std::int64_t position, std::int64_t end, std::int64_t hotFrom) const;
    [[nodiscard]] Result<std::int64_t> storeTime(const Unit& unit) const;
    /// Whether the unit points to the message that has this place in that queue. Io when that cannot be told.
    [[nodiscard]] Result<bool> isRecordOf(const Unit& unit, std::string_view topic, std::int32_t queueId, std::int64_t offset) const;

private:
    /// The window of a record, of which `bytes` can be looked at.
    [[nodiscard]] Result<Window> look(const Unit& unit, std::int64_t bytes) const;
    [[nodiscard]] Result<Slice> recordWith(const Unit& unit, std::int64_t readable) const;
    [[nodiscard]] static Result<Slice> recordIn(const Window& window, const Unit& unit);

    ReadWindows& windows_;
};

}  // namespace patchbay::mmapstore
