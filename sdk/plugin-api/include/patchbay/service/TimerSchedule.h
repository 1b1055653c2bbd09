// TimerSchedule: messages that are to be delivered at a time of the producer's choice.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <string>

namespace patchbay::service {

/// How the timers are doing, for operators.
struct TimerFigures {
    std::int64_t behindMs = 0;   ///< how long ago the first message was due that is not delivered; 0 when none is late
    std::int64_t unread = 0;     ///< messages of the timer topic that are not taken yet
    std::int64_t waiting = 0;    ///< messages that were taken and are not delivered
    std::int64_t taken = 0;      ///< since the start
    std::int64_t delivered = 0;  ///< since the start, those that were stored anew to wait on included
};

/// Thread-safe. Asked by the provider of DelaySchedule, which everybody else talks to; without it such messages are refused.
class TimerSchedule {
public:
    static constexpr plugin::ServiceId kId{"patchbay.TimerSchedule", 2};
    virtual ~TimerSchedule();

    /// Called for an item whose properties name a delivery time. Contract as of DelaySchedule::prepare().
    virtual Status prepare(AppendItem& item, std::string& properties) = 0;
    [[nodiscard]] virtual TimerFigures figures() const noexcept = 0;
};

}  // namespace patchbay::service
