// DiskGuard: refuses messages before the disk is full, and says which setting did it.
#pragma once

#include "StoreConfig.h"

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"

#include <atomic>
#include <chrono>
#include <string>

namespace patchbay::mmapstore {

/// Purpose: RocketMQ's two ratios (refuse above one, accept again at or below the other), or a number of free bytes.
/// Asks the system at most once a second, and only when something is written. Owned by the store; check() under the append
/// lock, ratio() by any thread.
class DiskGuard {
public:
    DiskGuard(FileSystem& files, const Clock& clock, const StoreTunables& tunables, std::string path)
        : files_(files), clock_(clock), tunables_(tunables), path_(std::move(path)) {}

    /// Ok, or Full with path, used, limit and key.
    [[nodiscard]] Status check();
    /// The same failure, with what is known about the disk when it is full.
    [[nodiscard]] Status explain(const Status& failure) const;
    /// Used share, 0…1; -1 when it cannot be told.
    [[nodiscard]] double ratio() const;
    [[nodiscard]] Result<DiskSpace> space() const { return files_.space(path_); }

private:
    static constexpr std::chrono::seconds kInterval{1};

    FileSystem& files_;
    const Clock& clock_;
    const StoreTunables& tunables_;
    const std::string path_;
    MonotonicTime next_{};
    bool full_ = false;
    Status last_;
};

}  // namespace patchbay::mmapstore
