// DelayRewrite: turns a message that asks for a delay into one of the schedule.
#pragma once

#include "DelayProgress.h"

#include "patchbay/base/Clock.h"
#include "patchbay/protocol/message/DelayLevels.h"
#include "patchbay/service/DelaySchedule.h"
#include "patchbay/service/TimerSchedule.h"

#include <string>
#include <vector>

namespace patchbay::plugins::delay {

/// The DelaySchedule service. Owned by the plugin, from init() to its destruction; keeps no state, so any thread may call it.
/// A delay level moves the message to SCHEDULE_TOPIC_XXXX; delivery times of the TIMER_ properties are for the timers, and refused
/// without them.
class DelayRewrite final : public service::DelaySchedule {
public:
    DelayRewrite(const protocol::DelayLevels& levels, const Clock& clock, service::TimerSchedule* timers, const DelayProgress& progress)
        : levels_(levels), clock_(clock), timers_(timers), progress_(progress) {}
    Status prepare(service::AppendItem& item, std::string& properties) override;
    [[nodiscard]] std::vector<service::DelayLevelProgress> progress() const override;

private:
    const protocol::DelayLevels& levels_;
    const Clock& clock_;
    service::TimerSchedule* const timers_;   // may be null
    const DelayProgress& progress_;
};

}  // namespace patchbay::plugins::delay
