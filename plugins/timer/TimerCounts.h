// TimerCounts: how many timed messages wait for each topic, with RocketMQ's file.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/base/NameMap.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/protocol/route/DataVersion.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::plugins::timer {

/// config/timermetrics, as RocketMQ keeps it beside its timer wheel. Nothing here depends on it: a damaged file is begun anew. Owned by
/// the plugin; control executor, and the thread that starts and stops.
class TimerCounts {
public:
    TimerCounts(FileSystem& files, const Clock& clock, std::string path) : files_(files), clock_(clock), path_(std::move(path)) {}

    void load(plugin::Logger& log);
    void add(std::string_view topic, std::int64_t messages);
    /// Nothing waits any more.
    void clear();
    /// Writes the file unless nothing has changed.
    Status persist();

private:
    struct Count {
        std::int64_t messages = 0;
        std::int64_t changedMs = 0;
    };
    Status accept(std::string_view text);

    FileSystem& files_;
    const Clock& clock_;
    const std::string path_;
    protocol::DataVersion version_;
    NameMap<Count> topics_;
    bool changed_ = false;
};

}  // namespace patchbay::plugins::timer
