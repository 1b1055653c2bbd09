// TimerProgress: how far timed messages have been delivered, with its file.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/protocol/route/DataVersion.h"
#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::plugins::timer {

/// Of the messages below queueOffset in the timer topic, those that are due until deliveredMs are delivered; all below replayFrom are.
struct TimerMark {
    std::int64_t deliveredMs = 0;
    std::int64_t replayFrom = 0;
    std::int64_t queueOffset = 0;
    std::int64_t timerLog = 0;   ///< end of the timer log; 0 without one
    friend bool operator==(const TimerMark&, const TimerMark&) = default;
};

/// config/timercheck in RocketMQ's layout, for a timer log and without. With one, replayFrom is the next message of the topic: what waits is
/// in the log. A broker that has no use for the log has to read the whole topic once.
/// Owned by the plugin; control thread and executor only, never both.
class TimerProgress {
public:
    TimerProgress(FileSystem& files, const Clock& clock, std::string path) : files_(files), clock_(clock), path_(std::move(path)) {}

    /// Takes over the file or its backup; a damaged one is logged. Fails when both are damaged.
    Status load(plugin::Logger& log);
    [[nodiscard]] const TimerMark& mark() const noexcept { return mark_; }
    /// Writes the file unless nothing has changed. The store is flushed first, so that after a power cut the mark is not ahead of the
    /// messages that it stands for.
    Status persist(const TimerMark& mark, service::MessageStore& store);

private:
    Status accept(std::string_view bytes);
    [[nodiscard]] std::string encode(const TimerMark& mark) const;

    FileSystem& files_;
    const Clock& clock_;
    const std::string path_;
    TimerMark mark_;
    protocol::DataVersion version_;
};

}  // namespace patchbay::plugins::timer
