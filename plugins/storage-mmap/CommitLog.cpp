#include "CommitLog.h"

#include "Aside.h"

#include <algorithm>

namespace patchbay::mmapstore {

namespace {

constexpr std::uint64_t kStepBytes = 1U << 20;
constexpr std::uint64_t kWholeBytes = 8U << 20;  // of a file, that are looked at without a gap
constexpr std::size_t kProbeBytes = 65'536;      // of each step behind them

/// Whether a file was never written. Its first page tells nearly always, but a power cut may have taken just that. Most such files
/// were made in advance, and to read a gigabyte of zeros takes seconds: of what is far behind the beginning a part is enough, since
/// the log is written in order.
Result<bool> isZero(const File& file) {
    std::vector<char> piece(kStepBytes);
    for (std::uint64_t at = 0;; at += kStepBytes) {
        const std::size_t wanted = at < kWholeBytes ? kStepBytes : kProbeBytes;
        const Result<std::size_t> got = file.readAt(std::span(piece).first(wanted), at);
        if (!got) return got.error();
        if (!std::all_of(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*got), [](char c) { return c == 0; })) return false;
        if (*got < wanted) return true;
    }
}

}  // namespace

Result<std::vector<CommitLog::Found>> CommitLog::findFiles() const {
    std::vector<Found> found;
    for (std::size_t i = 0; i < layout_.logs.size(); ++i) {
        const std::string& directory = layout_.logs[i];
        if (i < layout_.logsWritten) {
            if (Status made = files_.makeDirectories(directory); !made) return made;
        }
        Result<std::vector<FileInfo>> listed = files_.list(directory);
        if (!listed) return listed.error();
        for (FileInfo& info : *listed) {
            if (info.directory) continue;
            if (!parseFileName(info.name)) {
                return Status(StatusCode::Corrupt, directory + "/" + info.name + " is not a commit-log file; move it elsewhere");
            }
            found.push_back({i, std::move(info)});
        }
    }
    std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.info.name < b.info.name; });
    for (std::size_t i = 1; i < found.size(); ++i) {
        if (found[i].info.name != found[i - 1].info.name) continue;
        return Status(StatusCode::Corrupt, pathOf(found[i - 1]) + " and " + pathOf(found[i]) +
                                               " are the same part of the log; move the wrong one elsewhere");
    }
    return found;
}

Status CommitLog::open(std::int64_t durable) {
    const Result<std::vector<Found>> found = findFiles();
    if (!found) return found.error();
    for (std::size_t i = 0; i < found->size(); ++i) {
        const Found& file = (*found)[i];
        const std::int64_t start = *parseFileName(file.info.name);
        const bool last = i + 1 == found->size();
        const std::string path = pathOf(file);
        if (last && file.info.size == 0) {
            if (Status removed = files_.remove(path); !removed) return removed;
            log_.warn("removed an empty commit-log file", {{"file", path}});
            break;
        }
        if (file.info.size == 0 && start > durable && !starts_.empty()) {
            log_.warn("a crash left a commit-log file without its bytes; the log ends before it", {{"file", path}});
            if (Status gone = putAwayFrom(*found, i); !gone) return gone;
            break;
        }
        if (Status good = checkSize(file, last); !good) return good;
        if (!starts_.empty() && start != starts_.back() + segmentBytes_) {
            log_.warn("commit-log files are missing", {{"after", starts_.back()}, {"before", start}});
        }
        starts_.push_back(start);
        paths_.push_back(path);
    }
    min_.store(starts_.empty() ? 0 : starts_.front(), std::memory_order_release);
    return Status::ok();
}

