// Proves: a connection has so many seats and no more, gets them back, and is forgotten without them.
// How: the class alone.
// Left to others: what a pull without a seat is answered (pull_test).
#include "Seats.h"

#include <gtest/gtest.h>

#include <vector>

namespace patchbay::plugins::pull {
namespace {

TEST(Seats, AreCountedForEachConnection) {
    Seats seats(2);
    const Seat first = seats.take(1);
    Seat second = seats.take(1);
    EXPECT_TRUE(first && second);
    EXPECT_FALSE(seats.take(1));
    EXPECT_TRUE(seats.take(17)) << "another one of the same shard";
    second = Seat();
    EXPECT_TRUE(seats.take(1));
}

TEST(Seats, MoveWithTheirPull) {
    Seats seats(1);
    Seat first = seats.take(1);
    {
        const Seat held = std::move(first);
        EXPECT_FALSE(seats.take(1));
    }
    EXPECT_TRUE(seats.take(1));
}

TEST(Seats, OutliveTheCounts) {
    Seat left;
    {
        Seats seats(1);
        left = seats.take(1);
    }
    EXPECT_TRUE(left);
}

TEST(Seats, OfManyConnectionsThatAreGoneDoNotDisturbThoseThatAreThere) {
    Seats seats(1);
    const Seat mine = seats.take(0);
    for (std::uint64_t peer = 16; peer < 100'000; peer += 16) EXPECT_TRUE(seats.take(peer));
    EXPECT_FALSE(seats.take(0));
}

}  // namespace
}  // namespace patchbay::plugins::pull
