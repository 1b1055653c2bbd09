#include "ReadWindows.h"

#include <algorithm>

namespace patchbay::mmapstore {

namespace {

constexpr std::int64_t kOverlapBytes = 8 << 20;
constexpr std::int64_t kPageBytes = 4096;

}  // namespace

ReadWindows::ReadWindows(const CommitLog& log, std::int64_t windowBytes, std::int64_t windowsMax) noexcept
    : log_(log),
      windowBytes_(std::min(log.segmentBytes(), (windowBytes + kPageBytes - 1) / kPageBytes * kPageBytes)),
      windowsMax_(static_cast<std::size_t>(windowsMax)) {}

Result<Window> ReadWindows::find(std::int64_t position, std::int64_t bytes) {
    const std::int64_t segment = log_.segmentStart(position);
    const std::int64_t segmentEnd = segment + log_.segmentBytes();
    if (bytes > segmentEnd - position) {
        return Status(StatusCode::Corrupt, "a record at " + std::to_string(position) + " would cross the end of its file");
    }
    const std::int64_t from = segment + (position - segment) / windowBytes_ * windowBytes_;
    const std::int64_t to = std::min(segmentEnd, from + windowBytes_ + kOverlapBytes);
    if (bytes > to - position) return map(position, position + bytes);
    {
        const std::lock_guard lock(mutex_);
        for (Kept& kept : kept_) {
            if (kept.window.from != from) continue;
            kept.used = ++clock_;
            return kept.window;
        }
    }
    Result<Window> fresh = map(from, to);
    if (!fresh) return fresh;
    const std::lock_guard lock(mutex_);
    // Two readers may have mapped the same one: the later copy serves its reader and is not kept.
    const bool known = std::any_of(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.window.from == from; });
    if (!known) {
        if (kept_.size() >= windowsMax_) {
            kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                                         [](const Kept& a, const Kept& b) { return a.used < b.used; }));
        }
        kept_.push_back({*fresh, ++clock_});
    }
    return fresh;
}

void ReadWindows::dropBelow(std::int64_t position) noexcept {
    std::vector<Kept> gone;  // unmapped when nobody waits for the lock any more
    const std::lock_guard lock(mutex_);
    const auto from = std::partition(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.window.from >= position; });
    gone.assign(std::make_move_iterator(from), std::make_move_iterator(kept_.end()));
    kept_.erase(from, kept_.end());
}

Result<Window> ReadWindows::map(std::int64_t from, std::int64_t to) const {
    const std::int64_t start = log_.segmentStart(from);
    Result<std::unique_ptr<File>> file = log_.openForRead(start);
    if (!file) return unreadable(start, file.error());
    Result<Ref<Mapping>> mapping = (*file)->map(static_cast<std::uint64_t>(from - start), static_cast<std::size_t>(to - from));
    if (!mapping) return unreadable(start, mapping.error());
    return Window{from, to, Ref<Residency>::adopt(new Residency(std::move(*mapping)))};
}

Status ReadWindows::unreadable(std::int64_t start, const Status& failure) const {
    // It may have been removed meanwhile. One that the log has and the disk has not is a fault: its messages are not given up.
    if (!log_.holds(start)) return {StatusCode::NotFound, "the commit log has no file at " + std::to_string(start)};
    return {StatusCode::Io, failure.message()};
}

}  // namespace patchbay::mmapstore
