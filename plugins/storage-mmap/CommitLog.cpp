#include "CommitLog.h"

#include <algorithm>

namespace patchbay::mmapstore {

Status CommitLog::open() {
    if (Status made = files_.makeDirectories(layout_.log); !made) return made;
    Result<std::vector<FileInfo>> listed = files_.list(layout_.log);
    if (!listed) return listed.error();
    std::vector<FileInfo> found;
    for (FileInfo& info : *listed) {
        if (info.directory) continue;
        if (!parseFileName(info.name)) {
            return {StatusCode::Corrupt, layout_.log + "/" + info.name + " is not a commit-log file; move it elsewhere"};
        }
        found.push_back(std::move(info));
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::int64_t start = *parseFileName(found[i].name);
        const bool last = i + 1 == found.size();
        if (last && found[i].size == 0) {
            if (Status removed = files_.remove(layout_.segment(start)); !removed) return removed;
            log_.warn("removed an empty commit-log file", {{"file", layout_.segment(start)}});
            break;
        }
        if (Status good = checkSize(found[i], last); !good) return good;
        if (!starts_.empty() && start != starts_.back() + segmentBytes_) {
            log_.warn("commit-log files are missing", {{"after", starts_.back()}, {"before", start}});
        }
        starts_.push_back(start);
    }
    min_.store(starts_.empty() ? 0 : starts_.front(), std::memory_order_release);
    return Status::ok();
}

Status CommitLog::checkSize(const FileInfo& info, bool last) {
    const std::string path = layout_.log + "/" + info.name;
    const auto wanted = static_cast<std::uint64_t>(segmentBytes_);
    if (*parseFileName(info.name) % segmentBytes_ == 0) {
        if (info.size == wanted) return Status::ok();
        if (last && info.size < wanted) {
            Result<std::unique_ptr<File>> file = files_.open(path, OpenMode::ReadWrite);
            if (!file) return file.error();
            log_.warn("extended a short commit-log file", {{"file", path}, {"bytes", info.size}});
            return (*file)->allocate(0, wanted);
        }
    }
    return {StatusCode::Corrupt, path + " has " + std::to_string(info.size) + " bytes, mappedFileSizeCommitLog is " +
                                     std::to_string(segmentBytes_) +
                                     "; set it to the size of the files, or restore the file from a copy"};
}

std::vector<std::int64_t> CommitLog::segments() const {
    const std::lock_guard lock(mutex_);
    return starts_;
}

CommitLog::Segment* CommitLog::writer(std::int64_t start) const noexcept {
    for (const Ref<Segment>& segment : writers_) {
        if (segment->start == start) return segment.get();
    }
    return nullptr;
}

void CommitLog::use(std::int64_t start, std::unique_ptr<File> file) {
    writers_.push_back(Ref<Segment>::adopt(new Segment(start, std::move(file))));
    const std::lock_guard lock(mutex_);
    if (starts_.empty() || starts_.back() < start) starts_.push_back(start);
    if (starts_.size() == 1) min_.store(start, std::memory_order_release);
}

void CommitLog::settle(std::int64_t position) noexcept {
    std::erase_if(writers_, [&](const Ref<Segment>& segment) { return segment->start < segmentStart(position); });
}

Status CommitLog::cut(std::int64_t position, bool clear) {
    const std::int64_t start = segmentStart(position);
    while (!starts_.empty() && starts_.back() > start) {
        if (Status removed = files_.remove(layout_.segment(starts_.back())); !removed) return removed;
        starts_.pop_back();
    }
    if (starts_.empty() || starts_.back() != start) {
        Result<std::unique_ptr<File>> made = allocator_.take(start);
        if (!made) return made.error();
        use(start, std::move(*made));
        return Status::ok();
    }
    Result<std::unique_ptr<File>> file = files_.open(layout_.segment(start), OpenMode::ReadWrite);
    if (!file) return file.error();
    if (clear) {
        // Shortening and extending is the quickest way to zeros, and the blocks are reserved again.
        if (Status cutOff = (*file)->truncate(static_cast<std::uint64_t>(position - start)); !cutOff) return cutOff;
        if (Status grown = (*file)->allocate(0, static_cast<std::uint64_t>(segmentBytes_)); !grown) return grown;
    }
    use(start, std::move(*file));
    // A killed process may have left what was found here in the page cache only.
    writers_.back()->unsynced.store(true);
    const std::lock_guard lock(mutex_);
    unsynced_.push_back(writers_.back());
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

Result<std::size_t> CommitLog::trim(std::int64_t position) {
    std::vector<std::int64_t> dropped;
    {
        const std::lock_guard lock(mutex_);
        while (starts_.size() > 1 && starts_.front() + segmentBytes_ <= position) {
            dropped.push_back(starts_.front());
            starts_.erase(starts_.begin());
        }
        if (!starts_.empty()) min_.store(starts_.front(), std::memory_order_release);
    }
    for (const std::int64_t start : dropped) {
        if (Status removed = files_.remove(layout_.segment(start)); !removed) return removed;
    }
    return dropped.size();
}

}  // namespace patchbay::mmapstore
