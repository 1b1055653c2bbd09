// DeletedTopics: remembers up to where in the log a deleted topic's messages are gone for good.
#pragma once

#include "patchbay/base/FileSystem.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace patchbay::mmapstore {

/// Purpose: the log still holds what was sent to a deleted topic; without this list a recovery would bring it back.
/// A small text file, a line a topic: position, blank, name. RocketMQ ignores it. Owned by the store; calls are serialised by
/// the caller, except that contains() may run beside others of its kind.
class DeletedTopics {
public:
    DeletedTopics(FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

    /// Reads the file; lines below `logMin` are of no use any more and are forgotten. Corrupt when it is not such a file.
    Status open(std::int64_t logMin);
    /// Durable when it returns Ok.
    Status add(std::string_view topic, std::int64_t position);
    /// The log ends there: of what comes later nothing was deleted. Durable when it returns Ok.
    Status endAt(std::int64_t position);
    /// Whether a message of the topic at this position was deleted with it.
    [[nodiscard]] bool contains(std::string_view topic, std::int64_t position) const noexcept {
        const auto at = until_.find(topic);
        return at != until_.end() && position < at->second;
    }

private:
    [[nodiscard]] Status write() const;

    FileSystem& files_;
    const std::string path_;
    std::map<std::string, std::int64_t, std::less<>> until_;
};

}  // namespace patchbay::mmapstore
