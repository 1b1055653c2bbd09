// What is left after a close, a kill and a power cut.
#include "Groups.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::testkit {

void linkDurabilityTests() {}

namespace {

using service::AppendStatus;
using service::ReadStatus;

TEST_P(MessageStoreContract, ACleanCloseKeepsEverything) {
    if (!durable()) GTEST_SKIP() << "not durable";
    appendMany(40);
    appendMany(3, "Other", 7);
    const auto before = appendOne(store(), {.topic = "Other", .queueId = 7, .keys = "findme"});
    close();
    EXPECT_EQ(bodies(), numbered(0, 40));
    EXPECT_EQ(bodies("Other", 7).size(), 4U);
    const auto record = store().at(before.physicalOffset);
    ASSERT_TRUE(record) << record.error().toString();
    EXPECT_EQ(parseRecords(record->bytes).at(0).queueOffset, 3);

    const auto after = appendOne(store(), {.body = "body-40"});
    EXPECT_EQ(after.queueOffset, 40);
    EXPECT_GT(after.physicalOffset, before.physicalOffset);
    EXPECT_EQ(bodies(), numbered(0, 41));
    EXPECT_EQ(store().queues().size(), 2U);
    observed("survives a restart", "yes");
}

TEST_P(MessageStoreContract, AKilledProcessKeepsWhatWasAcknowledged) {
    if (!durable()) GTEST_SKIP() << "not durable";
    for (const bool sync : {false, true}) {
        close();
        syncFlush = sync;
        const int before = static_cast<int>(store().range("TopicTest", 0).max);
        TestBatch batch;
        for (int i = before; i < before + 25; ++i) batch.add({.body = "body-" + std::to_string(i)});
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
        killAndReopen();
        EXPECT_EQ(bodies(), numbered(0, before + 25));
        EXPECT_EQ(appendOne(store(), {.body = "body-" + std::to_string(before + 25)}).queueOffset, before + 25);
    }
    observed("survives a killed process", "yes");
}

TEST_P(MessageStoreContract, FlushMakesEverythingBeforeItDurable) {
    store();
    const auto before = files.syncs();
    appendMany(10);
    EXPECT_TRUE(store().flush());
    EXPECT_EQ(store().stats().behindFlushBytes, 0);
    if (!durable()) GTEST_SKIP() << "not durable";
    if (GetParam().traits.usesFileSystem) {
        EXPECT_GT(files.syncs(), before) << "nothing was synced";
    }
    killAndReopen();
    EXPECT_EQ(bodies(), numbered(0, 10));
}

TEST_P(MessageStoreContract, APowerCutLeavesWhatWasFlushed) {
    if (!GetParam().traits.usesFileSystem) GTEST_SKIP() << "what its files would lose cannot be seen from here";
    watchPower();
    appendMany(10);
    appendMany(2, "Other", 3);
    ASSERT_TRUE(store().flush());
    TestBatch later;
    for (int i = 10; i < 15; ++i) later.add({.body = "body-" + std::to_string(i)});
    later.appendTo(store());
    ASSERT_TRUE(later.wait());
    cutPowerAndReopen();
    const auto left = static_cast<int>(bodies().size());
    ASSERT_GE(left, 10) << "flush() had said that they are durable";
    ASSERT_LE(left, 15);
    EXPECT_EQ(bodies(), numbered(0, left));
    EXPECT_EQ(bodies("Other", 3), numbered(0, 2));
    expectAppends(left);
    observed("survives a power cut after flush()", "yes");
}

TEST_P(MessageStoreContract, UnderSynchronousFlushAPowerCutLosesNothingAcknowledged) {
    if (!GetParam().traits.usesFileSystem) GTEST_SKIP() << "what its files would lose cannot be seen from here";
    syncFlush = true;
    watchPower();
    appendMany(10);
    appendMany(2, "Other", 3);
    ASSERT_TRUE(store().deleteTopic("Other"));
    EXPECT_EQ(appendOne(store(), {.body = "body-10"}).status, AppendStatus::PutOk);
    cutPowerAndReopen();
    EXPECT_EQ(bodies(), numbered(0, 11));
    EXPECT_FALSE(store().range("Other", 3).exists) << "what was deleted is back";
    expectAppends(11);
    observed("survives a power cut under synchronous flush", "yes");
}

TEST_P(MessageStoreContract, ATurnedBackClockLosesNothing) {
    if (!durable()) GTEST_SKIP() << "not durable";
    appendMany(5);
    clock.setWallMs(clock.wallMs() - 3'600'000);
    TestBatch batch;
    for (int i = 5; i < 10; ++i) batch.add({.body = "body-" + std::to_string(i)});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    for (const auto& item : batch.items) ASSERT_EQ(item.status, AppendStatus::PutOk) << batch.failure.toString();
    killAndReopen();
    EXPECT_EQ(bodies(), numbered(0, 10));
    clock.setWallMs(clock.wallMs() - 3'600'000);
    close();
    EXPECT_EQ(bodies(), numbered(0, 10));
    expectAppends(10);
}

#if !defined(__SANITIZE_THREAD__)  // a forked child that starts threads is beyond that tool
TEST_P(MessageStoreContract, KillingTheProcessUnderLoadLosesNothingAcknowledged) {
    if (!durable()) GTEST_SKIP() << "not durable";
    close();
    const TempDir dir;
    int pipes[2] = {};
    ASSERT_EQ(pipe(pipes), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::close(pipes[0]);
        auto opened = open(dir);
        if (!opened) _exit(3);
        for (int i = 0;; ++i) {
            if (appendOne((*opened)->store(), {.body = "body-" + std::to_string(i)}).status != AppendStatus::PutOk) _exit(4);
            const char acknowledged = 'a';
            if (::write(pipes[1], &acknowledged, 1) != 1) _exit(5);
        }
    }
    ::close(pipes[1]);
    static constexpr int kEnough = 200;
    int acknowledged = 0;
    char byte = 0;
    while (acknowledged < kEnough && ::read(pipes[0], &byte, 1) == 1) ++acknowledged;
    kill(child, SIGKILL);
    while (::read(pipes[0], &byte, 1) == 1) ++acknowledged;
    ::close(pipes[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << status;
    ASSERT_GE(acknowledged, kEnough);

    auto reopened = open(dir);
    ASSERT_TRUE(reopened) << reopened.error().toString();
    const auto all = readAll((*reopened)->store(), "TopicTest", 0);
    ASSERT_GE(static_cast<int>(all.size()), acknowledged);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].body, "body-" + std::to_string(i));
}
#endif

TEST_P(MessageStoreContract, OpeningTwiceIsRefused) {
    if (!durable()) GTEST_SKIP() << "nothing to share";
    const TempDir dir;
    auto first = open(dir);
    ASSERT_TRUE(first) << first.error().toString();
    const auto second = open(dir);
    EXPECT_FALSE(second);
    EXPECT_FALSE(second.error().message().empty());
}

TEST_P(MessageStoreContract, UnderSynchronousFlushNothingIsVisibleBeforeItIsDurable) {
    if (!GetParam().traits.usesFileSystem) GTEST_SKIP() << "its files cannot be held back from here";
    syncFlush = true;
    appendMany(1);
    files.holdSyncs();
    TestBatch batch;
    batch.add({.body = "body-1"});
    batch.appendTo(store());
    ASSERT_TRUE(files.awaitHeldSync());
    EXPECT_EQ(batch.timesDone(), 0);
    EXPECT_EQ(store().range("TopicTest", 0).max, 1);
    read("TopicTest", 0, 1, ReadStatus::OffsetAtEnd);
    files.clear();
    ASSERT_TRUE(batch.wait());
    EXPECT_EQ(bodies(), numbered(0, 2));
}

TEST_P(MessageStoreContract, WhoDoesNotWaitForTheDiskIsAnsweredAllTheSame) {
    syncFlush = true;
    appendMany(1);
    const bool held = GetParam().traits.usesFileSystem;
    if (held) files.holdSyncs();
    TestBatch batch;
    batch.add({.body = "body-1"}).waitStored = false;
    batch.appendTo(store());
    if (held) {
        ASSERT_TRUE(files.awaitHeldSync());
        EXPECT_EQ(store().range("TopicTest", 0).max, 1) << "visible before it is durable, whoever waits for it";
        files.clear();
    }
    ASSERT_TRUE(batch.wait());
    EXPECT_EQ(batch.items[0].status, AppendStatus::PutOk);
    EXPECT_EQ(batch.items[0].queueOffset, 1);
    EXPECT_EQ(appendOne(store(), {.body = "body-2"}).queueOffset, 2);
    EXPECT_EQ(bodies(), numbered(0, 3));
    close();
    EXPECT_EQ(batch.timesDone(), 1);
}

}  // namespace
}  // namespace patchbay::testkit
