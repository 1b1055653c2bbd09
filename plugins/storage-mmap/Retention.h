// Retention: which commit-log files may go, and how they go.
#pragma once

#include "CommitLog.h"
#include "DiskGuard.h"
#include "StoreConfig.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::mmapstore {

/// Purpose: removes the oldest files of the log when their messages are too old, when there are too many of them, and when the
/// disk fills up; never the newest. A file leaves the log first, so that readers are told, then its name goes; its blocks are
/// freed when the last reader who has it mapped is done, and by this class rather than by that reader unless he is slow.
/// Owned by the store. turn() on the files thread, trim() by any; one at a time by its own lock. Senders wait for none of it.
/// Failure: a file that cannot be removed is tried again at every turn, with a line in the log.
class Retention {
public:
    struct Parts {
        FileSystem& files;
        const Clock& clock;
        const StoreTunables& tunables;
        plugin::Logger& log;
        CommitLog& commitLog;
        const DiskGuard& guard;
        std::function<void()> minMoved;  ///< files have left the log
    };
    explicit Retention(Parts parts) noexcept;

    /// One look at what is due and at most one removal. How long until the next look.
    std::chrono::milliseconds turn();
    /// Removes all files that end at or before the position.
    Status trim(std::int64_t position);

private:
    /// A file without a name whose blocks are still there.
    struct Leaving {
        std::unique_ptr<File> file;
        MonotonicTime until;
    };

    /// Why the oldest file has to go; empty when it may stay.
    [[nodiscard]] std::string reason(const std::vector<std::int64_t>& segments);
    [[nodiscard]] bool isExpired(const std::vector<std::int64_t>& segments);
    [[nodiscard]] bool isHour() const;
    /// Wall time that no step of the wall clock has made later.
    [[nodiscard]] std::int64_t nowMs() const noexcept;
    Status remove(std::int64_t position);
    void removePending();
    void closeLeft();

    const Parts p_;
    const std::int64_t wallAtStart_;
    const MonotonicTime startedAt_;
    std::mutex mutex_;                   // everything below
    std::vector<std::string> pending_;   // out of the log, names still there
    std::vector<Leaving> leaving_;
    std::int64_t asked_ = -1;            // file whose successor was looked at
    std::int64_t askedTime_ = 0;         // and when that one began
    std::int64_t inBatch_ = 0;
    MonotonicTime batchEnds_{};
};

}  // namespace patchbay::mmapstore
