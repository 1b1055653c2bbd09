#include "TransactionConfig.h"

#include <array>

namespace patchbay::plugins::transaction {

namespace {

using plugin::ConfigType;
using plugin::kReloadable;

constexpr std::int64_t kHourMs = 3'600'000;
/// The stores' bound: they have the same key.
constexpr std::int64_t kHoursMax = 24 * 366 * 100;

constexpr std::array kKeys{
    plugin::ConfigKey{"transactionTimeOut", ConfigType::Millis, "6000",
                      "Age of a half message before its producer is asked for the first time.", kReloadable, 0},
    plugin::ConfigKey{"transactionCheckInterval", ConfigType::Millis, "30000",
                      "Time between two rounds of questions, while half messages are open.", kReloadable, 10},
    plugin::ConfigKey{"transactionCheckMax", ConfigType::Int, "15",
                      "Times that a producer is asked about one message before it is set aside.", kReloadable, 1, 1'000'000},
    plugin::ConfigKey{"transactionOpMsgMaxSize", ConfigType::Bytes, "4096",
                      "Largest body of a record that says which half messages have ended.", 0, 32, 1'000'000},
    plugin::ConfigKey{"fileReservedTime", ConfigType::Int, "72",
                      "Hours after which an open half message is set aside, because the store drops it; 0 = never.", kReloadable, 0,
                      kHoursMax},
};

}  // namespace

std::span<const plugin::ConfigKey> TransactionConfig::keys() noexcept { return kKeys; }

void TransactionConfig::load(const plugin::ConfigView& view) {
    timeoutMs = view.integer("transactionTimeOut");
    intervalMs = view.integer("transactionCheckInterval");
    checksMax = static_cast<std::int32_t>(view.integer("transactionCheckMax"));
    reservedMs = view.integer("fileReservedTime") * kHourMs;
    opBodyBytesMax = static_cast<std::int32_t>(view.integer("transactionOpMsgMaxSize"));
}

}  // namespace patchbay::plugins::transaction
