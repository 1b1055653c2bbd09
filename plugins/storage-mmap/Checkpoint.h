// Checkpoint: times up to which everything is on disk; they decide where recovery after a crash begins.
#pragma once

#include "patchbay/base/FileSystem.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace patchbay::mmapstore {

/// The content of RocketMQ's file `checkpoint`. A value. Times are store times of messages, ms.
/// Fields that only other parts of RocketMQ write are carried along unchanged.
struct Checkpoint {
    std::int64_t logTime = 0;          ///< of a message up to which the log is durable
    std::int64_t queueTime = 0;        ///< of a message up to which the consume queues are durable
    std::int64_t indexTime = 0;
    std::int64_t masterFlushed = 0;
    std::int64_t confirmPosition = 0;  ///< where the last record starts, as far as is known
    /// Start of a record up to which log and queues are durable; -1 when another program has written the file since. Ours alone,
    /// behind RocketMQ's fields: a position does not depend on what the wall clock does.
    std::int64_t safePosition = -1;

    static constexpr std::int64_t kMarginMs = 3000;  // RocketMQ's

    /// Everything stored at or before this time survives in log and queues; the margin is taken off.
    [[nodiscard]] std::int64_t safeTime() const noexcept {
        return std::max<std::int64_t>(0, std::min(logTime, queueTime) - kMarginMs);
    }

    /// Zeros for a missing file, and for one whose times cannot be: `garbage` says so then.
    static Result<Checkpoint> read(FileSystem& files, const std::string& path, std::int64_t nowMs, bool& garbage);
    /// Durable when it returns Ok.
    [[nodiscard]] Status write(FileSystem& files, const std::string& path) const;
};

}  // namespace patchbay::mmapstore
