// Allocation: which member of a group consumes which queues, by RocketMQ's strategies.
#pragma once

#include "patchbay/protocol/route/MessageQueue.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::rebalance {

using Queues = std::vector<protocol::MessageQueue>;

enum class Strategy : std::uint8_t { Averagely, ByCircle };

/// "AVG" or "AVG_BY_CIRCLE"; nothing for all others, which brokers do not know.
[[nodiscard]] std::optional<Strategy> strategyOf(std::string_view name) noexcept;

/// The share of `clientId`. `queues` and `clientIds` are sorted and not empty. None for an id that is not among them.
[[nodiscard]] Queues allocate(Strategy strategy, const Queues& queues, const std::vector<std::string>& clientIds, const std::string& clientId);

/// The share of a member that pops, which others may share: everything (as one queue -1 of each broker) when `shared` is at most 0
/// or reaches all others, else its own share and those of the next `shared` members. With more members than queues each has one.
[[nodiscard]] Queues allocateForPop(Strategy strategy, const Queues& queues, const std::vector<std::string>& clientIds,
                                    const std::string& clientId, std::int32_t shared);

}  // namespace patchbay::plugins::rebalance
