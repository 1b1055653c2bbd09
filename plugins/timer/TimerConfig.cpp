#include "TimerConfig.h"

#include <array>

namespace patchbay::plugins::timer {

namespace {

using plugin::ConfigType;

constexpr std::array kKeys{
    plugin::ConfigKey{"timerWheelEnable", ConfigType::Bool, "true",
                      "Messages may name their delivery time; off, they are refused, and those that wait already are still delivered."},
    plugin::ConfigKey{"timerMaxDelaySec", ConfigType::Int, "259200", "Delivery times further ahead, in seconds, are refused.", 0, 1,
                      31'536'000},
    plugin::ConfigKey{"timerPrecisionMs", ConfigType::Int, "1000",
                      "What TIMER_OUT_MS is rounded to: how long before its delivery, in milliseconds, a message can be recalled at the "
                      "latest. The delivery itself is exact.", 0, 1, 1000},
    plugin::ConfigKey{"timerRollAfter", ConfigType::Millis, "172800000",
                      "A message that waits longer is stored anew then, so that it is younger than what the store removes.", 0, 1000,
                      31'536'000'000},
    plugin::ConfigKey{"timerPendingMax", ConfigType::Int, "10000000",
                      "While so many messages wait in memory for their time, more are refused; each takes 16 bytes. On storage-mmap only "
                      "those of the next seconds are in memory.", 0, 1, 1'000'000'000},
    plugin::ConfigKey{"mappedFileSizeTimerLog", ConfigType::Bytes, "104857600",
                      "Size of a file of timerlog/, which storage-mmap has; files that are there keep theirs.", 0, 4096, 1 << 30},
    plugin::ConfigKey{"timerFlushIntervalMs", ConfigType::Millis, "1000", "Progress is written to timercheck this often.", 0, 10, 3'600'000},
    plugin::ConfigKey{"recallMessageEnable", ConfigType::Bool, "false", "Producers may call messages back before their time."},
    plugin::ConfigKey{"allowRecallWhenBrokerNotWriteable", ConfigType::Bool, "true",
                      "Messages may be called back while brokerPermission forbids sending."},
    plugin::ConfigKey{"brokerPermission", ConfigType::Int, "6",
                      "Where it does not allow writing, the key above decides: 2 write, 4 read, 6 both.", plugin::kReloadable, 0, 7},
};

}  // namespace

std::span<const plugin::ConfigKey> TimerConfig::keys() noexcept { return kKeys; }

TimerConfig TimerConfig::from(const plugin::ConfigView& view) {
    TimerConfig config;
    config.enabled = view.flag("timerWheelEnable");
    config.maxDelayMs = view.integer("timerMaxDelaySec") * 1000;
    config.precisionMs = view.integer("timerPrecisionMs");
    config.rollAfterMs = view.integer("timerRollAfter");
    config.pendingMax = static_cast<std::size_t>(view.integer("timerPendingMax"));
    config.flushInterval = view.millis("timerFlushIntervalMs");
    config.logFileBytes = view.integer("mappedFileSizeTimerLog");
    config.recall = view.flag("recallMessageEnable");
    config.recallWhenNotWriteable = view.flag("allowRecallWhenBrokerNotWriteable");
    config.permission = static_cast<std::uint32_t>(view.integer("brokerPermission"));
    return config;
}

}  // namespace patchbay::plugins::timer
