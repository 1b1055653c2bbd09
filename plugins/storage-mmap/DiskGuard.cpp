#include "DiskGuard.h"

namespace patchbay::mmapstore {

namespace {

/// Whole percents, rounded up, as RocketMQ counts.
std::uint64_t usedPercent(const DiskSpace& space) noexcept {
    const std::uint64_t onePercent = space.totalBytes / 100;
    return onePercent == 0 ? 0 : (space.totalBytes - space.freeBytes + onePercent - 1) / onePercent;
}

}  // namespace

Status DiskGuard::check() {
    const MonotonicTime now = clock_.now();
    if (now < next_) return last_;
    next_ = now + kInterval;
    last_ = Status::ok();
    const Result<DiskSpace> space = files_.space(path_);
    // A disk that does not answer is found out by writing to it.
    if (!space) return last_;
    const std::int64_t freeMin = tunables_.diskFreeBytesMin.load(std::memory_order_relaxed);
    const std::string there = "the disk under " + path_ + " has " + std::to_string(space->freeBytes) + " of " +
                              std::to_string(space->totalBytes) + " bytes free";
    if (freeMin > 0) {
        full_ = space->freeBytes < static_cast<std::uint64_t>(freeMin);
        if (full_) last_ = {StatusCode::Full, there + ", diskSpaceFreeBytesMin asks for " + std::to_string(freeMin)};
        return last_;
    }
    const std::uint64_t used = usedPercent(*space);
    const auto limit = static_cast<std::uint64_t>(tunables_.diskWarningPercent.load(std::memory_order_relaxed));
    const auto resume = static_cast<std::uint64_t>(tunables_.diskResumePercent.load(std::memory_order_relaxed));
    full_ = full_ ? used > resume : used > limit;
    if (full_) {
        last_ = {StatusCode::Full, there + " (" + std::to_string(used) + " % used); diskSpaceWarningLevelRatio refuses messages above " +
                                       std::to_string(limit) + " %, diskSpaceCleanForciblyRatio accepts them again at " +
                                       std::to_string(resume) + " %"};
    }
    return last_;
}

Status DiskGuard::explain(const Status& failure) const {
    if (failure.code() != StatusCode::Full) return failure;
    const Result<DiskSpace> space = files_.space(path_);
    if (!space) return failure;
    return {StatusCode::Full, failure.message() + "; the disk under " + path_ + " has " + std::to_string(space->freeBytes) +
                                  " of " + std::to_string(space->totalBytes) + " bytes free (" +
                                  std::to_string(usedPercent(*space)) + " % used); diskSpaceWarningLevelRatio is " +
                                  std::to_string(tunables_.diskWarningPercent.load(std::memory_order_relaxed)) +
                                  " %: free space or move storePathRootDir"};
}

double DiskGuard::ratio() const {
    const Result<DiskSpace> space = files_.space(path_);
    if (!space || space->totalBytes == 0) return -1;
    return static_cast<double>(space->totalBytes - space->freeBytes) / static_cast<double>(space->totalBytes);
}

}  // namespace patchbay::mmapstore
