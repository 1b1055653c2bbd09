// DelayRewrite: turns a message that asks for a delay into one of the schedule.
#pragma once

#include "DelayLevels.h"

#include "patchbay/base/Clock.h"
#include "patchbay/service/DelaySchedule.h"

#include <string>

namespace patchbay::plugins::delay {

/// The DelaySchedule service. Owned by the plugin, from init() to its destruction; stateless, so any thread may call it.
/// A delay level moves the message to SCHEDULE_TOPIC_XXXX; delivery times of the TIMER_ properties are refused.
class DelayRewrite final : public service::DelaySchedule {
public:
    DelayRewrite(const DelayLevels& levels, const Clock& clock) : levels_(levels), clock_(clock) {}
    Status prepare(service::AppendItem& item, std::string& properties) override;

private:
    const DelayLevels& levels_;
    const Clock& clock_;
};

}  // namespace patchbay::plugins::delay
