#include "DiskGuard.h"

#include <algorithm>

namespace patchbay::mmapstore {

namespace {

/// Whole percents, rounded up, as RocketMQ counts.
std::uint64_t usedPercent(const DiskSpace& space) noexcept {
    const std::uint64_t onePercent = space.totalBytes / 100;
    return onePercent == 0 ? 0 : (space.totalBytes - space.freeBytes + onePercent - 1) / onePercent;
}

std::uint64_t value(const std::atomic<std::int64_t>& tunable) noexcept {
    return static_cast<std::uint64_t>(tunable.load(std::memory_order_relaxed));
}

}  // namespace

bool DiskGuard::byBytes() const noexcept {
    return value(tunables_.diskFreeBytesMin) > 0 || value(tunables_.diskCleanFreeBytes) > 0;
}

std::string DiskGuard::limits(DiskLevel level) const {
    if (byBytes()) {
        if (level == DiskLevel::Clean) {
            return "diskSpaceCleanFreeBytes removes the oldest messages below " + std::to_string(value(tunables_.diskCleanFreeBytes));
        }
        return "diskSpaceFreeBytesMin asks for " + std::to_string(value(tunables_.diskFreeBytesMin));
    }
    const std::string clean = std::to_string(value(tunables_.diskCleanPercent)) + " %";
    if (level == DiskLevel::Clean) return "diskSpaceCleanForciblyRatio removes the oldest messages above " + clean;
    if (level == DiskLevel::Expire) {
        return "diskMaxUsedSpaceRatio removes old messages above " + std::to_string(value(tunables_.diskExpirePercent)) + " %";
    }
    return "diskSpaceWarningLevelRatio refuses messages above " + std::to_string(value(tunables_.diskWarningPercent)) +
           " %, diskSpaceCleanForciblyRatio accepts them again at " + clean;
}

DiskGuard::Look DiskGuard::lookAt(const std::string& directory, std::uint64_t released) const {
    Result<DiskSpace> space = files_.space(directory);
    // A disk that does not answer is found out by writing to it.
    if (!space) return {};
    space->freeBytes = std::min(space->totalBytes, space->freeBytes + released);
    const std::uint64_t used = usedPercent(*space);
    Look result;
    if (byBytes()) {
        if (space->freeBytes < value(tunables_.diskCleanFreeBytes)) result.level = DiskLevel::Clean;
        if (space->freeBytes < value(tunables_.diskFreeBytesMin)) result.level = DiskLevel::Refuse;
    } else if (used > value(tunables_.diskWarningPercent)) {
        result.level = DiskLevel::Refuse;
    } else if (used > value(tunables_.diskCleanPercent)) {
        result.level = DiskLevel::Clean;
    } else if (used > value(tunables_.diskExpirePercent)) {
        result.level = DiskLevel::Expire;
    }
    if (result.level == DiskLevel::Roomy) return result;
    result.text = "the disk under " + directory + " has " + std::to_string(space->freeBytes) + " of " +
                  std::to_string(space->totalBytes) + " bytes free (" + std::to_string(used) + " % used); " + limits(result.level);
    return result;
}

DiskGuard::Look DiskGuard::look(std::uint64_t released) const {
    Look log = lookAt(layout_.logs.front(), released);
    for (std::size_t i = 1; i < layout_.logsWritten; ++i) {
        if (Look other = lookAt(layout_.logs[i], released); other.level < log.level) log = std::move(other);
    }
    Look root = lookAt(layout_.root, released);
    return root.level > log.level ? root : log;
}

Status DiskGuard::check() {
    const MonotonicTime now = clock_.now();
    if (now < next_) return last_;
    next_ = now + kInterval;
    Look found = look();
    // Between the two ratios it stays as it is.
    const bool stays = full_ && !byBytes() && found.level == DiskLevel::Clean;
    const bool full = found.level == DiskLevel::Refuse || stays;
    if (stays) found.text.append("; ").append(limits(DiskLevel::Refuse));
    if (!full && !full_) return last_;
    last_ = full ? Status(StatusCode::Full, std::move(found.text)) : Status::ok();
    const bool begins = full && !full_;
    full_ = full;
    {
        const std::lock_guard lock(mutex_);
        shown_ = last_;
    }
    if (begins) onFull_();
    return last_;
}

Status DiskGuard::last() const {
    const std::lock_guard lock(mutex_);
    return shown_;
}

Status DiskGuard::explain(const Status& failure) {
    if (failure.code() != StatusCode::Full) return failure;
    const std::string& directory = layout_.logs.front();
    const Result<DiskSpace> space = files_.space(directory);
    if (last_) onFull_();
    // What check() found says it all already.
    if (!space || failure.message() == last_.message()) return failure;
    return {StatusCode::Full, failure.message() + "; the disk under " + directory + " has " + std::to_string(space->freeBytes) +
                                  " of " + std::to_string(space->totalBytes) + " bytes free (" +
                                  std::to_string(usedPercent(*space)) + " % used); " + limits(DiskLevel::Refuse) +
                                  ": free space or move storePathRootDir"};
}

bool DiskGuard::isCrowded(const std::string& directory) const {
    return lookAt(directory, 0).level >= DiskLevel::Clean;
}

double DiskGuard::ratio(const std::string& directory) const {
    const Result<DiskSpace> space = files_.space(directory);
    if (!space || space->totalBytes == 0) return -1;
    return static_cast<double>(space->totalBytes - space->freeBytes) / static_cast<double>(space->totalBytes);
}

double DiskGuard::ratio() const {
    double least = -1;
    for (std::size_t i = 0; i < layout_.logsWritten; ++i) {
        const double used = ratio(layout_.logs[i]);
        if (used >= 0 && (least < 0 || used < least)) least = used;
    }
    return least;
}

}  // namespace patchbay::mmapstore
