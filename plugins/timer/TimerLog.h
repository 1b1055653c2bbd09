// TimerLog: RocketMQ's timerlog/, a unit for every timed message in the order in which they came.
#pragma once

#include "patchbay/base/FileSystem.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::plugins::timer {

/// Bits of TimerUnit::magic.
inline constexpr std::int32_t kUnitPlain = 1;
inline constexpr std::int32_t kUnitRoll = 2;     ///< to be stored anew at its slot's time
inline constexpr std::int32_t kUnitRecall = 4;   ///< calls another message back

/// One unit: where a message lies that waits, and the unit before it in the same slot.
struct TimerUnit {
    std::int64_t previous = -1;
    std::int32_t magic = kUnitPlain;
    std::int64_t writtenMs = 0;        ///< when it was taken; a multiple of the precision
    std::int64_t slotMs = 0;           ///< within 24 days of writtenMs
    std::int64_t physicalOffset = 0;   ///< of the message in the timer topic
    std::int32_t bytes = 0;            ///< its size
    std::int32_t topicHash = 0;        ///< Java's hash of the topic that it is for
};

/// The sequence of files. Units get their place by add() and are in the files after write(). Owned by TimerFiles; one thread.
class TimerLog {
public:
    static constexpr std::int64_t kUnitBytes = 52;

    TimerLog(FileSystem& files, std::string directory, std::int64_t fileBytes)
        : files_(files), directory_(std::move(directory)), fileBytes_(fileBytes) {}

    /// Looks at the files that are there, whose size counts from then on. Corrupt when they are no sequence.
    Status open();
    /// Reads units from the file on in which `from` lies, until the first that is none: end() is there afterwards, and what
    /// follows is removed when the next unit is written.
    Status scan(std::int64_t from, const std::function<void(std::int64_t position, const TimerUnit& unit)>& each);
    /// The log ends there; a position that scan() told.
    void cut(std::int64_t end) noexcept { end_ = written_ = end; }
    /// Removes all files, whatever they are: the log is empty.
    Status clear();

    [[nodiscard]] std::int64_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::int64_t fileBytes() const noexcept { return fileBytes_; }
    [[nodiscard]] std::int64_t end() const noexcept { return end_; }

    /// Answers its position.
    std::int64_t add(const TimerUnit& unit);
    Status write();
    Status sync();
    /// The units of a slot from its newest on back, oldest first. Ends where the files do. Everything must be written.
    [[nodiscard]] Result<std::vector<TimerUnit>> chain(std::int64_t last);
    /// Removes files at the front whose messages all lie below a position of the commit log.
    Status removeBelow(std::int64_t physicalOffset);

private:
    Result<File*> fileOf(std::int64_t position);
    Status dropTail();
    [[nodiscard]] std::string pathOf(std::int64_t fileBegin) const;
    [[nodiscard]] std::int64_t fileBegin(std::int64_t position) const noexcept { return position / fileBytes_ * fileBytes_; }

    FileSystem& files_;
    const std::string directory_;
    std::int64_t fileBytes_;
    std::int64_t begin_ = 0;
    std::int64_t end_ = 0;
    std::int64_t written_ = 0;   // where unwritten_ begins
    std::int64_t filesEnd_ = 0;  // behind the last file
    std::string unwritten_;
    bool tail_ = false;          // something may lie behind the end
    std::map<std::int64_t, std::unique_ptr<File>> open_;
    std::map<std::int64_t, File*> unsynced_;
};

}  // namespace patchbay::plugins::timer
