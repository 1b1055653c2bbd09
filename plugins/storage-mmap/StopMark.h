// StopMark: what a clean stop left behind, so that the next start notices what was damaged or removed since.
#pragma once

#include "Layout.h"

#include "patchbay/base/FileSystem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::mmapstore {

/// The content of the file `lastStop`, which RocketMQ has no part in and ignores. A value.
/// A text: the end of the log, a line for each consume queue and each key-index file, and the number of lines, so that half a
/// file is none. It only counts after a clean stop and for a log of this end; after a crash it still tells which queues there were.
struct StopMark {
    struct Queue {
        std::string topic;
        std::int32_t id = 0;
        std::int64_t firstFile = -1;
        std::int64_t max = -1;      ///< one past the last message
        std::int64_t newest = -1;   ///< position in the log that the last unit names; -1: not known
        QueueKind kind = QueueKind::Simple;
        std::int64_t units = -1;    ///< place behind the last unit; in a simple queue the same as `max`
    };
    struct Index {
        std::string name;
        std::int64_t count = 0;
        std::int64_t endPhysical = 0;
        friend bool operator==(const Index&, const Index&) = default;
    };

    std::int64_t logEnd = 0;
    std::vector<Queue> queues;
    std::vector<Index> indexes;

    /// Nothing for a missing file and for one that is no mark: then nothing can be checked.
    static std::optional<StopMark> read(FileSystem& files, const std::string& path);
    [[nodiscard]] Status write(FileSystem& files, const std::string& path) const;
};

}  // namespace patchbay::mmapstore
