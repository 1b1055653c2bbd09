// LogScan: walks over the records of the commit log from a position on.
#pragma once

#include "CommitLog.h"

#include "patchbay/protocol/message/MessageRecord.h"

#include <cstdint>
#include <string>

namespace patchbay::mmapstore {

/// Purpose: reads the log in pieces, through descriptors, so that a bad sector is an error and not a signal.
/// One thread; used while the store is not open yet. Memory: one piece, or the largest record.
class LogScan {
public:
    LogScan(const CommitLog& log, std::int64_t from, protocol::RecordCheck check) noexcept
        : log_(log), position_(from), check_(check) {}

    enum class Step : std::uint8_t {
        Record,  ///< record() and position() are set
        End,     ///< nothing valid starts at position()
        Failed,  ///< the disk refused; failure() says why
    };
    /// The next record that starts before `end`. Passes over the blanks at the ends of files.
    Step next(std::int64_t end = INT64_MAX);

    [[nodiscard]] std::int64_t position() const noexcept { return position_; }
    [[nodiscard]] const protocol::RecordView& record() const noexcept { return view_; }
    [[nodiscard]] const Status& failure() const noexcept { return failure_; }

private:
    [[nodiscard]] bool openSegment(std::int64_t start);
    /// At least `bytes` bytes from position_ on, or what the file has.
    [[nodiscard]] bool fill(std::size_t bytes);
    [[nodiscard]] std::string_view ahead() const noexcept {
        return std::string_view(buffer_).substr(static_cast<std::size_t>(position_ - bufferStart_));
    }

    const CommitLog& log_;
    std::int64_t position_;
    const protocol::RecordCheck check_;
    std::unique_ptr<File> file_;
    std::int64_t segment_ = -1;
    std::string buffer_;
    std::int64_t bufferStart_ = 0;
    std::int64_t step_ = 0;  // size of the record at position_, taken before the next one is read
    protocol::RecordView view_;
    Status failure_;
};

}  // namespace patchbay::mmapstore
