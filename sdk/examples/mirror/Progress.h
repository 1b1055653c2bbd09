// Progress: how far each queue was forwarded, kept in one small file.
#pragma once

#include "patchbay/base/FileSystem.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mirror {

/// Lines "topic queue next", next being the offset of the first message that was not forwarded; a line with queue -1 says that the topic
/// was mirrored before, so that a queue without a line is new. Used under the mirror's lock; load() and save() wait for the disk.
class Progress {
public:
    Progress(patchbay::FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

    /// A file that is not there is an empty one; Corrupt names the line that cannot be read. Topics that are not among `topics` are
    /// forgotten: a topic that is taken up again later begins as a new one.
    patchbay::Status load(const std::vector<std::string>& topics);
    /// Writes what has changed since the last time.
    patchbay::Status save();

    [[nodiscard]] bool knows(const std::string& topic) const { return known_.contains(topic); }
    void know(const std::string& topic);
    [[nodiscard]] std::optional<std::int64_t> next(const std::string& topic, std::int32_t queueId) const;
    void set(const std::string& topic, std::int32_t queueId, std::int64_t next);

private:
    patchbay::FileSystem& files_;
    const std::string path_;
    std::set<std::string> known_;
    std::map<std::pair<std::string, std::int32_t>, std::int64_t> next_;
    bool changed_ = false;
};

}  // namespace mirror
