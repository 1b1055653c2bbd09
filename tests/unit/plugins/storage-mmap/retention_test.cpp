// Proved: old files go by age, by size and when the disk fills up, in order and never the newest; senders and readers are not
// disturbed, refusals name their reason and end by themselves. How: a disk in memory whose size the test sets, and a manual clock.
// Left to others: what a failed write leaves (failure_test.cpp), restarts after trimming (recovery_test.cpp).
#include "Fixture.h"

#include <atomic>
#include <thread>

namespace patchbay::mmapstore {

namespace {

using service::AppendStatus;
using service::ReadStatus;

constexpr std::int64_t kAllHours = (std::int64_t{1} << 24) - 1;

class MmapRetention : public MmapStoreTest {
protected:
    MmapRetention() { options.mappedWindowsMax = 4; }

    /// Fills the log until its so manyth file has been begun; bodies are numbered. The next file is not prepared yet.
    void fill(std::int64_t files) {
        store().tunables().queueFlushIntervalMs = 100 * 3'600'000;  // queues' files would take room, too, whenever their thread comes
        while (store().stats().maxPhysicalOffset <= (files - 1) * options.segmentBytes) {
            ASSERT_EQ(append(std::to_string(sent_) + std::string(1100, 'x')).queueOffset, sent_);
            ++sent_;
        }
    }
    std::vector<FileInfo> filesOf(const std::string& directory) {
        Result<std::vector<FileInfo>> listed = disk->list(directory);
        return listed ? std::move(listed).value() : std::vector<FileInfo>();
    }
    std::vector<std::string> logFiles() {
        std::vector<std::string> names;
        for (const FileInfo& info : filesOf("/store/commitlog")) names.push_back(info.name);
        return names;
    }
    std::uint64_t used() {
        const DiskSpace space = *disk->space("/store");
        return space.totalBytes - space.freeBytes;
    }
    /// What the files thread would do until nothing is left to do.
    void clean() {
        for (int i = 0; i < 40; ++i) {
            store().clean();
            clock.advance(std::chrono::seconds(11));
        }
    }
    /// What is there is dense up to the end and complete.
    void expectDense() {
        const auto range = store().range("TopicTest", 0);
        EXPECT_EQ(range.max, sent_);
        const auto messages = testkit::readAll(store(), "TopicTest", 0, range.min);
        ASSERT_EQ(static_cast<std::int64_t>(messages.size()), sent_ - range.min);
        for (std::size_t i = 0; i < messages.size(); ++i) {
            ASSERT_TRUE(messages[i].body.starts_with(std::to_string(range.min + static_cast<std::int64_t>(i)) + "x"));
        }
    }

