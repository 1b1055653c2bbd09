// RuntimeStats: rates and day counts for GET_BROKER_RUNTIME_INFO.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Runtime.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/TimerSchedule.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::plugins::admin {

/// Samples the store's counts every ten seconds and keeps ten minutes of them. Owned by the plugin; sample() runs on the control
/// executor, the rest on any thread.
class RuntimeStats {
public:
    static constexpr std::chrono::seconds kInterval{10};

    RuntimeStats(service::MessageStore& store, const service::TimerSchedule* timers, const Clock& clock)
        : store_(store), timers_(timers), clock_(clock) {}

    void sample();

    struct Rates {
        std::string put;   ///< messages a second over the last 10, 60 and 600 s and up to 10 s more, separated by blanks, as tools read them
        std::string got;
        std::string found;   ///< reads a second that returned messages
        std::string missed;  ///< reads a second that returned none
        std::string reads;   ///< both together
        double timersTaken = 0;      ///< timed messages a second, over the first of these times
        double timersDelivered = 0;
    };
    [[nodiscard]] Rates rates() const;

    /// Messages by the time that their append took, as StoreTimeFigures::appends, of the last 60 s and up to 10 s more.
    [[nodiscard]] decltype(service::StoreTimeFigures::appends) appendsOfMinute(const service::StoreTimeFigures& now) const;

    /// Counts since the start that were reached when the day began, and when the day before began.
    struct Days {
        std::int64_t putYesterday = 0;
        std::int64_t putToday = 0;
        std::int64_t gotYesterday = 0;
        std::int64_t gotToday = 0;
    };
    [[nodiscard]] Days days() const;

private:
    struct Sample {
        MonotonicTime at;
        std::int64_t put;
        std::int64_t got;
        std::int64_t found;
        std::int64_t missed;
        std::int64_t timersTaken;
        std::int64_t timersDelivered;
        decltype(service::StoreTimeFigures::appends) appends;
    };
    static constexpr std::size_t kMinuteBack = 7;
    static constexpr std::size_t kKept = 62;

    [[nodiscard]] Sample look() const;

    service::MessageStore& store_;
    const service::TimerSchedule* const timers_;   // may be null
    const Clock& clock_;

    mutable std::mutex mutex_;
    std::deque<Sample> samples_;   // guarded by mutex_, oldest first
    Days days_;                    // guarded by mutex_
    std::int64_t day_ = -1;        // guarded by mutex_; days since the epoch, local time
};

}  // namespace patchbay::plugins::admin
