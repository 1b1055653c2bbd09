// Proved: slow and failing brokers are left out for as long as RocketMQ's table says, and a pause is never shortened.
// How: the table with a clock of the test's.
// Left to others: choosing queues by it (producer_faults_test).
#include "patchbay/testkit/ManualClock.h"
#include "producer/FaultTable.h"

#include <gtest/gtest.h>

namespace patchbay::client {
namespace {

using namespace std::chrono_literals;

TEST(AFaultTable, KnowsTheSteps) {
    EXPECT_EQ(FaultTable::pauseFor(549ms), 0ms);
    EXPECT_EQ(FaultTable::pauseFor(550ms), 2000ms);
    EXPECT_EQ(FaultTable::pauseFor(1800ms), 5000ms);
    EXPECT_EQ(FaultTable::pauseFor(3000ms), 6000ms);
    EXPECT_EQ(FaultTable::pauseFor(5000ms), 10000ms);
    EXPECT_EQ(FaultTable::pauseFor(15s), 30000ms);
}

TEST(AFaultTable, LeavesABrokerOutForAWhile) {
    testkit::ManualClock clock;
    FaultTable table(clock);
    EXPECT_TRUE(table.isAvailable("b"));
    table.note("b", 600ms, false, true);
    EXPECT_FALSE(table.isAvailable("b"));
    clock.advance(1999ms);
    table.note("b", 10ms, false, true);
    EXPECT_FALSE(table.isAvailable("b"));
    clock.advance(1ms);
    EXPECT_TRUE(table.isAvailable("b"));
}

TEST(AFaultTable, KeepsABrokerUnreachableUntilAProbeSaysOtherwise) {
    testkit::ManualClock clock;
    FaultTable table(clock);
    table.note("b", 1ms, true, false);
    clock.advance(1min);
    EXPECT_TRUE(table.isAvailable("b"));
    EXPECT_FALSE(table.isReachable("b"));
    EXPECT_EQ(table.unreachable(), std::vector<std::string>{"b"});
    table.reached("b");
    EXPECT_TRUE(table.isReachable("b"));
}

}  // namespace
}  // namespace patchbay::client
