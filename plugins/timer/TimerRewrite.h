// TimerRewrite: turns a message that names a delivery time into one of the timer topic.
#pragma once

#include "TimerConfig.h"

#include "patchbay/base/Clock.h"
#include "patchbay/service/TimerSchedule.h"

#include <atomic>
#include <cstddef>
#include <string>

namespace patchbay::plugins::timer {

/// The TimerSchedule service. Owned by the plugin, from init() to its destruction. Any thread.
class TimerRewrite final : public service::TimerSchedule {
public:
    TimerRewrite(const TimerConfig& config, const Clock& clock) : config_(config), clock_(clock) {}
    Status prepare(service::AppendItem& item, std::string& properties) override;

    /// How many messages wait, for the limit.
    void setPending(std::size_t count) noexcept { pending_.store(count, std::memory_order_relaxed); }

private:
    [[nodiscard]] Status tooFar() const;

    const TimerConfig& config_;
    const Clock& clock_;
    std::atomic<std::size_t> pending_{0};
};

}  // namespace patchbay::plugins::timer
