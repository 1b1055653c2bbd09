// Proved: who holds a queue lock, for how long, and who may free it.
// How: the lock table alone with a manual clock.
// Left to others: the answers' form (ClientsRecorded_test).
#include "QueueLocks.h"

#include "patchbay/testkit/ManualClock.h"

#include <gtest/gtest.h>

namespace patchbay::plugins::clients {
namespace {

using namespace std::chrono_literals;

protocol::LockBatchRequest request(std::string client, std::vector<std::int32_t> queues, std::string group = "G") {
    protocol::LockBatchRequest r;
    r.consumerGroup = std::move(group);
    r.clientId = std::move(client);
    for (const auto id : queues) r.mqSet.push_back({"T", "broker-a", id});
    return r;
}

struct QueueLocksTest : testing::Test {
    testkit::ManualClock clock;
    QueueLocks locks{clock, 60s, 4};
    bool full = false;   // what the last lock() said

    std::vector<protocol::MessageQueue> lock(const protocol::LockBatchRequest& wanted) { return locks.lock(wanted, full); }
};

TEST_F(QueueLocksTest, AFreeQueueIsGrantedAndAHeldOneIsNot) {
    EXPECT_EQ(lock(request("a", {0, 1})).size(), 2U);
    const auto granted = lock(request("b", {1, 2}));
    ASSERT_EQ(granted.size(), 1U);
    EXPECT_EQ(granted[0].queueId, 2);
    EXPECT_EQ(lock(request("b", {0}, "OtherGroup")).size(), 1U) << "groups do not share locks";
}

TEST_F(QueueLocksTest, ALockEndsSixtySecondsAfterItsLastRefresh) {
    lock(request("a", {0}));
    clock.advance(40s);
    EXPECT_EQ(lock(request("a", {0})).size(), 1U) << "refreshed";
    clock.advance(60s);
    EXPECT_TRUE(lock(request("b", {0})).empty());
    clock.advance(1ms);
    EXPECT_EQ(lock(request("b", {0})).size(), 1U);
    EXPECT_TRUE(lock(request("a", {0})).empty());
}

TEST_F(QueueLocksTest, OnlyTheOwnerFreesALock) {
    lock(request("a", {0}));
    locks.unlock(request("b", {0}));
    EXPECT_TRUE(lock(request("b", {0})).empty());
    locks.unlock(request("a", {0}));
    EXPECT_EQ(lock(request("b", {0})).size(), 1U);
    locks.unlock(request("nobody", {5}, "Nobody"));
}

TEST_F(QueueLocksTest, DroppingExpiredLocksFreesNoLiveOne) {
    lock(request("a", {0}));
    clock.advance(30s);
    lock(request("a", {1}));
    clock.advance(31s);
    locks.expire();
    EXPECT_EQ(lock(request("b", {0, 1})).size(), 1U);
}

TEST_F(QueueLocksTest, OthersSeeOnlyLocksThatAreInForce) {
    lock(request("a", {0}));
    clock.advance(30s);
    lock(request("b", {1}));
    EXPECT_TRUE(locks.anyHeld("G"));
    EXPECT_FALSE(locks.anyHeld("OtherGroup"));
    auto held = locks.held("G");
    ASSERT_EQ(held.size(), 2U);
    EXPECT_EQ(held[0].clientId, "a");
    EXPECT_EQ(held[0].ageMs, 30'000);
    clock.advance(31s);
    held = locks.held("G");
    ASSERT_EQ(held.size(), 1U) << "nobody has dropped the expired one yet";
    EXPECT_EQ(held[0].queue, (protocol::MessageQueue{"T", "broker-a", 1}));
    clock.advance(31s);
    EXPECT_FALSE(locks.anyHeld("G"));
}

TEST_F(QueueLocksTest, NoMoreQueuesAreLockedThanTheLimitInAllGroups) {
    EXPECT_EQ(lock(request("a", {0, 1})).size(), 2U);
    EXPECT_EQ(lock(request("a", {0, 1}, "OtherGroup")).size(), 2U);
    EXPECT_FALSE(full);
    EXPECT_TRUE(lock(request("a", {0}, "Third")).empty());
    EXPECT_TRUE(full);
    EXPECT_FALSE(locks.anyHeld("Third"));
    EXPECT_EQ(lock(request("a", {0, 1, 2})).size(), 2U) << "those that it has are refreshed";
    EXPECT_TRUE(full);
    EXPECT_TRUE(lock(request("b", {0})).empty());
    EXPECT_FALSE(full) << "it is another's";
    locks.unlock(request("b", {1}));
    EXPECT_TRUE(lock(request("a", {0}, "Third")).empty());
    locks.unlock(request("a", {1}));
    EXPECT_EQ(lock(request("a", {0, 1}, "Third")).size(), 1U);
    clock.advance(61s);
    locks.expire();
    EXPECT_EQ(lock(request("a", {0, 1, 2, 3}, "Third")).size(), 4U);
    EXPECT_FALSE(full);
}

}  // namespace
}  // namespace patchbay::plugins::clients
