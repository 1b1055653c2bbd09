// DiskGuard: knows how full the disks are, refuses messages before they are full, and says which setting did it.
#pragma once

#include "Layout.h"
#include "StoreConfig.h"

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>

namespace patchbay::mmapstore {

/// What the fullness of a disk asks for; each level includes those before it.
enum class DiskLevel : std::uint8_t {
    Roomy,
    Expire,  ///< what is too old may go at any hour
    Clean,   ///< the oldest goes whatever its age
    Refuse,  ///< nothing is accepted
};

/// Purpose: RocketMQ's three ratios, or numbers of free bytes, which then count alone. The log is as full as the roomiest of its
/// directories, since new files go there; the disk of the root counts as well.
/// Asks the system at most once a second, and only when something is written. Owned by the store; check() under the append
/// lock, the rest any thread.
class DiskGuard {
public:
    /// `onFull` is called, on the writer's thread, when messages begin to be refused: it wakes who makes room.
    DiskGuard(FileSystem& files, const Clock& clock, const StoreTunables& tunables, const Layout& layout,
              std::function<void()> onFull)
        : files_(files), clock_(clock), tunables_(tunables), layout_(layout), onFull_(std::move(onFull)) {}

    /// Ok, or Full with path, used, limit and key.
    [[nodiscard]] Status check();
    /// The last answer of check().
    [[nodiscard]] Status last() const;
    /// The same failure, with what is known about the disk when it is full.
    [[nodiscard]] Status explain(const Status& failure);

    struct Look {
        DiskLevel level = DiskLevel::Roomy;
        std::string text;  ///< path, used, limit and key, when the level is not Roomy
    };
    /// `released`: bytes that are about to become free.
    [[nodiscard]] Look look(std::uint64_t released = 0) const;
    /// Whether a directory should get no new files, as long as another one can.
    [[nodiscard]] bool isCrowded(const std::string& directory) const;
    /// Used share of the log's disk, 0…1; -1 when it cannot be told.
    [[nodiscard]] double ratio() const;
    [[nodiscard]] double ratio(const std::string& directory) const;
    [[nodiscard]] Result<DiskSpace> space() const { return files_.space(layout_.logs.front()); }

private:
    static constexpr std::chrono::seconds kInterval{1};

    [[nodiscard]] Look lookAt(const std::string& directory, std::uint64_t released) const;
    [[nodiscard]] bool byBytes() const noexcept;
    [[nodiscard]] std::string limits(DiskLevel level) const;

    FileSystem& files_;
    const Clock& clock_;
    const StoreTunables& tunables_;
    const Layout& layout_;
    const std::function<void()> onFull_;
    MonotonicTime next_{};   // append lock, like the next two
    bool full_ = false;
    Status last_;
    mutable std::mutex mutex_;
    Status shown_;           // guarded by mutex_
};

}  // namespace patchbay::mmapstore
