// TimerFiles: the timed messages that wait, in RocketMQ's timer log and timer wheel.
#pragma once

#include "TimerConfig.h"
#include "TimerLog.h"
#include "TimerProgress.h"
#include "TimerWheel.h"

#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::plugins::timer {

/// Keeps a unit for each message that was taken from the timer topic, linked into the slot of its time, so that a start reads neither
/// the topic nor the whole log, and either broker goes on with what the other one left. Only for a store whose positions are those of a
/// commit log. Owned by the plugin; control executor, and the thread that starts and stops.
class TimerFiles {
public:
    TimerFiles(FileSystem& files, plugin::Logger& log, service::MessageStore& store, const std::string& root, const TimerConfig& config);

    /// Takes over what is there. Answers from where on the topic has to be read. What cannot be used is removed and made anew from
    /// the topic.
    Result<TimerMark> recover(const TimerMark& mark);

    /// When the slot begins that a message belongs to which is due then.
    [[nodiscard]] std::int64_t slotOf(std::int64_t wakeMs) const noexcept { return floor(wakeMs - 1); }
    [[nodiscard]] std::int64_t floor(std::int64_t ms) const noexcept { return ms / precisionMs_ * precisionMs_; }
    [[nodiscard]] std::int64_t precisionMs() const noexcept { return precisionMs_; }

    /// Links a message into the slot that its unit names. In the files after write().
    void add(TimerUnit unit, std::int64_t queueOffset);
    /// A message of the topic that needs no unit any more.
    void pass(const TimerUnit& unit, std::int64_t queueOffset);
    Status write() { return log_.write(); }
    /// All of it is durable.
    Status flush();
    [[nodiscard]] std::int64_t logEnd() const noexcept { return log_.end(); }

    [[nodiscard]] const TimerWheel::Slots& slots() const noexcept { return wheel_.slots(); }
    /// The place in the topic of a unit's message; -1 when it cannot be read.
    [[nodiscard]] std::int64_t queueOffsetOf(const TimerUnit& unit) const;
    /// Of a slot, oldest first.
    Result<std::vector<TimerUnit>> units(std::int64_t slotMs);
    void forgetBefore(std::int64_t slotMs) { wheel_.forgetBefore(slotMs); }
    /// Messages in slots from there on.
    [[nodiscard]] std::int64_t waitingFrom(std::int64_t slotMs) const noexcept;

    /// Before a stop: nothing but `units` waits in this slot any more. They get new places.
    Status keep(std::int64_t slotMs, std::vector<TimerUnit> units);
    /// The last thing before a stop, with the slot that is to be looked at next: RocketMQ takes the message of the log's last unit for
    /// the newest one that was taken, so that one has to be last.
    Status close(std::int64_t readMs);
    /// Removes files whose messages the store no longer has.
    Status removeOld();

private:
    struct Newest {
        TimerUnit unit;
        std::int64_t queueOffset;
    };
    Result<TimerMark> beginAnew(const TimerMark& mark);
    Status scan(std::int64_t from, std::int64_t knownEnd, std::int64_t readMs);

    plugin::Logger& logger_;
    service::MessageStore& store_;
    const std::int64_t precisionMs_;
    TimerLog log_;
    TimerWheel wheel_;
    std::optional<Newest> newest_;
    bool newestIsLast_ = false;
    // What a scan found.
    std::optional<TimerUnit> lastUnit_;
    bool wheelFits_ = true;
    bool precisionFits_ = true;
};

}  // namespace patchbay::plugins::timer
