// DiskReserve: stops appends while the disk has still room for removing old messages.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"

#include <chrono>
#include <string>

namespace patchbay::plugins::sqlite {

/// Owned and used by the writer's thread alone. Asks the system at most once a second. A disk that cannot be asked counts as one
/// with room; writing to it finds out.
class DiskReserve {
public:
    DiskReserve(FileSystem& files, const Clock& clock, std::string directory, std::int64_t freeBytesMin)
        : files_(files), clock_(clock), directory_(std::move(directory)), freeBytesMin_(freeBytesMin) {}

    /// Ok, or Full with directory, free bytes, limit and key.
    Status check();
    /// The same failure; one of a full disk with what is free there.
    [[nodiscard]] Status explain(const Status& failure) const;

private:
    static constexpr std::chrono::seconds kInterval{1};

    FileSystem& files_;
    const Clock& clock_;
    const std::string directory_;
    const std::int64_t freeBytesMin_;
    MonotonicTime next_{};
    Status last_;
};

}  // namespace patchbay::plugins::sqlite
