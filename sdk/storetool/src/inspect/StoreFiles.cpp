#include "StoreFiles.h"

#include "Layout.h"

#include "patchbay/base/StoreLock.h"

#include <algorithm>
#include <charconv>

namespace patchbay::storetool {

Result<std::vector<SequenceFile>> listSequence(FileSystem& files, const std::string& directory) {
    std::vector<SequenceFile> found;
    const Result<std::vector<FileInfo>> listed = files.list(directory);
    if (!listed) return listed.error().code() == StatusCode::NotFound ? Result<std::vector<SequenceFile>>(found) : listed.error();
    for (const FileInfo& info : *listed) {
        const std::optional<std::int64_t> start = mmapstore::parseFileName(info.name);
        if (!info.directory && start) found.push_back({*start, static_cast<std::int64_t>(info.size), directory + "/" + info.name});
    }
    return found;
}

Result<StoreFiles> StoreFiles::open(FileSystem& files, const StoreToolOptions& options) {
    StoreFiles result;
    result.files_ = &files;
    result.root_ = options.directory;
    result.logDirectories_ = options.commitLogs;
    if (result.logDirectories_.empty()) result.logDirectories_.push_back(options.directory + "/commitlog");
    if (Status found = result.findLog(); !found) return found;
    if (Status locked = result.lock(); !locked) return locked;
    return result;
}

Status StoreFiles::lock() {
    // Without the file nobody holds it, and making one would be a change.
    if (!files_->exists(root_ + "/lock")) return Status::ok();
    Result<std::unique_ptr<FileLock>> locked = lockStore(*files_, root_, "directory");
    if (!locked && locked.error().code() == StatusCode::Busy) {
        return {StatusCode::Busy, std::string(kDirectoryInUse) + locked.error().message()};
    }
    if (!locked) return locked.error();
    lock_ = std::move(*locked);
    return Status::ok();
}

Status StoreFiles::findLog() {
    bool any = false;
    for (const std::string& directory : logDirectories_) {
        any = any || files_->exists(directory);
        Result<std::vector<SequenceFile>> listed = listSequence(*files_, directory);
        if (!listed) return listed.error();
        log_.insert(log_.end(), listed->begin(), listed->end());
    }
    if (!any) return {StatusCode::NotFound, "there is no store in " + root_ + ": " + logDirectories_.front() + " does not exist"};
    std::sort(log_.begin(), log_.end(), [](const SequenceFile& a, const SequenceFile& b) { return a.start < b.start; });
    for (const SequenceFile& file : log_) logFileBytes_ = std::max(logFileBytes_, file.bytes);
    return Status::ok();
}

Status StoreFiles::findQueues(const std::string& folder, bool batch, std::vector<QueueFolder>& found) const {
    const Result<std::vector<FileInfo>> topics = files_->list(folder);
    if (!topics) return topics.error().code() == StatusCode::NotFound ? Status::ok() : topics.error();
    for (const FileInfo& topic : *topics) {
        if (!topic.directory) continue;
        const Result<std::vector<FileInfo>> queues = files_->list(folder + "/" + topic.name);
        if (!queues) return queues.error();
        for (const FileInfo& queue : *queues) {
            std::int32_t id = -1;
            const auto [end, error] = std::from_chars(queue.name.data(), queue.name.data() + queue.name.size(), id);
            if (!queue.directory || error != std::errc() || end != queue.name.data() + queue.name.size()) continue;
            std::string directory = folder + "/";
            directory.append(topic.name).append("/").append(queue.name);
            Result<std::vector<SequenceFile>> files = listSequence(*files_, directory);
            if (!files) return files.error();
            found.push_back({topic.name, id, batch, std::move(*files)});
        }
    }
    return Status::ok();
}

Result<std::vector<QueueFolder>> StoreFiles::queues() const {
    std::vector<QueueFolder> found;
    if (Status listed = findQueues(root_ + "/consumequeue", false, found); !listed) return listed;
    if (Status listed = findQueues(root_ + "/batchconsumequeue", true, found); !listed) return listed;
    return found;
}

Result<std::vector<std::string>> StoreFiles::indexFiles() const {
    std::vector<std::string> paths;
    const Result<std::vector<FileInfo>> listed = files_->list(root_ + "/index");
    if (!listed) return listed.error().code() == StatusCode::NotFound ? Result<std::vector<std::string>>(paths) : listed.error();
    for (const FileInfo& info : *listed) {
        if (!info.directory) paths.push_back(root_ + "/index/" + info.name);
    }
    return paths;
}

}  // namespace patchbay::storetool
