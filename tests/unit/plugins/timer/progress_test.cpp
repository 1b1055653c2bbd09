// Proved: timercheck is written in RocketMQ's layout, no oftener than something happens, and read through damage and from RocketMQ.
// How: the plugin on a fake kernel; bytes of the file; one that RocketMQ 5.3.3 wrote.
// Left to others: what the numbers are for (delivery_test).
#include "Bench.h"

#include "patchbay/protocol/util/BigEndian.h"

namespace patchbay::plugins::timer {
namespace {

using Bodies = std::vector<std::string>;

class TimerProgressTest : public TimerBench {
protected:
    static std::string file(std::vector<std::int64_t> longs) {
        std::string bytes;
        for (const auto value : longs) protocol::appendBe(bytes, value);
        bytes.resize(4096);
        return bytes;
    }
    std::int64_t number(std::size_t index) {
        const std::string bytes = readText(path());
        return bytes.size() == 4096 ? protocol::loadI64(bytes.data() + 8 * index) : -1;
    }
};

TEST_F(TimerProgressTest, TheFileSaysHowFarItIs) {
    start();
    sendIn(100, "a");
    sendIn(50'000, "b");
    sendIn(200, "c");
    const std::int64_t sent = now();
    advance(2000);
    EXPECT_EQ(number(0), sent + 200) << "delivered until";
    EXPECT_EQ(number(1), 0) << "there is no timer log";
    EXPECT_EQ(number(2), 0) << "where RocketMQ would go on: the block of the first that waits";
    EXPECT_EQ(number(3), 3) << "the next message";
    EXPECT_EQ(number(4), 0);
    EXPECT_GT(number(5), 0);
    EXPECT_GT(number(6), 0);
    advance(60'000);
    EXPECT_EQ(number(2), 3);
}

TEST_F(TimerProgressTest, IsWrittenOnlyWhenSomethingHappened) {
    start();
    advance(60'000);
    EXPECT_FALSE(exists(path()));
    sendIn(100, "a");
    advance(5000);
    const std::int64_t counter = number(6);
    advance(60'000);
    EXPECT_EQ(number(6), counter);
}

TEST_F(TimerProgressTest, AFailedFlushIsTriedAgainAndHarmsNothing) {
    start();
    store_.flushAnswer = {StatusCode::Io, "no"};
    sendIn(100, "a");
    advance(60'000);
    EXPECT_EQ(delivered(), Bodies{"a"});
    EXPECT_FALSE(exists(path()));
    store_.flushAnswer = Status::ok();
    advance(1000);
    EXPECT_EQ(number(2), 1);
}

TEST_F(TimerProgressTest, ZerosAndHalvesAreReplacedByTheBackup) {
    for (const std::string& damage : {std::string(4096, '\0'), std::string(20, 'x'), std::string()}) {
        start();
        sendIn(100, "x");
        advance(2000);
        const auto before = delivered();
        sendIn(100, "x");
        advance(2000);
        const auto after = delivered();
        stop();
        writeText(path(), damage);
        start();
        advance(5000);
        EXPECT_LE(delivered().size(), after.size() + 1) << "what happened since the backup may come again";
        EXPECT_GE(delivered().size(), before.size());
        stop();
    }
}

TEST_F(TimerProgressTest, WithBothDamagedItDoesNotStart) {
    writeText(path(), "x");
    writeText(path() + ".bak", "y");
    EXPECT_FALSE(tryStart());
}

TEST_F(TimerProgressTest, WhatRocketMqLeftWaitingIsDelivered) {
    start();
    sendIn(1000, "delivered by RocketMQ");
    sendIn(90'000, "waits");
    stop();
    std::filesystem::remove(path());
    context_.manualClock().advance(std::chrono::seconds(30));
    // Delivered until, end of the timer log, next of the topic, the same of the master, version.
    writeText(path(), file({now() / 1000 * 1000, 104, 2, 2, 0, now(), 39}));
    start();
    EXPECT_EQ(delivered(), Bodies{});
    advance(60'000);
    EXPECT_EQ(delivered(), Bodies{"waits"});
}

TEST_F(TimerProgressTest, AFileWithoutAVersionIsRead) {
    start();
    sendIn(1000, "a");
    stop();
    const std::string bytes = file({now() + 2000, 0, 1, 1});
    writeText(path(), bytes.substr(0, 32));
    start();
    advance(5000);
    EXPECT_EQ(delivered(), Bodies{}) << "it says that this is done";
}

}  // namespace
}  // namespace patchbay::plugins::timer
