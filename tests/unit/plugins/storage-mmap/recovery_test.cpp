// Proved: what was acknowledged survives kills and power cuts with dense offsets, and damage is mended or named.
// How: a disk in memory; kills, power cuts at random points under synchronous flush, and files damaged on purpose.
// Left to others: directories of a Java broker (golden_test.cpp), kills of a real process (the storage contract).
#include "Fixture.h"

#include "patchbay/protocol/util/BigEndian.h"

#include <cstdlib>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <set>

namespace patchbay::mmapstore {

namespace {

using service::AppendStatus;

class MmapRecovery : public MmapStoreTest {
protected:
    void appendMany(int from, int to, const std::string& topic = "TopicTest") {
        for (int i = from; i < to; ++i) ASSERT_EQ(append("body-" + std::to_string(i), topic).queueOffset, i);
    }
    void expectBodies(int count, const std::string& topic = "TopicTest") {
        const std::vector<std::string> all = bodies(topic);
        ASSERT_EQ(all.size(), static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], "body-" + std::to_string(i));
    }
    const std::string firstSegment = "/store/commitlog/00000000000000000000";
    const std::string firstQueueFile = "/store/consumequeue/TopicTest/0/00000000000000000000";
};

TEST_F(MmapRecovery, UnitsThatAKilledProcessHadInMemoryAreRebuilt) {
    open();
    appendMany(0, 300);
    kill();
    open();
    expectBodies(300);
    EXPECT_TRUE(log.contains("unitsAdded=300")) << log.lines().back().text;
    appendMany(300, 310);
    kill();
    open();
    expectBodies(310);
}

TEST_F(MmapRecovery, ACleanStartTouchesNoQueueAndReadsOnlyTheEndOfTheLog) {
    open();
    appendMany(0, 300);
    close();
    log.clear();
    open();
    EXPECT_TRUE(log.contains("clean=true"));
    EXPECT_TRUE(log.contains("records=1 ")) << log.lines().back().text;
    expectBodies(300);
}

TEST_F(MmapRecovery, ATornRecordAtTheEndIsCutOffAndItsBytesAreZeroed) {
    open();
    appendMany(0, 10);
    const auto last = append("body-10");
    kill();
    overwrite(firstSegment, static_cast<std::uint64_t>(last.physicalOffset + 60), std::string(20, '\x7f'));
    overwrite(firstSegment, static_cast<std::uint64_t>(last.physicalOffset + 90), "X");
    open();
    expectBodies(10);
    const std::string bytes = file(firstSegment);
    EXPECT_EQ(bytes.substr(static_cast<std::size_t>(last.physicalOffset)),
              std::string(bytes.size() - static_cast<std::size_t>(last.physicalOffset), '\0'));
    EXPECT_EQ(append("body-10").queueOffset, 10);
}

TEST_F(MmapRecovery, AFlippedBitInABodyIsFoundEvenWhenItsChecksumIsZero) {
    // CRC-32 of these four bytes is 0.
    const std::string body("\x9d\x0a\xd9\x6d", 4);
    open();
    append("before");
    const auto item = append(body);
    close();
    EXPECT_EQ(protocol::loadI32(file(firstSegment).data() + item.physicalOffset + 8), 0);
    open();
    EXPECT_EQ(bodies().back(), body);
    kill();
    overwrite(firstSegment, static_cast<std::uint64_t>(item.physicalOffset + 88), "\x9c");
    open();
    EXPECT_EQ(bodies(), std::vector<std::string>{"before"});
}

TEST_F(MmapRecovery, EmptyNewestFilesAreRemovedAndEmptyMiddleOnesRefused) {
    open();
    appendMany(0, 300);
    close();
    resize("/store/commitlog/00000000000000065536", 0);
    resize(firstQueueFile.substr(0, firstQueueFile.size() - 20) + fileName(5600 + 400), 0);
    open();
    expectBodies(300);
    EXPECT_TRUE(log.contains("removed an empty commit-log file"));
    EXPECT_TRUE(log.contains("consume queues are not as the last stop left them"));
    close();
    resize(firstSegment, 0);
    const Status refused = tryOpen();
    EXPECT_EQ(refused.code(), StatusCode::Corrupt);
    EXPECT_NE(refused.message().find(firstSegment), std::string::npos);
    EXPECT_NE(refused.message().find("mappedFileSizeCommitLog"), std::string::npos);
}

TEST_F(MmapRecovery, ALostNewestQueueFileIsRebuiltAfterACleanStop) {
    open();
    appendMany(0, 300);
    close();
    resize("/store/consumequeue/TopicTest/0/" + fileName(5600), 0);
    open();
    expectBodies(300);
    appendMany(300, 305);
}

TEST_F(MmapRecovery, FilesBehindACutDoNotComeBackWithTheNextPowerCut) {
    options.syncFlush = true;
    open();
    appendMany(0, 400);
    close();
    ASSERT_TRUE(disk->exists("/store/commitlog/" + fileName(32'768)));
    // The end of the second file is lost, so the third goes as well; its removal must be durable at once.
    overwrite("/store/commitlog/" + fileName(16'384), 16'384 - 600, std::string(600, '\0'));
    resize("/store/abort", 0);
    ASSERT_TRUE(disk->remove("/store/checkpoint"));
    open();
    ASSERT_LT(bodies().size(), 400U);
    close();
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const auto left = disk->afterPowerCut(seed);
        EXPECT_FALSE(left->exists("/store/commitlog/" + fileName(32'768))) << seed;
    }
}

TEST_F(MmapRecovery, AQueueFileWithoutANameAfterACrashIsRebuilt) {
    for (const std::int64_t lost : {0, 400, 1200}) {
        SCOPED_TRACE(lost);
        open();
        const auto before = static_cast<int>(bodies().size());
        appendMany(before, before + 100);
        ASSERT_TRUE(store().settle());
        kill();
        ASSERT_TRUE(disk->remove("/store/consumequeue/TopicTest/0/" + fileName(lost)));
        // Nothing of it was durable, so the checkpoint cannot have been either.
        ASSERT_TRUE(disk->remove("/store/checkpoint"));
        open();
        expectBodies(before + 100);
        close();
    }
}

TEST_F(MmapRecovery, LostQueuesAreRebuiltFromTheLog) {
    open();
    appendMany(0, 200);
    appendMany(0, 50, "Other");
    close();
    for (const auto& topic : {"TopicTest", "Other"}) {
        ASSERT_TRUE(removeTree(*disk, std::string("/store/consumequeue/") + topic));
    }
    open();
    expectBodies(200);
    expectBodies(50, "Other");
}

TEST_F(MmapRecovery, AQueueThatIsLostBehindTheCheckpointIsRebuiltAfterACrash) {
    open();
    appendMany(0, 200);
    appendMany(0, 50, "Other");
    close();
    open();
    appendMany(200, 210);
    kill();
    ASSERT_TRUE(removeTree(*disk, "/store/consumequeue/Other"));
    open();
    EXPECT_TRUE(log.contains("consume queues lack messages"));
    expectBodies(210);
    expectBodies(50, "Other");
    EXPECT_EQ(append("body-50", "Other").queueOffset, 50);
}

TEST_F(MmapRecovery, AQueueThatIsLostBehindTheCheckpointIsKnownByItsNewerMessages) {
    open();
    appendMany(0, 200);
    appendMany(0, 50, "Other");
    close();
    // As a store that never stopped cleanly.
    ASSERT_TRUE(disk->remove("/store/lastStop"));
    open();
    appendMany(50, 60, "Other");
    kill();
    ASSERT_TRUE(removeTree(*disk, "/store/consumequeue/Other"));
    open();
    expectBodies(60, "Other");
}

TEST_F(MmapRecovery, AQueueWithoutItsFirstFileIsRebuiltAfterACrash) {
    for (const int more : {0, 3}) {
        SCOPED_TRACE(more);
        open();
        const auto before = static_cast<int>(bodies("Other").size());
        appendMany(before, before + 50, "Other");
        close();
        ASSERT_TRUE(disk->remove("/store/lastStop"));
        open();
        appendMany(before + 50, before + 50 + more, "Other");
        kill();
        ASSERT_TRUE(disk->remove("/store/consumequeue/Other/0/" + fileName(0)));
        log.clear();
        open();
        EXPECT_TRUE(log.contains("consume queues lack messages"));
        expectBodies(before + 50 + more, "Other");
        close();
    }
}

TEST_F(MmapRecovery, AQueueThatIsShorterThanTheLastStopLeftItIsRebuiltAfterACrash) {
    open();
    appendMany(0, 50, "Other");
    appendMany(0, 200);
    close();
    open();
    appendMany(200, 210);
    kill();
    overwrite("/store/consumequeue/Other/0/" + fileName(800), 0, std::string(400, '\0'));
    open();
    expectBodies(50, "Other");
}

TEST_F(MmapRecovery, WhatRetentionRemovedIsNotMissedAfterACrash) {
    open();
    appendMany(0, 400);
    ASSERT_TRUE(store().trim(store().stats().maxPhysicalOffset));
    ASSERT_FALSE(disk->exists("/store/consumequeue/TopicTest/0/" + fileName(0)));
    appendMany(400, 410);
    kill();
    log.clear();
    open();
    EXPECT_FALSE(log.contains("consume queues lack messages"));
}

TEST_F(MmapRecovery, ADeletedTopicIsNotTakenForALostOneAfterACrash) {
    open();
    appendMany(0, 20);
    appendMany(0, 5, "Other");
    close();
    open();
    appendMany(20, 30);
    ASSERT_TRUE(store().deleteTopic("TopicTest"));
    appendMany(5, 8, "Other");
    kill();
    log.clear();
    open();
    EXPECT_FALSE(store().range("TopicTest", 0).exists);
    EXPECT_FALSE(log.contains("consume queues lack messages"));
    expectBodies(8, "Other");
}

TEST_F(MmapRecovery, AQueueFileOfAWrongSizeMakesOneQueueUnusableAndNoOther) {
    open();
    appendMany(0, 100);
    appendMany(0, 10, "Other");
    close();
    // As from a Java broker, which leaves no note of what there was.
    ASSERT_TRUE(disk->remove("/store/lastStop"));
    resize(firstQueueFile, 399);
    open();
    EXPECT_EQ(append("x").status, AppendStatus::Failed);
    EXPECT_TRUE(log.contains(firstQueueFile));
    expectBodies(10, "Other");
    EXPECT_EQ(append("body-10", "Other").queueOffset, 10);
}

TEST_F(MmapRecovery, ACheckpointOfGarbageOrNoneOnlyMakesItSlower) {
    open();
    appendMany(0, 300);
    ASSERT_TRUE(store().settle());
    kill();
    overwrite("/store/checkpoint", 0, std::string(40, '\x7f'));
    open();
    EXPECT_TRUE(log.contains("the checkpoint is not one"));
    expectBodies(300);
    kill();
    if (disk->exists("/store/checkpoint")) {
        ASSERT_TRUE(disk->remove("/store/checkpoint"));
    }
    open();
    expectBodies(300);
}

TEST_F(MmapRecovery, AClockThatGoesBackLosesNothing) {
    open();
    appendMany(0, 10);
    ASSERT_TRUE(store().settle());
    clock.setWallMs(clock.wallMs() - 3'600'000);
    appendMany(10, 20);
    // The newest files begin an hour before the checkpoint and hold nothing of the first queue.
    appendMany(0, 300, "Other");
    kill();
    open();
    expectBodies(20);
    expectBodies(300, "Other");
}

TEST_F(MmapRecovery, QueuesThatReachBeyondTheLogAreCut) {
    open();
    appendMany(0, 100);
    ASSERT_TRUE(store().settle());
    const auto kept = testkit::readAll(store(), "TopicTest", 0).at(45);
    kill();
    // A disk that lost the end of the log but not the queue.
    const auto at = static_cast<std::uint64_t>(kept.physicalOffset % 16'384);
    overwrite("/store/commitlog/" + fileName(kept.physicalOffset - static_cast<std::int64_t>(at)), at, std::string(16'384 - at, '\0'));
    open();
    expectBodies(45);
    EXPECT_EQ(protocol::loadI64(file("/store/consumequeue/TopicTest/0/" + fileName(800)).data() + 5 * 20), 0);
    appendMany(45, 60);
    close();
    open();
    expectBodies(60);
}

TEST_F(MmapRecovery, DeletedTopicsStayDeletedAndStartAnew) {
    open();
    appendMany(0, 50);
    append("x", "Other");
    ASSERT_TRUE(store().settle());
    ASSERT_TRUE(store().deleteTopic("TopicTest"));
    EXPECT_FALSE(disk->exists("/store/consumequeue/TopicTest"));
    kill();
    open();
    EXPECT_FALSE(store().range("TopicTest", 0).exists);
    appendMany(0, 7);
    kill();
    ASSERT_TRUE(removeTree(*disk, "/store/consumequeue/TopicTest"));
    open();
    expectBodies(7);
    close();
    open();
    expectBodies(7);
}

TEST_F(MmapRecovery, WhatIsStoredWhereTheLogOfADeletedTopicWasCutOffIsNotDeleted) {
    open();
    append("x", "Other");
    ASSERT_TRUE(store().settle());
    const std::int64_t durable = store().stats().maxPhysicalOffset;
    appendMany(0, 50);
    const std::int64_t deletedTo = store().stats().maxPhysicalOffset;
    ASSERT_TRUE(store().deleteTopic("TopicTest"));
    kill();
    // The list of deleted topics was durable, and the messages were not.
    overwrite("/store/commitlog/" + fileName(0), static_cast<std::uint64_t>(durable), std::string(static_cast<std::size_t>(deletedTo - durable), '\0'));
    open();
    ASSERT_EQ(store().stats().maxPhysicalOffset, durable);
    appendMany(0, 7);
    ASSERT_LT(store().stats().maxPhysicalOffset, deletedTo);
    kill();
    ASSERT_TRUE(removeTree(*disk, "/store/consumequeue/TopicTest"));
    open();
    expectBodies(7);
}

TEST_F(MmapRecovery, TrimKeepsNumbersAndSurvivesARestart) {
    open();
    appendMany(0, 400);
    const auto before = testkit::readAll(store(), "TopicTest", 0).at(250).physicalOffset;
    ASSERT_TRUE(store().trim(before));
    const auto range = store().range("TopicTest", 0);
    EXPECT_GT(range.min, 100);
    EXPECT_LE(range.min, 250);
    EXPECT_FALSE(disk->exists(firstSegment));
    EXPECT_FALSE(disk->exists(firstQueueFile));
    for (int round = 0; round < 2; ++round) {
        const auto rest = bodies();
        ASSERT_EQ(rest.size(), static_cast<std::size_t>(400 - range.min));
        EXPECT_EQ(rest.front(), "body-" + std::to_string(range.min));
        if (round == 0) close(); else kill();
        open();
        EXPECT_EQ(store().range("TopicTest", 0).min, range.min);
    }
    // Everything but the log gone: the queue begins where the log begins.
    close();
    ASSERT_TRUE(removeTree(*disk, "/store/consumequeue/TopicTest"));
    open();
    EXPECT_EQ(store().range("TopicTest", 0).max, 400);
    EXPECT_EQ(bodies().front(), "body-" + std::to_string(range.min));
    EXPECT_EQ(append("body-400").queueOffset, 400);
}

TEST_F(MmapRecovery, ASecondProcessIsRefusedWithTheReason) {
    open();
    MmapStore second(*disk, clock, log, options);
    const Status refused = second.open();
    EXPECT_EQ(refused.code(), StatusCode::Busy);
    EXPECT_NE(refused.message().find("/store"), std::string::npos);
    EXPECT_EQ(append("still mine").queueOffset, 0);
}

TEST_F(MmapRecovery, FilesOfOtherPartsOfRocketMqAreLeftAlone) {
    for (const char* directory : {"/store/index", "/store/consumequeue_ext/T/0", "/store/config"}) {
        ASSERT_TRUE(disk->makeDirectories(directory));
    }
    const std::vector<std::string> paths = {"/store/index/20261129173123767", "/store/consumequeue_ext/T/0/00000000000000000000",
                                            "/store/timerwheel",
                                            "/store/config/topics.json"};
    for (const std::string& path : paths) {
        resize(path, 0);
        overwrite(path, 0, "untouched " + path);
    }
    open();
    appendMany(0, 10);
    kill();
    open();
    close();
    for (const std::string& path : paths) EXPECT_EQ(file(path), "untouched " + path);
}

/// Sends itself and notes what was acknowledged before the power went.
class Acknowledged {
public:
    void add(const std::vector<service::AppendItem>& items, const std::vector<std::string>& texts) {
        const std::lock_guard lock(mutex_);
        if (cut_) return;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (items[i].status == AppendStatus::PutOk) all_.push_back({items[i].queueId, items[i].queueOffset, texts[i]});
        }
    }
    void cut() {
        const std::lock_guard lock(mutex_);
        cut_ = true;
    }
    [[nodiscard]] bool isCut() {
        const std::lock_guard lock(mutex_);
        return cut_;
    }
    struct Message {
        std::int32_t queueId;
        std::int64_t offset;
        std::string body;
    };
    [[nodiscard]] std::vector<Message> all() {
        const std::lock_guard lock(mutex_);
        return all_;
    }
    void goOn() {
        const std::lock_guard lock(mutex_);
        cut_ = false;
    }

private:
    std::mutex mutex_;
    bool cut_ = false;
    std::vector<Message> all_;
};

TEST_F(MmapRecovery, WhoIsKilledAgainAndAgainDoesNotLookAtMoreOfTheLogEachTime) {
    open();
    appendMany(0, 400);
    kill();
    for (const char* const looked : {"records=400 ", "records=2 ", "records=3 "}) {
        log.clear();
        open();
        EXPECT_TRUE(log.contains(looked)) << log.lines().back().text;
        const auto next = static_cast<int>(store().range("TopicTest", 0).max);
        appendMany(next, next + 1);
        kill();
    }
}

TEST_F(MmapRecovery, WhatAKilledProcessLeftInMemoryIsDurableWhenTheNextOneHasStarted) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE(seed);
        disk = std::make_unique<test::MemoryFiles>();
        open();
        appendMany(0, 400);
        ASSERT_TRUE(disk->exists("/store/commitlog/" + fileName(32'768)));
        // Into the page cache, so that the next start finds the units as they should be.
        ASSERT_TRUE(store().trim(0));
        kill();
        open();
        EXPECT_TRUE(log.contains("unitsAdded=0")) << log.lines().back().text;
        appendMany(400, 401);
        ASSERT_TRUE(store().settle());
        powerCut(seed);
        open();
        expectBodies(401);
        log.clear();
        close();
    }
}

// PATCHBAY_POWER_CUTS says how many rounds, PATCHBAY_POWER_CUTS_SEED which ones; `./dev power-cuts` runs thousands.
TEST_F(MmapRecovery, PowerCutsLoseNothingThatWasAcknowledged) {
    options.syncFlush = true;
    const char* wanted = std::getenv("PATCHBAY_POWER_CUTS");
    const int kRounds = wanted == nullptr ? 30 : std::atoi(wanted);
    static constexpr int kQueues = 3;
    const char* seedText = std::getenv("PATCHBAY_POWER_CUTS_SEED");
    std::mt19937_64 random(seedText == nullptr ? 20'261'129 : std::strtoull(seedText, nullptr, 10));
    Acknowledged acknowledged;
    int number = 0;
    for (int round = 0; round < kRounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        std::unique_ptr<test::MemoryFiles> left;
        const std::uint64_t seed = random();
        // Kills come first, so that cuts hit what a recovery found in memory; the first ones of a round hit recovery itself.
        const bool kills = random() % 3 == 0;
        disk->beforeChange(1 + random() % 60, [&] {
            acknowledged.cut();
            left = kills ? disk->afterKill() : disk->afterPowerCut(seed);
        });
        const Status opened = tryOpen();
        ASSERT_TRUE(opened) << opened.toString();
        while (!acknowledged.isCut()) {
            testkit::TestBatch batch;
            std::vector<std::string> texts;
            const auto count = 1 + random() % 5;
            for (std::uint64_t i = 0; i < count; ++i) {
                texts.push_back(std::to_string(number++) + std::string(random() % 700, 'p'));
                batch.add({.queueId = static_cast<std::int32_t>(random() % kQueues), .body = texts.back()});
            }
            batch.appendTo(store());
            ASSERT_TRUE(batch.wait());
            acknowledged.add(batch.items, texts);
            if (random() % 8 == 0) {
                ASSERT_TRUE(store().settle());
            }
            clock.advance(std::chrono::milliseconds(random() % 3000));
        }
        close();
        disk = std::move(left);
        acknowledged.goOn();
        if (kills) continue;
        open();
        std::map<std::int32_t, std::vector<testkit::StoredMessage>> queues;
        for (std::int32_t queue = 0; queue < kQueues; ++queue) {
            queues[queue] = testkit::readAll(store(), "TopicTest", queue);
            ASSERT_EQ(static_cast<std::int64_t>(queues[queue].size()), store().range("TopicTest", queue).max);
            for (std::size_t i = 0; i < queues[queue].size(); ++i) {
                ASSERT_EQ(queues[queue][i].queueOffset, static_cast<std::int64_t>(i));
            }
        }
        for (const auto& message : acknowledged.all()) {
            const auto& queue = queues[message.queueId];
            ASSERT_LT(message.offset, static_cast<std::int64_t>(queue.size()));
            ASSERT_EQ(queue[static_cast<std::size_t>(message.offset)].body, message.body);
        }
        close();
    }
    EXPECT_GT(acknowledged.all().size(), static_cast<std::size_t>(5 * kRounds));
}

TEST_F(MmapRecovery, KillsAtRandomPointsKeepWhatWasAcknowledgedWithoutSync) {
    std::mt19937_64 random(7);
    std::vector<std::string> acknowledged;
    for (int round = 0; round < 60; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        std::unique_ptr<test::MemoryFiles> left;
        std::atomic<bool> killed{false};
        disk->beforeChange(5 + random() % 40, [&] {
            killed = true;
            left = disk->afterKill();
        });
        ASSERT_TRUE(tryOpen());
        while (!killed) {
            const std::string body = std::to_string(random()) + std::string(random() % 500, 'k');
            const auto item = append(body);
            if (!killed && item.status == AppendStatus::PutOk) acknowledged.push_back(body);
            if (killed) break;
            if (random() % 30 == 0) {
                ASSERT_TRUE(store().settle());
            }
        }
        close();
        disk = std::move(left);
        open();
        const auto all = bodies();
        ASSERT_GE(all.size(), acknowledged.size());
        ASSERT_TRUE(std::equal(acknowledged.begin(), acknowledged.end(), all.begin()));
        acknowledged = all;
        kill();
    }
}

}  // namespace

}  // namespace patchbay::mmapstore
