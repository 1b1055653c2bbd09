#include "DiskReserve.h"

namespace patchbay::plugins::sqlite {

namespace {

std::string spaceText(const std::string& directory, const DiskSpace& space) {
    return "the disk under " + directory + " has " + std::to_string(space.freeBytes) + " of " + std::to_string(space.totalBytes) + " bytes free";
}

}  // namespace

Status DiskReserve::check() {
    const MonotonicTime now = clock_.now();
    if (freeBytesMin_ == 0 || now < next_) return last_;
    next_ = now + kInterval;
    last_ = Status::ok();
    const auto space = files_.space(directory_);
    if (space && space->freeBytes < static_cast<std::uint64_t>(freeBytesMin_)) {
        last_ = {StatusCode::Full, spaceText(directory_, *space) + "; sqliteDiskFreeBytesMin asks for " + std::to_string(freeBytesMin_)};
    }
    return last_;
}

Status DiskReserve::explain(const Status& failure) const {
    if (failure.code() != StatusCode::Full || failure.message() == last_.message()) return failure;
    const auto space = files_.space(directory_);
    if (!space) return failure;
    return {StatusCode::Full, failure.message() + "; " + spaceText(directory_, *space) + ": free some, or move storePathSqlite"};
}

}  // namespace patchbay::plugins::sqlite