Status CommitLog::checkSize(const Found& found, bool last) {
    const std::string path = pathOf(found);
    const auto wanted = static_cast<std::uint64_t>(segmentBytes_);
    if (*parseFileName(found.info.name) % segmentBytes_ == 0) {
        if (found.info.size == wanted) return Status::ok();
        if (last && found.info.size < wanted) {
            Result<std::unique_ptr<File>> file = files_.open(path, OpenMode::ReadWrite);
            if (!file) return file.error();
            log_.warn("extended a short commit-log file", {{"file", path}, {"bytes", found.info.size}});
            return SegmentAllocator::reserve(**file, segmentBytes_);
        }
    }
    return {StatusCode::Corrupt, path + " has " + std::to_string(found.info.size) + " bytes, mappedFileSizeCommitLog is " +
                                     std::to_string(segmentBytes_) +
                                     "; set it to the size of the files, or restore the file from a copy"};
}

std::string CommitLog::placeOf(std::int64_t start) const {
    std::vector<std::string> choice(layout_.logs.begin(), layout_.logs.begin() + static_cast<std::ptrdiff_t>(layout_.logsWritten));
    if (choice.size() > 1) {
        std::sort(choice.begin(), choice.end());
        std::vector<std::string> roomy;
        for (const std::string& directory : choice) {
            if (!isCrowded_ || !isCrowded_(directory)) roomy.push_back(directory);
        }
        if (!roomy.empty()) choice.swap(roomy);
    }
    return choice[static_cast<std::size_t>(start / segmentBytes_) % choice.size()] + "/" + fileName(start);
}

std::string CommitLog::path(std::int64_t start) const {
    {
        const std::lock_guard lock(mutex_);
        const auto at = std::lower_bound(starts_.begin(), starts_.end(), start);
        if (at != starts_.end() && *at == start) return paths_[static_cast<std::size_t>(at - starts_.begin())];
    }
    return layout_.logs.front() + "/" + fileName(start);
}

std::vector<std::int64_t> CommitLog::segments() const {
    const std::lock_guard lock(mutex_);
    return starts_;
}

bool CommitLog::holds(std::int64_t position) const {
    const std::lock_guard lock(mutex_);
    return std::binary_search(starts_.begin(), starts_.end(), segmentStart(position));
}

CommitLog::Segment* CommitLog::writer(std::int64_t start) const noexcept {
    for (const Ref<Segment>& segment : writers_) {
        if (segment->start == start) return segment.get();
    }
    return nullptr;
}

void CommitLog::use(std::int64_t start, std::unique_ptr<File> file) {
    const std::string path = file->path();
    writers_.push_back(Ref<Segment>::adopt(new Segment(start, std::move(file))));
    const std::lock_guard lock(mutex_);
    if (starts_.empty() || starts_.back() < start) {
        starts_.push_back(start);
        paths_.push_back(path);
    }
    if (starts_.size() == 1) min_.store(start, std::memory_order_release);
}

void CommitLog::settle(std::int64_t position) noexcept {
    std::erase_if(writers_, [&](const Ref<Segment>& segment) { return segment->start < segmentStart(position); });
}

Status CommitLog::cut(std::int64_t position, bool clear) {
    const std::int64_t start = segmentStart(position);
    while (!starts_.empty() && starts_.back() > start) {
        const std::string path = std::move(paths_.back());
        paths_.pop_back();
        starts_.pop_back();
        if (Status gone = putAway(path); !gone) return gone;
        // Before anything else is written: a file that comes back with the next power cut would be taken for the newest part of
        // the log. One by one, so that no hole can appear among them.
        if (Status synced = files_.syncDirectory(path.substr(0, path.rfind('/'))); !synced) return synced;
    }
    if (starts_.empty() || starts_.back() != start) {
        Result<std::unique_ptr<File>> made = allocator_.take(start);
        if (!made) return made.error();
        use(start, std::move(*made));
        return Status::ok();
    }
    Result<std::unique_ptr<File>> file = files_.open(path(start), OpenMode::ReadWrite);
    if (!file) return file.error();
    if (clear) {
        // Shortening and extending is the quickest way to zeros, and the blocks are reserved again.
        if (Status cutOff = (*file)->truncate(static_cast<std::uint64_t>(position - start)); !cutOff) return cutOff;
        if (Status grown = SegmentAllocator::reserve(**file, segmentBytes_); !grown) return grown;
    }
    use(start, std::move(*file));
    // A killed process may have left what was found here in the page cache only.
    writers_.back()->unsynced.store(true);
    const std::lock_guard lock(mutex_);
    unsynced_.push_back(writers_.back());
    return Status::ok();
}

