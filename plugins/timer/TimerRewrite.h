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

    [[nodiscard]] service::TimerFigures figures() const noexcept override;

    /// What the delivery tells of itself; each number by itself, any thread.
    struct State {
        std::atomic<std::size_t> inMemory{0};        ///< counts against the limit
        std::atomic<std::int64_t> waiting{0};
        std::atomic<std::int64_t> firstDueMs{0};     ///< 0 while nothing waits in memory
        std::atomic<std::int64_t> next{0};           ///< the first message of the topic that was not taken
        std::atomic<std::int64_t> topicEnd{0};
        std::atomic<std::int64_t> taken{0};
        std::atomic<std::int64_t> delivered{0};
    };
    [[nodiscard]] State& state() noexcept { return state_; }

private:
    [[nodiscard]] Status tooFar() const;

    const TimerConfig& config_;
    const Clock& clock_;
    State state_;
};

}  // namespace patchbay::plugins::timer
