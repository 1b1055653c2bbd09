#include "ReadWindows.h"

#include <algorithm>

namespace patchbay::mmapstore {

namespace {

constexpr std::int64_t kOverlapBytesMax = 8 << 20;
constexpr std::int64_t kPageBytes = 4096;

constexpr std::int64_t wholePages(std::int64_t bytes) noexcept {
    return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace

/// A mapped part that counts while anybody holds it.
class ReadWindows::Part final : public Residency {
public:
    Part(Ref<Mapping> mapping, Ref<Mapped> mapped) : Residency(std::move(mapping)), mapped_(std::move(mapped)) {
        mapped_->bytes.fetch_add(size(), std::memory_order_relaxed);
    }
    ~Part() override { mapped_->bytes.fetch_sub(size(), std::memory_order_relaxed); }

private:
    [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(mapping()->bytes().size()); }

    const Ref<Mapped> mapped_;
};

ReadWindows::ReadWindows(const CommitLog& log, const Limits& limits)
    : log_(log),
      windowBytes_(std::min(log.segmentBytes(), wholePages(limits.windowBytes))),
      overlapBytes_(overlapOf(windowBytes_)),
      windowsMax_(static_cast<std::size_t>(limits.windowsMax)),
      bytesMax_(limits.bytesMax) {}

std::int64_t ReadWindows::overlapOf(std::int64_t windowBytes) noexcept {
    return std::min(kOverlapBytesMax, wholePages(windowBytes / 4));
}

Result<Window> ReadWindows::find(std::int64_t position, std::int64_t bytes) {
    const std::int64_t segment = log_.segmentStart(position);
    const std::int64_t segmentEnd = segment + log_.segmentBytes();
    if (bytes > segmentEnd - position) {
        return Status(StatusCode::Corrupt, "a record at " + std::to_string(position) + " would cross the end of its file");
    }
    const std::int64_t from = segment + (position - segment) / windowBytes_ * windowBytes_;
    const std::int64_t to = std::min(segmentEnd, from + windowBytes_ + overlapBytes_);
    if (bytes > to - position) return map(position, position + bytes);
    {
        const std::lock_guard lock(mutex_);
        for (Kept& kept : kept_) {
            if (kept.window.from != from) continue;
            kept.used = ++clock_;
            return kept.window;
        }
    }
    if (!makeRoom(to - from)) return map(position, position + bytes);
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

bool ReadWindows::makeRoom(std::int64_t bytes) {
    while (mappedBytes() > bytesMax_ - bytes) {
        Kept gone;  // unmapped without the lock, when nobody else holds it
        const std::lock_guard lock(mutex_);
        if (kept_.empty()) return false;
        const auto oldest = std::min_element(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
        gone = std::move(*oldest);
        kept_.erase(oldest);
    }
    return true;
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
    return Window{from, to, Ref<Residency>::adopt(new Part(std::move(*mapping), mapped_))};
}

Status ReadWindows::unreadable(std::int64_t start, const Status& failure) const {
    // It may have been removed meanwhile. One that the log has and the disk has not is a fault: its messages are not given up.
    if (!log_.holds(start)) return {StatusCode::NotFound, "the commit log has no file at " + std::to_string(start)};
    return {StatusCode::Io, failure.message()};
}

}  // namespace patchbay::mmapstore