    std::int64_t sent_ = 0;
};

TEST_F(MmapRetention, WhatIsTooOldGoesAtItsHourWithItsQueueAndIndexFiles) {
    open();
    StoreTunables& tunables = store().tunables();
    tunables.deleteHours = 0;
    fill(4);
    clock.advance(std::chrono::hours(73));
    fill(6);
    const auto before = logFiles();
    clean();
    EXPECT_EQ(logFiles(), before) << "it is not the hour";
    tunables.deleteHours = kAllHours;
    clean();
    const auto after = logFiles();
    // The fourth was still written after three days.
    EXPECT_EQ(after, std::vector<std::string>(before.begin() + 3, before.end()));
    expectDense();
    EXPECT_FALSE(disk->exists("/store/consumequeue/TopicTest/0/" + fileName(0)));
    EXPECT_TRUE(log.contains("fileReservedTime"));
    const std::int64_t min = store().range("TopicTest", 0).min;
    service::ReadResult result;
    store().read("TopicTest", 0, 3, {}, nullptr, result);
    EXPECT_EQ(result.status, ReadStatus::OffsetTooSmall);
    EXPECT_EQ(result.nextOffset, min);
    kill();
    open();
    expectDense();
    EXPECT_EQ(store().range("TopicTest", 0).min, min);
}

TEST_F(MmapRetention, AFullerDiskRemovesWhatIsTooOldAtAnyHourAndNothingElse) {
    open();
    store().tunables().deleteHours = 0;
    fill(3);
    clock.advance(std::chrono::hours(80));
    fill(6);
    store().tunables().cleanForcibly = 0;
    disk->setCapacity((used() - 16'384) * 100 / 80);
    clean();
    EXPECT_EQ(logFiles().size(), 4U);
    expectDense();
}

TEST_F(MmapRetention, WhenTheDiskFillsUpTheOldestGoesWhateverItsAgeUnlessThatIsForbidden) {
    open();
    fill(8);
    store().tunables().cleanForcibly = 0;
    disk->setCapacity(8 * 16'384 * 100 / 87);
    clean();
    EXPECT_EQ(logFiles().size(), 8U);
    store().tunables().cleanForcibly = 1;
    clean();
    const std::size_t left = logFiles().size();
    EXPECT_LT(left, 8U);
    EXPECT_GE(left, 6U) << "only as many as are needed";
    EXPECT_TRUE(log.contains("diskSpaceCleanForciblyRatio removes the oldest messages above 85 %"));
    expectDense();
    // Other data takes the disk: the newest file stays.
    disk->setCapacity(20'000);
    clean();
    EXPECT_EQ(logFiles().size(), 1U);
    EXPECT_EQ(store().range("TopicTest", 0).max, sent_);
}

TEST_F(MmapRetention, FreeBytesAndASizeOfTheLogCanBeSetInstead) {
    open();
    fill(8);
    store().tunables().logBytesMax = 6 * 16'384;
    clean();
    EXPECT_EQ(logFiles().size(), 6U);
    EXPECT_TRUE(log.contains("commitLogBytesMax is 98304"));
    // 99 % used, but the ratios do not count any more.
    store().tunables().diskFreeBytesMin = 1000;
    disk->setCapacity(6 * 16'384 * 100 / 96);
    clean();
    EXPECT_EQ(logFiles().size(), 6U);
    store().tunables().diskCleanFreeBytes = 20'000;
    clean();
    EXPECT_EQ(logFiles().size(), 5U);
    expectDense();
}

TEST_F(MmapRetention, RefusedMessagesAreAcceptedAgainWhenRoomWasMadeAndOffsetsHaveNoHole) {
    open();
    store().tunables().cleanForcibly = 0;
    fill(3);
    disk->setCapacity(used() * 100 / 95);
    clock.advance(std::chrono::seconds(2));
    testkit::TestBatch batch;
    batch.add({.body = "refused"});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    ASSERT_EQ(batch.items[0].status, AppendStatus::ServiceNotAvailable);
    for (const char* part : {"/store", "bytes free (96 % used)", "diskSpaceWarningLevelRatio refuses messages above 90 %"}) {
        EXPECT_NE(batch.failure.message().find(part), std::string::npos) << part << " in: " << batch.failure.message();
    }
    EXPECT_FALSE(store().stats().writable);
    EXPECT_EQ(store().stats().health.code(), StatusCode::Full);
    // As Java, a ratio that was raised is obeyed.
    store().tunables().diskWarningPercent = 100;
    store().tunables().diskCleanPercent = 100;
    clock.advance(std::chrono::seconds(2));
    EXPECT_EQ(append(std::to_string(sent_) + "x").queueOffset, sent_);
    ++sent_;
    EXPECT_TRUE(store().stats().writable);
    store().tunables().diskWarningPercent = 90;
    store().tunables().diskCleanPercent = 85;
    clock.advance(std::chrono::seconds(2));
    EXPECT_EQ(append("refused").status, AppendStatus::ServiceNotAvailable);
    store().tunables().cleanForcibly = 1;
    clean();
    clock.advance(std::chrono::seconds(2));
    EXPECT_EQ(append(std::to_string(sent_) + "x").queueOffset, sent_);
    ++sent_;
    expectDense();
}

TEST_F(MmapRetention, AFullDiskInTheMiddleOfAnAppendLosesNothingAcknowledged) {
    open();
    fill(2);
    for (int round = 0; round < 5; ++round) {
        store().tunables().cleanForcibly = 0;
        store().tunables().diskFreeBytesMin = 1;
        disk->setCapacity(used() + 3000);
        int refused = 0;
        while (refused < 3) {
            const auto item = append(std::to_string(sent_) + std::string(1100, 'x'));
            if (isStored(item.status)) {
                ASSERT_EQ(item.queueOffset, sent_);
                ++sent_;
            } else {
                ++refused;
                clock.advance(std::chrono::seconds(2));
            }
        }
        if (round % 2 == 0) kill(); else close();
        disk->setCapacity(std::uint64_t{1} << 30);
        open();
        expectDense();
        EXPECT_EQ(append(std::to_string(sent_) + "x").queueOffset, sent_) << "without a restart it would go on as well";
        ++sent_;
    }
}

TEST_F(MmapRetention, AReaderKeepsWhatItHoldsWhenTheFileGoes) {
    open();
    fill(4);
    service::ReadResult held;
    store().read("TopicTest", 0, 2, {.messagesMax = 3}, nullptr, held);
    ASSERT_EQ(held.status, ReadStatus::Found);
    ASSERT_TRUE(store().trim(INT64_MAX));
    EXPECT_EQ(logFiles().size(), 1U);
    const auto messages = testkit::messagesOf(held);
    ASSERT_EQ(messages.size(), 3U);
    EXPECT_TRUE(messages[0].body.starts_with("2x"));
    expectDense();
}

TEST_F(MmapRetention, SendersDoNotWaitForAFileToGo) {
    open();
    fill(5);
    ASSERT_TRUE(store().settle());
    // Whatever is being removed, somebody else sends meanwhile; if that had to wait for the removal it would never end.
    for (const std::uint64_t change : {1U, 2U}) {
        std::atomic<bool> done{false};
        disk->beforeChange(change, [&] {
            std::thread sender([&] {
                EXPECT_EQ(append(std::to_string(sent_) + "x").queueOffset, sent_);
                ++sent_;
                done = true;
            });
            sender.join();
        });
        ASSERT_TRUE(store().trim(store().stats().minPhysicalOffset + options.segmentBytes));
        EXPECT_TRUE(done);
        ASSERT_TRUE(store().settle());
    }
    expectDense();
}

TEST_F(MmapRetention, AStepOfTheClockRemovesNothing) {
    open();
    store().tunables().deleteHours = kAllHours;
    fill(4);
    clock.setWallMs(clock.wallMs() + 1000LL * 3'600'000);
    clean();
    EXPECT_EQ(logFiles().size(), 4U);
}

TEST_F(MmapRetention, APowerCutWhileFilesGoLeavesNoHoleInTheLog) {
    for (std::uint64_t change = 1; change < 12; ++change) {
        SCOPED_TRACE(change);
        open();
        fill(6);
        ASSERT_TRUE(store().settle());
        std::unique_ptr<test::MemoryFiles> left;
        disk->beforeChange(change, [&] { left = disk->afterPowerCut(change); });
        ASSERT_TRUE(store().trim(store().stats().minPhysicalOffset + 3 * options.segmentBytes));
        close();
        if (left) disk = std::move(left);
        open();
        const auto names = logFiles();
        for (std::size_t i = 1; i < names.size(); ++i) EXPECT_EQ(*parseFileName(names[i]), *parseFileName(names[i - 1]) + options.segmentBytes);
        expectDense();
        close();
    }
}

TEST_F(MmapRetention, SeveralDirectoriesShareTheFilesAsRocketMqDealsThem) {
    options.logDirectories = {"/b/log", "/a/log"};
    open();
    while (sent_ < 60) {
        ASSERT_EQ(append(std::to_string(sent_) + std::string(1100, 'x')).queueOffset, sent_);
        ++sent_;
    }
    for (std::int64_t file = 0; file < 4; ++file) {
        const std::string name = fileName(file * options.segmentBytes);
        EXPECT_TRUE(disk->exists((file % 2 == 0 ? "/a/log/" : "/b/log/") + name)) << name;
    }
    kill();
    open();
    expectDense();
    close();
    // One of them is only read from now on.
    options.logDirectories = {"/a/log"};
    options.logDirectoriesRead = {"/b/log"};
    open();
    const std::size_t before = filesOf("/b/log").size();
    for (int i = 0; i < 40; ++i, ++sent_) {
        ASSERT_EQ(append(std::to_string(sent_) + std::string(1100, 'x')).queueOffset, sent_);
    }
    EXPECT_LE(filesOf("/b/log").size(), before);
    expectDense();
    ASSERT_TRUE(store().trim(4 * options.segmentBytes));
    EXPECT_FALSE(disk->exists("/b/log/" + fileName(options.segmentBytes)));
    expectDense();
    close();
    // The same part of the log in both: which one counts, only a person can say.
    const std::string twice = filesOf("/a/log").front().name;
    resize("/b/log/" + twice, 16'384);
    const Status refused = tryOpen();
    EXPECT_EQ(refused.code(), StatusCode::Corrupt);
    EXPECT_NE(refused.message().find("/a/log/" + twice), std::string::npos);
    EXPECT_NE(refused.message().find("/b/log/" + twice), std::string::npos);
}

TEST(StoreConfig, HoursAreReadAsRocketMqWritesThem) {
    EXPECT_EQ(parseHours("04"), 1 << 4);
    EXPECT_EQ(parseHours("4;16;23"), 1 << 4 | 1 << 16 | 1 << 23);
    EXPECT_EQ(parseHours(""), 0);
    for (const char* wrong : {"24", "x", "04,16", "-1", "4;x"}) EXPECT_FALSE(parseHours(wrong)) << wrong;
}

}  // namespace

}  // namespace patchbay::mmapstore
