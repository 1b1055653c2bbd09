// Proved: what the store does on bad days that are SQLite's own: locks, rights, a full disk, a damaged page, a write-ahead log that a
// kill left or that a long query keeps; each with the words that an operator reads. How: second connections, damaged files, another
// user's rights, a disk whose free space the test sets. Left to others: power cuts (power_cut_test.cpp), faults that every store knows.
#include "Fixture.h"

#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::plugins::sqlite {
namespace {

using service::AppendStatus;
using service::ReadStatus;
using testkit::appendOne;
using testkit::TestBatch;

/// The system's files, on a disk with as much room as the test says.
class SmallDisk final : public FileSystem {
public:
    std::atomic<std::uint64_t> freeBytes{1U << 30};

    [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override { return below_.open(path, mode); }
    Status makeDirectories(const std::string& path) override { return below_.makeDirectories(path); }
    [[nodiscard]] Result<std::vector<FileInfo>> list(const std::string& path) const override { return below_.list(path); }
    [[nodiscard]] bool exists(const std::string& path) const noexcept override { return below_.exists(path); }
    Status rename(const std::string& from, const std::string& to) override { return below_.rename(from, to); }
    Status remove(const std::string& path) override { return below_.remove(path); }
    Status syncDirectory(const std::string& path) override { return below_.syncDirectory(path); }
    Status syncAll(const std::string& path) override { return below_.syncAll(path); }
    [[nodiscard]] Result<DiskSpace> space(const std::string&) const override { return DiskSpace{100ULL << 30, freeBytes}; }
    [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path) override { return below_.lock(path); }

private:
    FileSystem& below_ = systemFiles();
};

class SqliteBadDays : public StoreTest {
protected:
    void expectRefused(StatusCode code, std::string_view words) {
        const Status opened = tryOpen();
        EXPECT_EQ(opened.code(), code) << opened.toString();
        EXPECT_NE(opened.message().find(words), std::string::npos) << opened.message();
        EXPECT_NE(opened.message().find(dir.path()), std::string::npos) << opened.message();
    }
    /// What an append that is refused says.
    static Status refusal(service::MessageStore& store) {
        TestBatch batch;
        batch.add({.body = "refused"});
        batch.appendTo(store);
        EXPECT_TRUE(batch.wait());
        EXPECT_EQ(batch.items[0].status, AppendStatus::ServiceNotAvailable);
        return batch.failure;
    }
    /// In the file, as a disk does it. The store has to be closed.
    void flipBitOf(const std::string& text) const {
        std::string bytes(std::filesystem::file_size(path()), '\0');
        std::ifstream(path(), std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        const auto at = bytes.find(text);
        ASSERT_NE(at, std::string::npos);
        std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(at));
        file.put(static_cast<char>(text[0] ^ 4));
    }
    /// Numbered from 1. The store has to be closed.
    void damagePage(std::size_t page) const {
        std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>((page - 1) * settings.pageBytes));
        file << std::string(settings.pageBytes, '\xff');
    }
    void damageRootOf(const std::string& name) { damagePage(std::stoul(ask("SELECT rootpage FROM sqlite_master WHERE name = '" + name + "'"))); }
    static void expectHas(const Status& status, std::initializer_list<std::string_view> words) {
        for (const auto word : words) EXPECT_NE(status.message().find(word), std::string::npos) << word << " is not in: " << status.message();
    }
};

/// Root may write everywhere: while this lives the process has nobody's rights.
class AsNobody {
public:
    AsNobody() {
        if (geteuid() == 0) switched_ = seteuid(65'534) == 0;
    }
    ~AsNobody() {
        if (switched_ && seteuid(0) != 0) std::abort();
    }

private:
    bool switched_ = false;
};

TEST_F(SqliteBadDays, ADatabaseThatAnotherProcessHasForItselfIsRefusedAtTheStart) {
    settings.busyTimeout = std::chrono::milliseconds(1);
    appendOne(store(), {.body = "kept"});
    close();
    {
        auto other = tool();
        ASSERT_TRUE(other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE"));
        expectRefused(StatusCode::Busy, "locked");
    }
    EXPECT_EQ(store().range("TopicTest", 0).max, 1);
}

TEST_F(SqliteBadDays, ADirectoryThatMayNotBeWrittenIsRefusedByName) {
    ASSERT_EQ(chmod(dir.path().c_str(), 0555), 0);
    {
        const AsNobody nobody;
        const Status opened = tryOpen();
        EXPECT_FALSE(opened);
        expectHas(opened, {dir.path(), "ermission"});
    }
    ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
    EXPECT_EQ(appendOne(store(), {}).status, AppendStatus::PutOk);
}

TEST_F(SqliteBadDays, ADatabaseThatMayOnlyBeReadIsRefusedByName) {
    appendOne(store(), {});
    close();
    ASSERT_EQ(chmod(dir.path().c_str(), 0777), 0);
    ASSERT_EQ(chmod(path().c_str(), 0444), 0);
    ASSERT_EQ(chmod(dir.file("lock").c_str(), 0666), 0);
    {
        const AsNobody nobody;
        expectRefused(StatusCode::Denied, "can only be read");
    }
}

TEST_F(SqliteBadDays, ADamagedPageStopsItsQueueAndNothingElse) {
    settings.pageBytes = 4096;  // of which each has room for two messages
    settings.tailCacheBytes = 0;
    settings.busyTimeout = std::chrono::milliseconds(0);
    for (int i = 0; i < 40; ++i) {
        appendOne(store(), {.topic = "damaged", .body = "d" + std::to_string(i) + "-" + std::string(1'500, 'd')});
        appendOne(store(), {.topic = "whole", .body = std::string(1'500, 'w')});
    }
    close();
    std::string bytes(std::filesystem::file_size(path()), '\0');
    std::ifstream(path(), std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const std::size_t page = bytes.find("d20-ddd") / 4096 * 4096;
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(page));
    file << std::string(4096, '\xff');
    file.close();

    service::ReadResult result;
    std::int64_t offset = 0;
    for (result.status = ReadStatus::Found; result.status == ReadStatus::Found; offset = result.nextOffset) {
        store().read("damaged", 0, offset, {.messagesMax = 4}, nullptr, result);
        for (const auto& message : testkit::messagesOf(result)) ASSERT_EQ(message.body.substr(0, message.body.find('-')), "d" + std::to_string(message.queueOffset));
    }
    EXPECT_EQ(result.status, ReadStatus::Failed);
    EXPECT_LE(offset, 20);
    EXPECT_GE(offset, 18);
    EXPECT_TRUE(log.contains("PB-1502 cannot read messages"));
    // Behind the damage everything is there, and new messages are taken.
    store().read("damaged", 0, 24, {}, nullptr, result);
    EXPECT_EQ(testkit::messagesOf(result).at(0).body.substr(0, 3), "d24");
    EXPECT_EQ(appendOne(store(), {.topic = "damaged"}).queueOffset, 40);
    EXPECT_EQ(appendOne(store(), {.topic = "whole"}).queueOffset, 40);
}

TEST_F(SqliteBadDays, AFlippedBitInABodyIsPassedOverAndSaid) {
    settings.tailCacheBytes = 0;
    std::int64_t damagedAt = 0;
    for (int i = 0; i < 5; ++i) {
        const auto item = appendOne(store(), {.body = "body-number-" + std::to_string(i), .keys = "k"});
        if (i == 2) damagedAt = item.physicalOffset;
    }
    appendOne(store(), {.topic = "alone", .body = "alone-and-damaged"});
    close();
    flipBitOf("body-number-2");
    flipBitOf("alone-and-damaged");
    plugin::Counter lost;
    store().countLostIn(lost);
    service::ReadResult result;
    store().read("TopicTest", 0, 0, {}, nullptr, result);
    EXPECT_EQ(result.nextOffset, 5);
    std::string seen;
    for (const auto& message : testkit::messagesOf(result)) seen += std::to_string(message.queueOffset) + "=" + message.body + " ";
    EXPECT_EQ(seen, "0=body-number-0 1=body-number-1 3=body-number-3 4=body-number-4 ");
    EXPECT_TRUE(log.contains("PB-1502 a message is passed over, because it is damaged"));
    EXPECT_TRUE(log.contains("its body does not fit its checksum"));
    EXPECT_EQ(lost.value(), 1U);
    // Nobody is kept waiting for it, and nobody is told that there was nothing.
    store().read("alone", 0, 0, {}, nullptr, result);
    EXPECT_EQ(result.status, ReadStatus::Gone);
    EXPECT_EQ(result.nextOffset, 1);
    EXPECT_EQ(lost.value(), 2U);
    const auto asked = store().at(damagedAt);
    EXPECT_EQ(asked.error().code(), StatusCode::Corrupt);
    EXPECT_NE(asked.error().message().find(std::to_string(damagedAt)), std::string::npos) << asked.error().message();
    const auto found = store().findByKey({.topic = "TopicTest", .key = "k", .endMs = clock.wallMs()});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->hits.size(), 4U);
    EXPECT_TRUE(log.contains("PB-1502 a message is left out of what has a key"));
    EXPECT_EQ(lost.value(), 4U);
}

TEST_F(SqliteBadDays, ADamagedTableOfQueuesIsRefusedAtTheStartByName) {
    appendOne(store(), {});
    close();
    damageRootOf("queue");
    expectRefused(StatusCode::Corrupt, "malformed");
}

TEST_F(SqliteBadDays, ADamagedIndexOfQueuesIsRefusedAtTheStartByName) {
    appendOne(store(), {});
    close();
    damageRootOf("message_queue");
    expectRefused(StatusCode::Corrupt, "malformed");
}

TEST_F(SqliteBadDays, ADamagedIndexOfKeysStopsWhatHasKeysAndNothingElse) {
    settings.tailCacheBytes = 0;
    appendOne(store(), {.keys = "k"});
    close();
    damageRootOf("message_key");
    EXPECT_EQ(store().findByKey({.topic = "TopicTest", .key = "k", .endMs = clock.wallMs()}).error().code(), StatusCode::Corrupt);
    TestBatch batch;
    batch.add({.keys = "k"});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    EXPECT_EQ(batch.items[0].status, AppendStatus::Failed);
    expectHas(batch.failure, {"messages.db", "malformed"});
    EXPECT_EQ(appendOne(store(), {}).queueOffset, 1);
    EXPECT_EQ(testkit::readAll(store(), "TopicTest", 0).size(), 2U);
}

TEST_F(SqliteBadDays, RemovalOverADamagedPageIsNamedAndTriedNowAndThen) {
    settings.pageBytes = 4'096;
    for (int i = 0; i < 40; ++i) appendOne(store(), {.body = "d" + std::to_string(i) + "-" + std::string(1'500, 'd')});
    close();
    std::string bytes(std::filesystem::file_size(path()), '\0');
    std::ifstream(path(), std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    damagePage(bytes.find("d2-ddd") / settings.pageBytes + 1);
    constexpr std::string_view kLine = "cannot remove old messages";
    ASSERT_TRUE(store().trim(store().stats().maxPhysicalOffset / 2));
    const auto min = store().range("TopicTest", 0).min;
    for (int i = 0; i < 2'000 && log.countLimited(kLine) == 0; ++i) static_cast<void>(store().flush());
    EXPECT_TRUE(log.contains("cannot remove old messages"));
    for (int i = 0; i < 50; ++i) EXPECT_EQ(appendOne(store(), {}).status, AppendStatus::PutOk);
    ASSERT_TRUE(store().flush());
    EXPECT_EQ(log.countLimited(kLine), 1U) << "not with every group";
    EXPECT_EQ(store().range("TopicTest", 0).min, min);
    clock.advance(std::chrono::seconds(10));
    appendOne(store(), {});
    for (int i = 0; i < 2'000 && log.countLimited(kLine) < 2; ++i) static_cast<void>(store().flush());
    EXPECT_EQ(log.countLimited(kLine), 2U);
    EXPECT_EQ(testkit::readAll(store(), "TopicTest", 0, min + 4).size(), static_cast<std::size_t>(91 - min - 4));
}

TEST_F(SqliteBadDays, ARowThatClaimsMoreThanARecordHoldsIsPassedOver) {
    settings.tailCacheBytes = 0;
    for (int i = 0; i < 4; ++i) appendOne(store(), {.tags = "tag"});
    close();
    // The second as an older version stored it.
    ASSERT_TRUE(tool().execute("UPDATE message SET properties = printf('%40000s', 'p') WHERE queue_offset IN (1, 2);"
                               "UPDATE message SET body_crc = NULL WHERE queue_offset = 2; UPDATE message SET tags_code = 7, store_host = 'nowhere' WHERE queue_offset = 3"));
    service::ReadResult result;
    store().read("TopicTest", 0, 0, {}, nullptr, result);
    const auto all = testkit::messagesOf(result);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].queueOffset, 3);
    EXPECT_TRUE(log.contains("its parts have not the length that was stored"));
}

TEST_F(SqliteBadDays, MissingRowsArePassedOverAndSaid) {
    settings.tailCacheBytes = 0;
    std::vector<std::int64_t> physical;
    for (int i = 0; i < 20; ++i) {
        physical.push_back(appendOne(store(), {}).physicalOffset);
        clock.advance(std::chrono::seconds(1));
    }
    close();
    ASSERT_TRUE(tool().execute("DELETE FROM message WHERE queue_offset IN (0, 9, 10, 11)"));
    plugin::Counter lost;
    store().countLostIn(lost);
    service::ReadResult result;
    store().read("TopicTest", 0, 0, {}, nullptr, result);
    EXPECT_EQ(result.messages, 16);
    EXPECT_EQ(result.nextOffset, 20);
    EXPECT_EQ(lost.value(), 4U);
    EXPECT_TRUE(log.contains("PB-1502 messages are passed over, because their rows are missing"));
    store().read("TopicTest", 0, 9, {.messagesMax = 1}, nullptr, result);
    EXPECT_EQ(testkit::messagesOf(result).at(0).queueOffset, 12);
    // What is there keeps its place, whoever looks for it by time or by physical offset.
    EXPECT_EQ(*store().offsetAt("TopicTest", 0, clock.wallMs() - 15'000, service::Bound::Lower), 5);
    EXPECT_EQ(store().storeTimeAt("TopicTest", 0, 10).error().code(), StatusCode::NotFound);
    ASSERT_TRUE(store().trim(physical[4]));
    EXPECT_EQ(store().range("TopicTest", 0).min, 4);
    // A queue of which all is lost ends its readers' waiting, too.
    close();
    ASSERT_TRUE(tool().execute("UPDATE queue SET next_offset = 20; DELETE FROM message"));
    store().read("TopicTest", 0, 4, {}, nullptr, result);
    EXPECT_EQ(result.status, ReadStatus::Gone);
    EXPECT_EQ(result.nextOffset, 20);
}

TEST_F(SqliteBadDays, MessagesAreRefusedBeforeTheDiskIsFullAndTakenAgainWhenThereIsRoom) {
    SmallDisk disk;
    settings.diskFreeBytesMin = 32 << 20;
    SqliteStore small(settings, disk, clock, log);
    ASSERT_TRUE(small.open());
    const auto first = appendOne(small, {});
    appendOne(small, {.body = "second"});
    disk.freeBytes = 31 << 20;
    clock.advance(std::chrono::seconds(1));
    expectHas(refusal(small), {dir.path(), "32505856", "sqliteDiskFreeBytesMin", "33554432"});
    EXPECT_FALSE(small.stats().writable);
    // Old messages can still be removed, which is the way out.
    EXPECT_TRUE(small.trim(first.physicalOffset + first.recordBytes));
    EXPECT_EQ(small.range("TopicTest", 0).min, 1);
    disk.freeBytes = 40 << 20;
    clock.advance(std::chrono::seconds(1));
    EXPECT_EQ(appendOne(small, {}).queueOffset, 2);
    EXPECT_TRUE(small.stats().writable);
}

TEST_F(SqliteBadDays, AGroupThatIsRefusedBeforeItsTransactionForgetsNoStamp) {
    SmallDisk disk;
    disk.freeBytes = 1 << 30;
    settings.tailCacheBytes = 0;
    SqliteStore small(settings, disk, clock, log);
    ASSERT_TRUE(small.open());
    const auto put = [&](int region) {
        const std::string own = "TRACE_ON\x01true\x02MSG_REGION\x01region-" + std::to_string(region) + "\x02";
        testkit::TestBatch batch;
        batch.add({}).brokerProperties = own;
        batch.appendTo(small);
        EXPECT_TRUE(batch.wait());
        return service::isStored(batch.items[0].status);
    };
    // Behind the first of a kind, the second, and the third: one of them makes the stamp.
    for (int sent = 1; sent <= 3; ++sent) {
        for (int i = 0; i < sent; ++i) EXPECT_TRUE(put(sent));
        disk.freeBytes = 0;
        clock.advance(std::chrono::seconds(1));
        EXPECT_FALSE(put(sent));
        disk.freeBytes = 1 << 30;
        clock.advance(std::chrono::seconds(1));
        for (int i = 0; i < 4; ++i) EXPECT_TRUE(put(sent));
    }
    EXPECT_EQ(ask("SELECT count(*) FROM stamp"), "3");
}

TEST_F(SqliteBadDays, AFullDiskIsNamedAndWritesGoOnByThemselves) {
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    appendOne(store(), {.body = "kept"});
    faults.failWrites(Status(StatusCode::Full, "no space left on device"));
    // What comes by a clock names itself, and has a line in ten seconds.
    ConfigSnapshot snapshot;
    snapshot.allOffsets = true;
    snapshot.offsets = {{"billing", "orders", 0, 1}};
    EXPECT_FALSE(store().keepConfig(snapshot));
    expectHas(refusal(store()), {"messages.db", "full", "bytes free"});   // by the same thread, behind the line
    EXPECT_EQ(log.countLimited("cannot keep the files of config/"), 1U);
    faults.clear();
    EXPECT_EQ(appendOne(store(), {.body = "next"}).queueOffset, 1);
    EXPECT_TRUE(log.contains("PB-1501 cannot write"));
    EXPECT_TRUE(log.contains("writes work again"));
    close();
}

TEST_F(SqliteBadDays, AFullDiskDoesNotStopAStartWithAnotherLimitOfTheLog) {
    appendOne(store(), {.body = "kept"});
    close();
    settings.walBytesLimit *= 2;
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    faults.failWrites(Status(StatusCode::Full, "no space left on device"));
    EXPECT_EQ(testkit::readAll(store(), "TopicTest", 0).size(), 1U);
    faults.clear();
    close();
    store();
    EXPECT_EQ(ask("SELECT value FROM meta WHERE name = 'wal_bytes_limit'"), std::to_string(settings.walBytesLimit));
    close();
}

TEST_F(SqliteBadDays, WhatIsRefusedAgainAndAgainTakesNoMemory) {
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    settings.tailCacheBytes = 4 << 20;
    appendOne(store(), {.body = "kept"});
    faults.failWrites(Status(StatusCode::Full, "no space left on device"));
    const std::string body(1 << 20, 'b');
    const auto refuse = [&] {
        testkit::TestBatch batch;
        batch.add({.body = body});
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
        ASSERT_FALSE(service::isStored(batch.items[0].status));
    };
    for (int i = 0; i < 8; ++i) refuse();
    const auto allocated = [] {
        const struct mallinfo2 all = ::mallinfo2();
        return all.uordblks + all.hblkhd;
    };
    const std::size_t before = allocated();
    for (int i = 0; i < 40; ++i) refuse();
    EXPECT_LT(allocated(), before + (8U << 20));
    faults.clear();
    EXPECT_EQ(appendOne(store(), {.body = "next"}).queueOffset, 1);
    close();
}

TEST_F(SqliteBadDays, AWriteAheadLogThatAKillLeftIsReadBack) {
    for (int i = 0; i < 20; ++i) appendOne(store(), {.body = "body-" + std::to_string(i), .keys = "k" + std::to_string(i)});
    const testkit::TempDir killed;
    std::filesystem::copy(dir.path(), killed.path(), std::filesystem::copy_options::recursive);
    close();
    ASSERT_GT(std::filesystem::file_size(killed.file("messages.db-wal")), 20'000U);
    settings.directory = killed.path();
    const auto all = testkit::readAll(store(), "TopicTest", 0);
    ASSERT_EQ(all.size(), 20U);
    EXPECT_EQ(all[19].body, "body-19");
    EXPECT_EQ(store().findByKey({.topic = "TopicTest", .key = "k7", .endMs = clock.wallMs()})->hits.size(), 1U);
}

TEST_F(SqliteBadDays, AQueryThatStaysOpenIsNamedThenBoundsTheLogAndAfterItEverythingGoesOn) {
    settings.walBytesMax = 64 << 10;
    settings.walBytesLimit = 1 << 20;
    const std::string body(8'000, 'b');
    appendOne(store(), {.body = body});
    std::int64_t stored = 1;
    {
        auto query = tool();
        auto rows = query.prepare("SELECT topic FROM messages");
        ASSERT_TRUE(rows);
        ASSERT_EQ(rows->step(), SQLITE_ROW);
        AppendStatus status = AppendStatus::PutOk;
        for (; status == AppendStatus::PutOk && stored < 1'000; ++stored) status = appendOne(store(), {.body = body}).status;
        --stored;
        EXPECT_EQ(status, AppendStatus::ServiceNotAvailable);
        EXPECT_TRUE(log.contains("PB-1503 a query or program that has held the database open keeps the write-ahead log from being reused"));
        expectHas(refusal(store()), {dir.path(), "sqliteWalBytesLimit", "1048576", "end the query"});
        EXPECT_LT(std::filesystem::file_size(dir.file("messages.db-wal")), 2U << 20);
    }
    EXPECT_EQ(appendOne(store(), {.body = body}).queueOffset, stored);
    EXPECT_TRUE(store().stats().writable);
    EXPECT_LT(std::filesystem::file_size(dir.file("messages.db-wal")), 1U << 20);
    EXPECT_EQ(testkit::readAll(store(), "TopicTest", 0).size(), static_cast<std::size_t>(stored) + 1);
}

TEST_F(SqliteBadDays, TheWriteAheadLogIsReusedWhenNobodyKeepsIt) {
    settings.walBytesMax = 256 << 10;
    for (int i = 0; i < 600; ++i) appendOne(store(), {.body = std::string(4'000, 'b')});
    EXPECT_LT(std::filesystem::file_size(dir.file("messages.db-wal")), 600U << 10);
    EXPECT_FALSE(log.contains("keeps the write-ahead log"));
}

}  // namespace
}  // namespace patchbay::plugins::sqlite
