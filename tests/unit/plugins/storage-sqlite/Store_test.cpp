// Proved: retention, removal of rows, other processes' locks, backpressure, and the plugin's life around the store.
// How: a store on a manual clock; locks by a second connection; a disk that does not answer by a VFS of the test.
// Left to others: everything that any store does (tests/contract/storage_sqlite_test.cpp).
#include "Fixture.h"

#include "SqlitePlugin.h"

#include "patchbay/testkit/PluginRunner.h"

#include <deque>
#include <filesystem>

namespace patchbay::plugins::sqlite {
namespace {

using service::AppendStatus;
using testkit::appendOne;
using testkit::TestBatch;

class SqliteStoreTest : public StoreTest {
protected:
    /// Asks until the writer, which cleans up when it has nothing else to do, has come that far.
    std::string awaitAnswer(const std::string& sql, const std::string& wanted) {
        std::string answer;
        for (int i = 0; i < 2'000 && answer != wanted; ++i) {
            static_cast<void>(store().flush());
            answer = ask(sql);
        }
        return answer;
    }
};

TEST_F(SqliteStoreTest, MessagesOlderThanTheRetentionAreRemoved) {
    settings.retention = std::chrono::hours(72);
    for (int day = 0; day < 5; ++day) {
        for (int i = 0; i < 3; ++i) appendOne(store(), {.queueId = i % 2});
        clock.advance(std::chrono::hours(24));
    }
    store().removeOld();
    // Now is day 5: what was stored on the days 2, 3 and 4 is at most 72 hours old.
    EXPECT_EQ(store().range("TopicTest", 0).min, 4);
    EXPECT_EQ(store().range("TopicTest", 1).min, 2);
    EXPECT_EQ(store().stats().earliestMessageMs, clock.wallMs() - 72LL * 3'600'000);
    EXPECT_EQ(awaitAnswer("SELECT count(*) FROM message", "9"), "9");
}

TEST_F(SqliteStoreTest, AStepOfTheClockRemovesNothing) {
    settings.retention = std::chrono::hours(72);
    for (int i = 0; i < 4; ++i) appendOne(store(), {});
    clock.setWallMs(clock.wallMs() + 1000LL * 3'600'000);
    store().removeOld();
    EXPECT_EQ(store().range("TopicTest", 0).min, 0);
    // Time that has really passed counts.
    clock.advance(std::chrono::hours(73));
    store().removeOld();
    EXPECT_EQ(store().range("TopicTest", 0).min, 4);
}

TEST_F(SqliteStoreTest, MessagesBeyondTheByteLimitAreRemovedOldestFirst) {
    std::int32_t bytes = 0;
    for (int i = 0; i < 10; ++i) bytes = appendOne(store(), {}).recordBytes;
    close();
    settings.messageBytesMax = bytes * 4;
    store().removeOld();
    EXPECT_EQ(store().range("TopicTest", 0).min, 6);
    appendOne(store(), {});
    store().removeOld();
    EXPECT_EQ(store().range("TopicTest", 0).min, 7);
    EXPECT_EQ(testkit::readAll(store(), "TopicTest", 0, 7).size(), 4U);
}

TEST_F(SqliteStoreTest, RowsAndKeysOfRemovedMessagesGoAndTheFileShrinks) {
    settings.pageBytes = 4096;  // of which each has room for three messages, so that whole pages become empty
    for (int i = 0; i < 3'000; ++i) {
        appendOne(store(), {.topic = i % 2 == 0 ? "kept" : "gone", .body = std::string(1000, 'b'), .keys = "k" + std::to_string(i), .uniqueKey = "U" + std::to_string(i)});
    }
    const auto before = std::stoll(ask("PRAGMA page_count"));
    ASSERT_TRUE(store().deleteTopic("gone"));
    ASSERT_TRUE(store().trim(store().stats().maxPhysicalOffset / 2));
    const auto range = store().range("kept", 0);
    ASSERT_EQ(range.max, 1'500);
    ASSERT_NEAR(static_cast<double>(range.min), 750, 5);
    const auto messages = std::to_string(range.max - range.min);
    const auto keys = std::to_string((range.max - range.min) * 2);
    EXPECT_EQ(awaitAnswer("SELECT count(*) FROM message", messages), messages);
    EXPECT_EQ(awaitAnswer("SELECT count(*) FROM message_key", keys), keys);
    EXPECT_EQ(awaitAnswer("SELECT count(*) FROM dropped", "0"), "0");
    const auto shrunk = [&] { return std::stoll(ask("PRAGMA page_count")) < before / 2; };
    for (int i = 0; i < 2'000 && !shrunk(); ++i) static_cast<void>(store().flush());
    EXPECT_TRUE(shrunk());
    EXPECT_EQ(ask("PRAGMA integrity_check"), "ok");
    close();  // which copies the write-ahead log, whose pages are missing at the end of the file by then
    EXPECT_LT(std::filesystem::file_size(path()), static_cast<std::uintmax_t>(before) * settings.pageBytes / 2);
}

TEST_F(SqliteStoreTest, RemovalGoesOnAfterARestart) {
    for (int i = 0; i < 2'000; ++i) appendOne(store(), {.topic = "gone"});
    ASSERT_TRUE(store().deleteTopic("gone"));
    close();
    EXPECT_EQ(awaitAnswer("SELECT count(*) FROM message", "0"), "0");
}

TEST_F(SqliteStoreTest, PhysicalOffsetsGrowAlthoughTheNewestTopicWasDeletedBeforeARestart) {
    appendOne(store(), {.topic = "kept"});
    std::int64_t newest = 0;
    for (int i = 0; i < 20; ++i) newest = appendOne(store(), {.topic = "gone", .body = std::string(500, 'b')}).physicalOffset;
    ASSERT_TRUE(store().deleteTopic("gone"));
    EXPECT_EQ(awaitAnswer("SELECT count(*) FROM message", "1"), "1");
    close();
    EXPECT_GT(store().stats().maxPhysicalOffset, newest);
    EXPECT_GT(appendOne(store(), {.topic = "kept"}).physicalOffset, newest);
}

TEST_F(SqliteStoreTest, ALockOfAnotherProcessIsReportedAndLeavesNoHole) {
    settings.busyTimeout = std::chrono::milliseconds(1);
    appendOne(store(), {});
    {
        auto other = tool();
        ASSERT_TRUE(other.execute("BEGIN IMMEDIATE"));
        TestBatch batch;
        batch.add({});
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
        EXPECT_EQ(batch.items[0].status, AppendStatus::Busy);
        EXPECT_NE(batch.failure.message().find("locked"), std::string::npos) << batch.failure.message();
        EXPECT_FALSE(store().stats().writable);
    }
    EXPECT_EQ(appendOne(store(), {}).queueOffset, 1);
    EXPECT_TRUE(store().stats().writable);
    EXPECT_TRUE(log.contains("PB-1501 cannot write"));
    EXPECT_TRUE(log.contains("writes work again"));
}

TEST_F(SqliteStoreTest, WhoeverSendsAgainAfterASlowSyncSharesTheNextOne) {
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    settings.syncFlush = true;
    settings.groupTime = std::chrono::seconds(20);
    appendOne(store(), {});
    faults.holdSyncs();
    TestBatch first;
    first.add({});
    first.appendTo(store());
    ASSERT_TRUE(faults.awaitHeldSync());
    TestBatch waits;
    waits.add({});
    waits.appendTo(store());
    clock.advance(std::chrono::seconds(80));
    const auto before = faults.syncs();
    faults.clear();
    ASSERT_TRUE(first.wait());
    TestBatch again;
    again.add({});
    again.appendTo(store());
    ASSERT_TRUE(waits.wait());
    ASSERT_TRUE(again.wait());
    EXPECT_EQ(faults.syncs() - before, 2U) << "the one that was held, and one for both";
    // A sender that is alone waits for nobody.
    EXPECT_EQ(appendOne(store(), {}).queueOffset, 4);
    close();
}

TEST_F(SqliteStoreTest, AGroupHasAsManyMessagesAsIsSaidAndWholeBatches) {
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    settings.syncFlush = true;
    settings.groupMessagesMax = 4;
    appendOne(store(), {});
    const auto commitsFor = [&](int batches, int messages) {
        std::deque<TestBatch> all(static_cast<std::size_t>(batches) + 1);
        faults.holdSyncs();
        all.front().add({});
        all.front().appendTo(store());
        EXPECT_TRUE(faults.awaitHeldSync());
        for (int i = 1; i <= batches; ++i) {
            for (int message = 0; message < messages; ++message) all[static_cast<std::size_t>(i)].add({});
            all[static_cast<std::size_t>(i)].appendTo(store());
        }
        const auto before = faults.syncs();
        faults.clear();
        for (auto& batch : all) EXPECT_TRUE(batch.wait());
        return faults.syncs() - before - 1;  // without the one that was held
    };
    EXPECT_EQ(commitsFor(10, 1), 3U);
    EXPECT_EQ(commitsFor(4, 3), 2U) << "a batch that has begun is not divided";
    EXPECT_EQ(commitsFor(2, 9), 2U) << "one is always taken";
    close();
}

/// Goes on by a step at each look.
class SteppingClock final : public Clock {
public:
    [[nodiscard]] MonotonicTime now() const noexcept override { return MonotonicTime(std::chrono::milliseconds(50) * ++looks_); }
    [[nodiscard]] std::int64_t wallMs() const noexcept override { return 1'700'000'000'000; }

private:
    mutable std::atomic<int> looks_{1'000};
};

TEST_F(SqliteStoreTest, AGroupEndsWhenItsTimeIsOverAndTheRestIsNotForgotten) {
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    settings.syncFlush = true;
    const SteppingClock stepping;
    const auto commitsWithin = [&](std::chrono::milliseconds groupTime) {
        settings.groupTime = groupTime;
        SqliteStore slow(settings, systemFiles(), stepping, log);
        EXPECT_TRUE(slow.open());
        appendOne(slow, {});
        std::deque<TestBatch> all(11);
        faults.holdSyncs();
        all.front().add({});
        all.front().appendTo(slow);
        EXPECT_TRUE(faults.awaitHeldSync());
        for (std::size_t i = 1; i < all.size(); ++i) {
            all[i].add({});
            all[i].appendTo(slow);
        }
        const auto before = faults.syncs();
        faults.clear();
        std::int64_t offset = -1;
        for (auto& batch : all) {
            EXPECT_TRUE(batch.wait());
            EXPECT_EQ(batch.items[0].status, AppendStatus::PutOk);
            EXPECT_GT(batch.items[0].queueOffset, offset) << "in their order";
            offset = batch.items[0].queueOffset;
        }
        return faults.syncs() - before - 1;
    };
    EXPECT_EQ(commitsWithin(std::chrono::milliseconds(20)), 10U);
    EXPECT_EQ(commitsWithin(std::chrono::seconds(10)), 1U);
}

TEST_F(SqliteStoreTest, AKeyFindsOnlyWhatIsReachable) {
    for (int i = 0; i < 6; ++i) appendOne(store(), {.topic = "trimmed", .keys = "k"});
    for (int i = 0; i < 3; ++i) appendOne(store(), {.topic = "again", .keys = "k"});
    const auto hits = [&](const char* topic) {
        const auto found = store().findByKey({.topic = topic, .key = "k", .endMs = clock.wallMs()});
        EXPECT_TRUE(found);
        return found ? found->hits.size() : 99U;
    };
    EXPECT_EQ(hits("trimmed"), 6U);
    ASSERT_TRUE(store().deleteTopic("again"));
    EXPECT_EQ(hits("again"), 0U);
    EXPECT_EQ(appendOne(store(), {.topic = "again", .keys = "k"}).queueOffset, 0);
    EXPECT_EQ(hits("again"), 1U);
    close();
    // As long as rows that were trimmed have not been removed.
    ASSERT_TRUE(tool().execute("UPDATE queue SET min_offset = 4 WHERE topic = 'trimmed'"));
    // Those of the deleted topic may be there still.
    EXPECT_EQ(ask("SELECT count(*) FROM message_key JOIN message USING (physical_offset) JOIN queue ON queue.id = queue_ref "
                  "WHERE key = 'k' AND topic = 'trimmed'"), "6");
    EXPECT_EQ(hits("trimmed"), 2U);
    const auto first = std::stoll(ask("SELECT physical_offset FROM message WHERE queue_offset = 3"));
    EXPECT_EQ(store().at(first).error().code(), StatusCode::NotFound);
}

TEST_F(SqliteStoreTest, WhoDoesNotWaitIsAnsweredAtOnceAndSeenWhenDurable) {
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    settings.syncFlush = true;
    appendOne(store(), {});
    faults.holdSyncs();
    {
        TestBatch quick;
        quick.add({.topic = "new", .body = "quick"}).waitStored = false;
        quick.appendTo(store());
        ASSERT_TRUE(quick.wait());
        EXPECT_EQ(quick.items[0].status, AppendStatus::PutOk);
        EXPECT_EQ(quick.items[0].queueOffset, 0);
    }
    ASSERT_TRUE(faults.awaitHeldSync());
    EXPECT_FALSE(store().range("new", 0).exists);
    TestBatch both;
    both.add({.topic = "new", .body = "quick, too"}).waitStored = false;
    both.add({.topic = "new", .body = "waits"});
    both.appendTo(store());
    EXPECT_EQ(both.timesDone(), 0) << "a batch is answered whole";
    faults.clear();
    ASSERT_TRUE(both.wait());
    EXPECT_EQ(testkit::readAll(store(), "new", 0).size(), 3U);
    EXPECT_EQ(store().stats().behindFlushBytes, 0);
    // The disk refuses, but the message is in the database.
    faults.failSyncs(Status(StatusCode::Io, "input/output error"));
    TestBatch lucky;
    lucky.add({.topic = "new", .body = "lucky"}).waitStored = false;
    lucky.appendTo(store());
    ASSERT_TRUE(lucky.wait());
    EXPECT_EQ(lucky.items[0].status, AppendStatus::PutOk);
    EXPECT_FALSE(store().flush());
    EXPECT_EQ(store().range("new", 0).max, 4);
    EXPECT_GT(store().stats().behindFlushBytes, 0);
    EXPECT_TRUE(log.contains("PB-1501 cannot write"));
    faults.clear();
    EXPECT_TRUE(store().flush());
    EXPECT_EQ(store().stats().behindFlushBytes, 0);
    EXPECT_EQ(appendOne(store(), {.topic = "new"}).queueOffset, 4);
    close();
    EXPECT_EQ(testkit::readAll(store(), "new", 0).size(), 5U);
    close();
}

TEST_F(SqliteStoreTest, AppendsAreBusyWhileTooMuchWaitsForTheDisk) {
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    settings.syncFlush = true;
    settings.queuedBytesMax = 3'000;
    settings.groupTime = {};   // a commit that took long is no reason to wait for others by a clock that stands
    appendOne(store(), {});
    faults.holdSyncs();
    TestBatch written;
    written.add({});
    written.appendTo(store());
    ASSERT_TRUE(faults.awaitHeldSync());
    TestBatch waits;
    waits.add({.body = std::string(2'000, 'w')});
    waits.appendTo(store());
    EXPECT_EQ(store().stats().messagesRefused, 0);
    clock.advance(std::chrono::milliseconds(1'234));
    TestBatch refused;
    refused.add({.body = std::string(2'000, 'r')});
    refused.appendTo(store());
    EXPECT_EQ(refused.timesDone(), 1);
    EXPECT_EQ(refused.items[0].status, AppendStatus::Busy);
    EXPECT_NE(refused.failure.message().find("bytes wait to be written, the oldest for 1234ms, limit sqliteQueuedBytes 3000"), std::string::npos)
        << refused.failure.message();
    EXPECT_TRUE(log.contains("messages are refused")) << "whoever sends one-way is not told";
    EXPECT_EQ(store().stats().messagesRefused, 1);
    EXPECT_EQ(store().stats().oldestAppendMs, 1'234);
    EXPECT_EQ(waits.timesDone(), 0);
    faults.clear();
    ASSERT_TRUE(waits.wait());
    EXPECT_EQ(waits.items[0].status, AppendStatus::PutOk);
    EXPECT_EQ(store().range("TopicTest", 0).max, 3);
    ASSERT_TRUE(store().stats().times);
    EXPECT_EQ(store().stats().times->appendMaxMs, 1'234);
    close();
}

TEST_F(SqliteStoreTest, AFailedFsyncAcknowledgesNothing) {
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    settings.syncFlush = true;
    appendOne(store(), {.body = "kept"});
    faults.failSyncs(Status(StatusCode::Io, "input/output error"));
    TestBatch batch;
    batch.add({.body = "lost"});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    EXPECT_EQ(batch.items[0].status, AppendStatus::Failed);
    EXPECT_FALSE(batch.failure.isOk());
    EXPECT_EQ(store().range("TopicTest", 0).max, 1);
    faults.clear();
    EXPECT_EQ(appendOne(store(), {.body = "next"}).queueOffset, 1);
    const auto all = testkit::readAll(store(), "TopicTest", 0);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].body, "next");
    close();
}

TEST_F(SqliteStoreTest, TheTailCacheForgetsTheOldestAndReadsGoOnFromTheDatabase) {
    settings.tailCacheBytes = 600'000;
    for (int i = 0; i < 200; ++i) appendOne(store(), {.queueId = i % 2, .body = std::string(10'000, static_cast<char>('a' + i % 26))});
    service::ReadResult result;
    store().read("TopicTest", 0, 0, {.hotOnly = true}, nullptr, result);
    EXPECT_EQ(result.status, service::ReadStatus::NotResident);
    store().read("TopicTest", 0, 99, {.hotOnly = true}, nullptr, result);
    EXPECT_EQ(result.status, service::ReadStatus::Found);
    for (int queue = 0; queue < 2; ++queue) {
        const auto all = testkit::readAll(store(), "TopicTest", queue);
        ASSERT_EQ(all.size(), 100U);
        for (std::size_t i = 0; i < all.size(); ++i) {
            ASSERT_EQ(all[i].queueOffset, static_cast<std::int64_t>(i));
            ASSERT_EQ(all[i].body.front(), static_cast<char>('a' + (2 * i + static_cast<std::size_t>(queue)) % 26));
        }
    }
}

TEST_F(SqliteStoreTest, AppendsAfterCloseAreRefused) {
    store().close();
    TestBatch batch;
    batch.add({});
    batch.appendTo(store());
    EXPECT_EQ(batch.timesDone(), 1);
    EXPECT_EQ(batch.items[0].status, AppendStatus::ServiceNotAvailable);
    EXPECT_EQ(store().flush().code(), StatusCode::Unavailable);
}

TEST(SqlitePluginTest, OffersTheStoreFlushesItAndRemovesOldMessages) {
    const testkit::TempDir dir;
    testkit::FakeContext context;
    context.brokerIdentity().storeRoot = dir.path();
    testkit::PluginRunner runner(context);
    runner.add<SqlitePlugin>({{"fileReservedTime", "1"}, {"sqliteTailCacheBytes", "1M"}});
    const Status started = runner.start();
    ASSERT_TRUE(started) << started.toString();
    auto* store = context.services().find<service::MessageStore>();
    ASSERT_NE(store, nullptr);
    EXPECT_TRUE(store->capabilities().sql);
    EXPECT_EQ(appendOne(*store, {}).status, AppendStatus::PutOk);
    EXPECT_GT(store->stats().behindFlushBytes, 0);
    context.advance(std::chrono::milliseconds(500));
    ASSERT_TRUE(store->trim(0));  // goes through the writer, behind the flush
    EXPECT_EQ(store->stats().behindFlushBytes, 0);
    context.advance(std::chrono::hours(2));
    EXPECT_EQ(store->range("TopicTest", 0).min, 1);
    EXPECT_TRUE(systemFiles().exists(dir.file("sqlite/messages.db")));
}

TEST(SqlitePluginTest, KeepsMessagesAsLongAsIsSaidWhileItRuns) {
    const testkit::TempDir dir;
    testkit::FakeContext context;
    context.brokerIdentity().storeRoot = dir.path();
    testkit::PluginRunner runner(context);
    auto& plugin = runner.add<SqlitePlugin>({{"sqliteCleanInterval", "10m"}, {"flushIntervalCommitLog", "10m"}});
    ASSERT_TRUE(runner.start());
    auto* store = context.services().find<service::MessageStore>();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(appendOne(*store, {}).status, AppendStatus::PutOk);
    context.advance(std::chrono::hours(2));
    EXPECT_EQ(store->range("TopicTest", 0).min, 0);
    ASSERT_TRUE(runner.reconfigure(plugin, {{"fileReservedTime", "1"}}));
    context.advance(std::chrono::hours(1));
    EXPECT_EQ(store->range("TopicTest", 0).min, 1);
}

}  // namespace
}  // namespace patchbay::plugins::sqlite
