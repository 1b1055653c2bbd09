// LogSink: a new commit log from records. The consume queues are built from it by the store's own recovery.
#pragma once

#include "RecordSink.h"

#include "patchbay/base/FileSystem.h"

#include <memory>
#include <string>

namespace patchbay::storetool {

/// Writes `directory`/commitlog, which must not exist. Physical offsets are new, from 0 on, in the same order: the log may have no holes.
class LogSink final : public RecordSink {
public:
    LogSink(FileSystem& files, std::string directory, std::int64_t segmentBytes)
        : files_(files), directory_(std::move(directory) + "/commitlog"), segmentBytes_(segmentBytes) {}

    Status begin(const std::vector<OrderedReader::QueueRange>& queues) override;
    Status add(const protocol::RecordView& record) override;
    Status finish(std::int64_t nextPhysical) override;

private:
    Status open(std::int64_t start);
    /// Writes what is gathered.
    Status write();
    /// Says that the rest of the file holds nothing, and goes on in the next one.
    Status roll();

    FileSystem& files_;
    const std::string directory_;
    const std::int64_t segmentBytes_;
    std::unique_ptr<File> file_;
    std::int64_t start_ = 0;      // of the file
    std::int64_t position_ = 0;   // of the next record
    std::string gathered_;
};

}  // namespace patchbay::storetool
