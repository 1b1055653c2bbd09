// Proved: each strategy gives every queue to exactly one consumer, as RocketMQ's Java client does it.
// How: small groups whose answers are known from the rules, and sums over many sizes.
// Left to others: that consumers use them (integration).
#include "patchbay/client/Allocation.h"

#include <gtest/gtest.h>

#include <limits>
#include <algorithm>
#include <set>

namespace patchbay::client {
namespace {

std::vector<MessageQueue> queuesOf(int count, const std::string& broker = "b") {
    std::vector<MessageQueue> queues;
    for (int id = 0; id < count; ++id) queues.push_back({"T", broker, id});
    return queues;
}

std::vector<std::string> consumersOf(int count) {
    std::vector<std::string> consumers;
    for (int i = 0; i < count; ++i) consumers.push_back("c" + std::string(i < 10 ? "0" : "") + std::to_string(i));
    return consumers;
}

std::vector<std::int32_t> idsOf(const std::vector<MessageQueue>& queues) {
    std::vector<std::int32_t> ids;
    for (const auto& queue : queues) ids.push_back(queue.queueId);
    return ids;
}

TEST(Allocation, EveryQueueHasExactlyOneConsumer) {
    for (const auto& strategy : {allocateAveragely(), allocateByCircle(), allocateByConsistentHash()}) {
        for (int consumers = 1; consumers <= 12; ++consumers) {
            const auto queues = queuesOf(8);
            const auto group = consumersOf(consumers);
            std::multiset<std::int32_t> given;
            for (const auto& self : group) {
                for (const auto id : idsOf(strategy->allocate(self, queues, group))) given.insert(id);
            }
            EXPECT_EQ(given, (std::multiset<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7})) << strategy->name() << " " << consumers;
        }
    }
}

TEST(Allocation, AveragelyGivesBlocksAndTheFirstOneMore) {
    const auto group = consumersOf(3);
    EXPECT_EQ(idsOf(allocateAveragely()->allocate("c00", queuesOf(8), group)), (std::vector<std::int32_t>{0, 1, 2}));
    EXPECT_EQ(idsOf(allocateAveragely()->allocate("c01", queuesOf(8), group)), (std::vector<std::int32_t>{3, 4, 5}));
    EXPECT_EQ(idsOf(allocateAveragely()->allocate("c02", queuesOf(8), group)), (std::vector<std::int32_t>{6, 7}));
    EXPECT_TRUE(allocateAveragely()->allocate("stranger", queuesOf(8), group).empty());
}

TEST(Allocation, ByCircleTakesTurns) {
    EXPECT_EQ(idsOf(allocateByCircle()->allocate("c01", queuesOf(8), consumersOf(3))), (std::vector<std::int32_t>{1, 4, 7}));
}

TEST(Allocation, MachineRoomsTakeOnlyTheirBrokers) {
    auto queues = queuesOf(3, "north@b1");
    const auto south = queuesOf(4, "south@b2");
    queues.insert(queues.end(), south.begin(), south.end());
    const auto mine = allocateByMachineRoom({"south"})->allocate("c00", queues, consumersOf(3));
    // One whole share, and the first of what is left at the tail.
    EXPECT_EQ(idsOf(mine), (std::vector<std::int32_t>{0, 3}));
    for (const auto& queue : mine) EXPECT_EQ(queue.brokerName, "south@b2");
}

TEST(Allocation, NearbyPrefersTheOwnRoomAndAdoptsOrphans) {
    const auto room = [](const std::string& name) { return name.substr(0, 1); };
    const auto strategy = allocateNearby(allocateAveragely(), room, room);
    auto queues = queuesOf(2, "a1");
    for (const auto* broker : {"b1", "z1"}) {
        const auto more = queuesOf(2, broker);
        queues.insert(queues.end(), more.begin(), more.end());
    }
    const std::vector<std::string> group{"a-consumer", "b-consumer"};
    const auto mine = strategy->allocate("a-consumer", queues, group);
    std::multiset<std::string> brokers;
    for (const auto& queue : mine) brokers.insert(queue.brokerName);
    EXPECT_EQ(brokers, (std::multiset<std::string>{"a1", "a1", "z1"}));
    EXPECT_EQ(strategy->name(), "MACHINE_ROOM_NEARBY-AVG");
}

TEST(Allocation, AConsistentHashMovesFewQueues) {
    const auto strategy = allocateByConsistentHash();
    const auto queues = queuesOf(64);
    int moved = 0;
    for (const auto& self : consumersOf(4)) {
        const auto before = strategy->allocate(self, queues, consumersOf(4));
        const auto after = strategy->allocate(self, queues, consumersOf(5));
        // With one more nobody gets anything from another old one.
        for (const auto& queue : after) moved += std::find(before.begin(), before.end(), queue) == before.end() ? 1 : 0;
    }
    EXPECT_EQ(moved, 0);
}

TEST(Allocation, QueuesAreOrderedWithoutOverflow) {
    std::vector<MessageQueue> queues{{"T", "b", std::numeric_limits<std::int32_t>::max()}, {"T", "b", 0}, {"T", "b", std::numeric_limits<std::int32_t>::min()}};
    std::sort(queues.begin(), queues.end());
    EXPECT_EQ(idsOf(queues), (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min(), 0, std::numeric_limits<std::int32_t>::max()}));
}

}  // namespace
}  // namespace patchbay::client
