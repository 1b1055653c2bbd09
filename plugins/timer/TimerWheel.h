// TimerWheel: RocketMQ's timerwheel, which says for each slot where its units are in the timer log.
#pragma once

#include "patchbay/base/FileSystem.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace patchbay::plugins::timer {

/// The slots that are yet to come, in memory and in their order; write() brings what has changed to its place in the file, which has
/// room for a fortnight of seconds whatever the precision is. Owned by TimerFiles; one thread.
class TimerWheel {
public:
    /// How far ahead of now a slot may lie, in slots: RocketMQ looks at no more.
    static constexpr std::int64_t kSlotsAhead = 604'800 - 60;

    struct Slot {
        std::int64_t first = -1;   ///< position of its oldest unit, as far as that is known
        std::int64_t last = -1;    ///< of its newest
        std::int32_t count = 0;    ///< messages; one that is called back does not count
    };
    using Slots = std::map<std::int64_t, Slot>;   // by the time at which they begin, ms

    TimerWheel(FileSystem& files, std::string path, std::int64_t precisionMs)
        : files_(files), path_(std::move(path)), precisionMs_(precisionMs) {}

    /// The slots of the file from `fromMs` on. NotFound when there is none, Corrupt when it has another size.
    Status load(std::int64_t fromMs);
    /// Nothing is in it any more, nor in its file.
    Status clear();

    [[nodiscard]] const Slots& slots() const noexcept { return slots_; }
    void put(std::int64_t slotMs, const Slot& slot);
    void forgetBefore(std::int64_t slotMs);
    /// Writes what has changed, and waits for the disk.
    Status write();

private:
    Status openFile();
    [[nodiscard]] std::int64_t indexOf(std::int64_t slotMs) const noexcept;

    FileSystem& files_;
    const std::string path_;
    const std::int64_t precisionMs_;
    std::unique_ptr<File> file_;
    Slots slots_;
    std::set<std::int64_t> changed_;
};

}  // namespace patchbay::plugins::timer
