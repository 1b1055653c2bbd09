// TimerSchedule: messages that are to be delivered at a time of the producer's choice.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/service/MessageStore.h"

#include <string>

namespace patchbay::service {

/// Thread-safe. Asked by the provider of DelaySchedule, which everybody else talks to; without it such messages are refused.
class TimerSchedule {
public:
    static constexpr plugin::ServiceId kId{"patchbay.TimerSchedule", 1};
    virtual ~TimerSchedule();

    /// Called for an item whose properties name a delivery time. Contract as of DelaySchedule::prepare().
    virtual Status prepare(AppendItem& item, std::string& properties) = 0;
};

}  // namespace patchbay::service