std::string CommitLog::asideOf(std::int64_t position) const {
    const std::string file = path(segmentStart(position));
    return file.substr(0, file.rfind('/')) + "/aside";
}

Status CommitLog::putAway(const std::string& path) {
    Result<std::unique_ptr<File>> file = files_.open(path, OpenMode::Read);
    if (!file) return file.error();
    const Result<bool> unwritten = isZero(**file);
    if (!unwritten) return unwritten.error();
    if (*unwritten) return files_.remove(path);  // made in advance
    const std::size_t slash = path.rfind('/');
    const std::string aside = path.substr(0, slash) + "/aside";
    if (Status made = files_.makeDirectories(aside); !made) return made;
    const std::string to = freeName(files_, aside + path.substr(slash));
    if (Status moved = files_.rename(path, to); !moved) return moved;
    log_.warn("a commit-log file behind the end of the log was set aside", {{"file", path}, {"to", to}, {"bytes", segmentBytes_}});
    return files_.syncDirectory(aside);
}

Status CommitLog::putAwayFrom(const std::vector<Found>& found, std::size_t first) {
    // From the end, so that no hole can appear among them.
    for (std::size_t i = found.size(); i-- > first;) {
        const std::string path = pathOf(found[i]);
        if (Status gone = putAway(path); !gone) return gone;
        if (Status synced = files_.syncDirectory(directoryOf(path)); !synced) return synced;
    }
    return Status::ok();
}

Status CommitLog::roll(std::int64_t start) {
    if (writer(start) != nullptr) return Status::ok();
    Result<std::unique_ptr<File>> file = allocator_.take(start);
    if (!file) return file.error();
    use(start, std::move(*file));
    return Status::ok();
}

Status CommitLog::write(std::int64_t position, std::string_view bytes) {
    Segment* const segment = writer(segmentStart(position));
    PATCHBAY_ASSERT(segment != nullptr);
    const std::int64_t at = position - segment->start;
    const auto size = static_cast<std::int64_t>(bytes.size());
    PATCHBAY_ASSERT(at + size <= segmentBytes_);
    if (at + size > segmentBytes_ / 2 && at <= segmentBytes_ / 2) allocator_.prepare(segment->start + segmentBytes_);
    const Status written = segment->file->writeAt(bytes, static_cast<std::uint64_t>(at));
    if (!segment->unsynced.exchange(true)) {
        const std::lock_guard lock(mutex_);
        unsynced_.push_back(Ref<Segment>::share(segment));
    }
    return written;
}

Status CommitLog::sync() {
    std::vector<Ref<Segment>> waiting;
    {
        const std::lock_guard lock(mutex_);
        waiting.swap(unsynced_);
    }
    for (const Ref<Segment>& segment : waiting) {
        segment->unsynced.store(false);
        if (Status synced = segment->file->sync(); !synced) return synced;
    }
    return Status::ok();
}

std::vector<std::string> CommitLog::forget(std::int64_t position) {
    std::vector<std::string> dropped;
    const std::lock_guard lock(mutex_);
    while (starts_.size() > 1 && starts_.front() + segmentBytes_ <= position) {
        dropped.push_back(std::move(paths_.front()));
        starts_.erase(starts_.begin());
        paths_.erase(paths_.begin());
    }
    if (!starts_.empty()) min_.store(starts_.front(), std::memory_order_release);
    return dropped;
}

}  // namespace patchbay::mmapstore
