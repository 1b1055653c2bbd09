// DelayProgress: how far each level has been delivered, with its file.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/protocol/json/Writer.h"
#include "patchbay/protocol/route/DataVersion.h"
#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace patchbay::plugins::delay {

/// Level -> offset behind the last delivered message of its schedule queue, as delayOffset.json keeps it. Owned by the plugin.
/// Any thread; only load() and persist() touch the disk. After a failed persist() the next one writes.
class DelayProgress {
public:
    using Offsets = std::map<std::int32_t, std::int64_t>;

    DelayProgress(FileSystem& files, const Clock& clock, std::string path, std::uint64_t versionStep)
        : files_(files), clock_(clock), path_(std::move(path)), versionStep_(versionStep) {}

    /// Takes over the file or its backup; a damaged one is logged. Fails when both are damaged.
    Status load(plugin::Logger& log);

    /// 0 for a level that nothing is known of.
    [[nodiscard]] std::int64_t at(std::int32_t level) const;
    void set(std::int32_t level, std::int64_t offset);
    [[nodiscard]] Offsets offsets() const;
    /// The file's content; in Fastjson the body of GET_ALL_DELAY_OFFSET.
    [[nodiscard]] std::string toJson(json::Dialect dialect) const;

    /// Writes the file unless nothing has changed since it was written. The store is flushed first, so that after a power cut
    /// the progress is not ahead of the messages that it stands for.
    Status persist(service::MessageStore& store);

private:
    Status accept(std::string_view text);
    [[nodiscard]] std::string encode(json::Dialect dialect) const;  // with the lock held

    FileSystem& files_;
    const Clock& clock_;
    const std::string path_;
    const std::uint64_t versionStep_;

    mutable std::mutex mutex_;
    // Guarded by mutex_.
    Offsets offsets_;
    protocol::DataVersion version_;
    std::uint64_t changes_ = 0;
    std::uint64_t persisted_ = 0;
};

}  // namespace patchbay::plugins::delay
