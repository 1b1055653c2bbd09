// What is left after a close, a kill, damage to files and faults of the disk.
#include "Groups.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::testkit {

void linkDurabilityTests() {}

namespace {

using service::AppendStatus;
using service::ReadStatus;

std::vector<std::string> numbered(int from, int to, std::string_view prefix = "body-") {
    std::vector<std::string> all;
    for (int i = from; i < to; ++i) all.push_back(std::string(prefix) + std::to_string(i));
    return all;
}

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
    appendMany(10);
    EXPECT_TRUE(store().flush());
    EXPECT_EQ(store().stats().behindFlushBytes, 0);
    if (!durable()) GTEST_SKIP() << "not durable";
    killAndReopen();
    EXPECT_EQ(bodies(), numbered(0, 10));
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

// Whatever is damaged: the store refuses to open, or shows an unbroken beginning of each queue. It never shows garbage.
void expectCleanPrefix(service::MessageStore& store, int appended) {
    const auto range = store.range("TopicTest", 0);
    ASSERT_LE(range.max, appended);
    service::ReadResult result;
    for (std::int64_t offset = range.min; offset < range.max;) {
        store.read("TopicTest", 0, offset, {}, nullptr, result);
        if (result.status != ReadStatus::Found) return;  // a read error is no garbage
        for (const auto& message : messagesOf(result)) ASSERT_EQ(message.body, "body-" + std::to_string(message.queueOffset));
        offset = result.nextOffset;
    }
}

TEST_P(MessageStoreContract, TruncatedFilesGiveACleanPrefixOrARefusal) {
    if (!durable()) GTEST_SKIP() << "not durable";
    static constexpr int kMessages = 200;
    appendMany(kMessages);
    const TempDir seen;
    copyFilesTo(seen);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(seen.path())) {
        if (!entry.is_regular_file() || entry.file_size() == 0) continue;
        const auto name = std::filesystem::relative(entry.path(), seen.path()).string();
        for (const auto share : {0U, 50U, 97U}) {
            SCOPED_TRACE(name + " cut to " + std::to_string(share) + " percent");
            const TempDir copy;
            copyFilesTo(copy);
            std::filesystem::resize_file(copy.file(name), entry.file_size() * share / 100);
            auto opened = open(copy);
            if (opened) expectCleanPrefix((*opened)->store(), kMessages);
        }
    }
}

TEST_P(MessageStoreContract, FlippedBitsAreFoundOnStart) {
    if (!durable() || !GetParam().traits.detectsBitFlips) {
        observed("finds flipped bits", "no");
        GTEST_SKIP() << "the backend does not promise it";
    }
    static constexpr int kMessages = 50;
    appendMany(kMessages);
    const TempDir seen;
    copyFilesTo(seen);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(seen.path())) {
        if (!entry.is_regular_file() || entry.file_size() == 0) continue;
        const auto name = std::filesystem::relative(entry.path(), seen.path()).string();
        SCOPED_TRACE(name);
        const TempDir copy;
        copyFilesTo(copy);
        std::fstream file(copy.file(name), std::ios::in | std::ios::out | std::ios::binary);
        const auto at = static_cast<std::streamoff>(std::min<std::uintmax_t>(entry.file_size(), 4096) / 2);
        file.seekg(at);
        const auto byte = static_cast<char>(file.get() ^ 0x10);
        file.seekp(at);
        file.put(byte);
        file.close();
        auto opened = open(copy);
        if (opened) expectCleanPrefix((*opened)->store(), kMessages);
    }
    observed("finds flipped bits", "yes");
}

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

TEST_P(MessageStoreContract, AFullDiskIsReportedAndLeavesNoHole) {
    if (!GetParam().traits.usesFileSystem) GTEST_SKIP() << "its files cannot be made to fail from here";
    appendMany(2);
    files.failWrites(Status(StatusCode::Full, "no space left on device"));
    // What is reserved already may still take messages; in the end the store has to say that it is full.
    int stored = 2;
    AppendStatus status = AppendStatus::PutOk;
    for (int i = 0; i < 2'000 && service::isStored(status); ++i) {
        TestBatch batch;
        batch.add({.body = "body-" + std::to_string(stored)});
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
        status = batch.items[0].status;
        if (service::isStored(status)) {
            ++stored;
        } else {
            EXPECT_FALSE(batch.failure.isOk());
        }
    }
    files.clear();
    bool writable = false;
    for (int i = 0; i < 100 && !writable; ++i) {
        clock.advance(std::chrono::seconds(1));
        writable = service::isStored(appendOne(store(), {.body = "body-" + std::to_string(stored)}).status);
    }
    if (writable) {
        EXPECT_EQ(bodies(), numbered(0, stored + 1));
    } else {
        EXPECT_FALSE(store().stats().writable);
        EXPECT_FALSE(store().stats().health.isOk());
        EXPECT_EQ(bodies(), numbered(0, stored));
    }
    observed("goes on after a full disk", writable ? "yes" : "after a restart");
}

TEST_P(MessageStoreContract, AFailedSyncAcknowledgesNothingAndWhatWasAcknowledgedStays) {
    if (!GetParam().traits.usesFileSystem) GTEST_SKIP() << "its files cannot be made to fail from here";
    syncFlush = true;
    appendMany(3);
    files.failSyncs(Status(StatusCode::Io, "input/output error"));
    TestBatch batch;
    batch.add({.body = "body-3"});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    EXPECT_NE(batch.items[0].status, AppendStatus::PutOk);
    files.clear();
    const bool goesOn = service::isStored(appendOne(store(), {.body = "body-after"}).status);
    EXPECT_TRUE(goesOn || !store().stats().health.isOk()) << "it neither goes on nor says why";
    observed("goes on after a failed sync", goesOn ? "yes" : "after a restart");
    killAndReopen();
    const auto all = bodies();
    ASSERT_GE(all.size(), goesOn ? 4U : 3U);
    EXPECT_EQ(std::vector<std::string>(all.begin(), all.begin() + 3), numbered(0, 3));
    EXPECT_TRUE(!goesOn || all.back() == "body-after");
    EXPECT_EQ(appendOne(store(), {}).queueOffset, static_cast<std::int64_t>(all.size()));
}

TEST_P(MessageStoreContract, AReadErrorIsNeverTakenForTheEndOrForContent) {
    if (!GetParam().traits.usesFileSystem) GTEST_SKIP() << "its files cannot be made to fail from here";
    appendMany(200);
    close();
    const auto first = store().range("TopicTest", 0);
    ASSERT_EQ(first.max, 200);
    files.failReads(Status(StatusCode::Io, "input/output error"));
    expectCleanPrefix(store(), 200);
    EXPECT_EQ(store().range("TopicTest", 0).max, 200);
    files.clear();
    EXPECT_EQ(bodies(), numbered(0, 200));
    EXPECT_EQ(appendOne(store(), {}).queueOffset, 200);
}

}  // namespace
}  // namespace patchbay::testkit
