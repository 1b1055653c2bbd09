// RecordWalk: goes through all records of a log, over damage if there is any.
#pragma once

#include "StoreFiles.h"

#include "patchbay/protocol/message/MessageRecord.h"

#include <cstdint>
#include <memory>
#include <string>

namespace patchbay::storetool {

/// Purpose: every record from a position on, whatever lies between them. One thread. Memory: one piece, or the largest record.
class RecordWalk {
public:
    RecordWalk(const StoreFiles& store, std::int64_t from);

    enum class Step : std::uint8_t {
        Record,   ///< record() is whole and its body fits its checksum
        Damage,   ///< what() is wrong at position(); the walk goes on at the next whole record, or the next file
        End,      ///< nothing more; position() is behind the last record
    };
    Result<Step> next();

    [[nodiscard]] const protocol::RecordView& record() const noexcept { return view_; }
    [[nodiscard]] std::int64_t position() const noexcept { return position_; }
    [[nodiscard]] const std::string& what() const noexcept { return what_; }
    /// The file that holds position().
    [[nodiscard]] const SequenceFile* file() const noexcept { return index_ < store_.log().size() ? &store_.log()[index_] : nullptr; }

private:
    [[nodiscard]] Result<bool> fill(std::int64_t bytes);
    [[nodiscard]] std::string_view ahead() const noexcept {
        return std::string_view(buffer_).substr(static_cast<std::size_t>(position_ - bufferStart_));
    }
    void nextFile() noexcept;
    [[nodiscard]] Result<Step> damage(std::string what);
    /// Moves to the next whole record of this file; false when there is none.
    [[nodiscard]] Result<bool> resync();
    [[nodiscard]] Result<bool> isZeroToTheEnd();

    const StoreFiles& store_;
    std::size_t index_ = 0;
    std::unique_ptr<File> open_;
    std::size_t opened_ = static_cast<std::size_t>(-1);
    std::int64_t position_ = 0;
    std::int64_t step_ = 0;
    std::int64_t end_ = 0;
    std::string buffer_;
    std::int64_t bufferStart_ = 0;
    protocol::RecordView view_;
    std::string what_;
    std::int64_t resumeAt_ = -1;
};

}  // namespace patchbay::storetool
