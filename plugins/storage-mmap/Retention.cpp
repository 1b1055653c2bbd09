#include "Retention.h"

#include "patchbay/protocol/message/MessageRecord.h"

#include <algorithm>
#include <array>
#include <ctime>

namespace patchbay::mmapstore {

namespace {

constexpr std::chrono::milliseconds kLeavingFor{1000};
constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::size_t kHeadBytes = 88;  // holds the store time whatever the hosts are

/// Store time of the record at the start of a file; 0 when there is none.
std::int64_t firstStoreTime(const CommitLog& log, std::int64_t start) {
    const Result<std::unique_ptr<File>> file = log.openForRead(start);
    if (!file) return 0;
    std::array<char, kHeadBytes> head{};
    const Result<std::size_t> got = (*file)->readAt(head, 0);
    if (!got || *got < kHeadBytes) return 0;
    const std::int32_t magic = protocol::loadI32(head.data() + protocol::kRecordMagicAt);
    if (magic != protocol::kRecordMagicV1 && magic != protocol::kRecordMagicV2) return 0;
    return protocol::loadI64(head.data() + protocol::recordStoreTimestampAt(protocol::loadI32(head.data() + protocol::kRecordSysFlagAt)));
}

}  // namespace

Retention::Retention(Parts parts) noexcept
    : p_(std::move(parts)), wallAtStart_(p_.clock.wallMs()), startedAt_(p_.clock.now()) {}

std::int64_t Retention::nowMs() const noexcept {
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(p_.clock.now() - startedAt_);
    return std::min(p_.clock.wallMs(), wallAtStart_ + elapsed.count());
}

bool Retention::isHour() const {
    const std::time_t seconds = p_.clock.wallMs() / 1000;
    std::tm time{};
    ::localtime_r(&seconds, &time);
    return (p_.tunables.deleteHours.load(std::memory_order_relaxed) >> time.tm_hour & 1) != 0;
}

bool Retention::isExpired(const std::vector<std::int64_t>& segments) {
    const std::int64_t hours = p_.tunables.reservedHours.load(std::memory_order_relaxed);
    if (hours <= 0) return false;
    if (asked_ != segments[0]) {
        // A file was written until the next one began; its time of modification would change when it is copied.
        askedTime_ = firstStoreTime(p_.commitLog, segments[1]);
        if (askedTime_ <= 0) return false;
        asked_ = segments[0];
    }
    return askedTime_ + hours * kHourMs <= nowMs();
}

std::string Retention::reason(const std::vector<std::int64_t>& segments) {
    const std::int64_t bytes = static_cast<std::int64_t>(segments.size()) * p_.commitLog.segmentBytes();
    const std::int64_t bytesMax = p_.tunables.logBytesMax.load(std::memory_order_relaxed);
    if (bytesMax > 0 && bytes > bytesMax) {
        return "the log has " + std::to_string(bytes) + " bytes, commitLogBytesMax is " + std::to_string(bytesMax);
    }
    const auto left = static_cast<std::int64_t>(leaving_.size()) * p_.commitLog.segmentBytes();
    const DiskGuard::Look disk = p_.guard.look(static_cast<std::uint64_t>(left));
    const bool forced = disk.level >= DiskLevel::Clean && p_.tunables.cleanForcibly.load(std::memory_order_relaxed) != 0;
    if ((disk.level >= DiskLevel::Expire || isHour()) && isExpired(segments)) {
        return "its messages are older than " + std::to_string(p_.tunables.reservedHours.load(std::memory_order_relaxed)) +
               " hours (fileReservedTime)";
    }
    if (!forced) return {};
    p_.log.limited(plugin::LogLevel::Warn, "messages that are not too old are removed, because the disk fills up",
                   {{"reason", disk.text}});
    return disk.text;
}

std::chrono::milliseconds Retention::turn() {
    const std::lock_guard lock(mutex_);
    closeLeft();
    removePending();
    const std::chrono::milliseconds interval(p_.tunables.cleanIntervalMs.load(std::memory_order_relaxed));
    const MonotonicTime now = p_.clock.now();
    if (now >= batchEnds_) {
        batchEnds_ = now + interval;
        inBatch_ = 0;
    }
    const std::vector<std::int64_t> segments = p_.commitLog.segments();
    const bool mayRemove = segments.size() > 1 && inBatch_ < p_.tunables.deleteBatchMax.load(std::memory_order_relaxed);
    if (const std::string why = mayRemove ? reason(segments) : std::string(); !why.empty()) {
        ++inBatch_;
        p_.log.info("removing a commit-log file", {{"file", p_.commitLog.path(segments.front())}, {"reason", why}});
        (void)remove(segments.front() + p_.commitLog.segmentBytes());
        return std::chrono::milliseconds(p_.tunables.deletePauseMs.load(std::memory_order_relaxed));
    }
    if (!leaving_.empty()) return std::min(interval, kLeavingFor);
    // With one file there is nothing to look for until there are two.
    return segments.size() > 1 || !pending_.empty() ? interval : SegmentAllocator::kNever;
}

Status Retention::trim(std::int64_t position) {
    const std::lock_guard lock(mutex_);
    return remove(position);
}

Status Retention::remove(std::int64_t position) {
    std::vector<std::string> paths = p_.commitLog.forget(position);
    if (paths.empty()) return Status::ok();
    // Who reads from now on is told where the log begins; the files go when nobody begins with them any more.
    p_.minMoved();
    pending_.insert(pending_.end(), std::make_move_iterator(paths.begin()), std::make_move_iterator(paths.end()));
    removePending();
    return pending_.empty() ? Status::ok() : Status(StatusCode::Io, pending_.front() + " cannot be removed");
}

void Retention::removePending() {
    std::size_t gone = 0;
    for (const std::string& path : pending_) {
        // Kept open: the blocks are freed when this is closed, on this thread, and not when a reader is done.
        Result<std::unique_ptr<File>> file = p_.files.open(path, OpenMode::Read);
        Status removed = p_.files.remove(path);
        // In order and each durable before the next: after a power cut the log has no holes.
        if (removed) removed = p_.files.syncDirectory(path.substr(0, path.rfind('/')));
        if (!removed && removed.code() != StatusCode::NotFound) {
            p_.log.limited(plugin::LogLevel::Warn, "a commit-log file cannot be removed", {{"error", removed.toString()}});
            break;
        }
        ++gone;
        if (file) leaving_.push_back({std::move(*file), p_.clock.now() + kLeavingFor});
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(gone));
}

void Retention::closeLeft() {
    const MonotonicTime now = p_.clock.now();
    std::erase_if(leaving_, [&](const Leaving& leaving) { return now >= leaving.until; });
}

}  // namespace patchbay::mmapstore
