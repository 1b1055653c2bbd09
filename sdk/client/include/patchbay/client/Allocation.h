// AllocationStrategy: which queues of a topic belong to which consumer of a group.
#pragma once

#include "patchbay/client/Message.h"

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// Every consumer of a group decides for itself, so all have to use the same strategy and come to the same answer from the same input.
/// Called on the client's thread; must be quick and must not call the client. What it throws is logged, and the queues stay as they are.
class AllocationStrategy {
public:
    virtual ~AllocationStrategy() = default;
    /// `self` is one of `consumers`; both lists are sorted.
    [[nodiscard]] virtual std::vector<MessageQueue> allocate(std::string_view self, std::span<const MessageQueue> queues,
                                                             std::span<const std::string> consumers) const = 0;
    /// As RocketMQ calls it; shown in running info.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
};

using AllocationPtr = std::shared_ptr<const AllocationStrategy>;

/// Neighbouring queues in one block for each consumer; the first ones get one more. The default.
[[nodiscard]] AllocationPtr allocateAveragely();
/// One after the other in turn.
[[nodiscard]] AllocationPtr allocateByCircle();
/// Always these.
[[nodiscard]] AllocationPtr allocateConfigured(std::vector<MessageQueue> queues);
/// Only queues of brokers named "<room>@<name>" with one of these rooms.
[[nodiscard]] AllocationPtr allocateByMachineRoom(std::set<std::string> rooms);
/// Queues to consumers of the same room where there are some; `inner` decides among those. The functions tell the room of a broker's
/// name and of a client id.
[[nodiscard]] AllocationPtr allocateNearby(AllocationPtr inner, std::function<std::string(const std::string&)> roomOfBroker,
                                           std::function<std::string(const std::string&)> roomOfConsumer);
/// Few queues move when consumers come and go. `virtualNodes`: points of each consumer on the ring.
[[nodiscard]] AllocationPtr allocateByConsistentHash(int virtualNodes = 10);

}  // namespace patchbay::client
