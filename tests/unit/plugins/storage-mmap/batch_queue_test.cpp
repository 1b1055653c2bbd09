// Proved: batches in one record lie in batch consume queues as RocketMQ's do, are found by offset and time, and survive what other
// messages survive. How: a disk in memory, small files, kills and power cuts; a reading of the files by hand.
// Left to others: files of a Java broker (golden_test.cpp), a Java broker on ours (interoperation), who makes such records (send).
#include "Fixture.h"

#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/BigEndian.h"

#include <random>

namespace patchbay::mmapstore {

namespace {

using service::AppendStatus;
using service::Bound;
using service::ReadStatus;

class MmapBatchQueue : public MmapStoreTest {
protected:
    static constexpr const char* kTopic = "Batchy";
    static constexpr const char* kFirstFile = "/store/batchconsumequeue/Batchy/0/00000000000000000000";

    MmapBatchQueue() {
        options.batchQueueFileBytes = 5 * kBatchUnitBytes;
        options.hasBatchQueues = [](std::string_view topic) { return topic.starts_with("Batch"); };
    }

    /// A record with so many messages; with one, a plain one.
    service::AppendItem send(int messages, const std::string& body = "inner", const std::string& topic = kTopic) {
        testkit::TestBatch batch;
        service::AppendItem& item = batch.add({.topic = topic, .body = body});
        std::string properties = "TAGS\x01T\x02";
        if (messages > 1) {
            protocol::appendProperty(properties, protocol::kPropertyInnerNum, std::to_string(messages));
            item.sysFlag = 0xC0;
        }
        item.properties = properties;
        item.tagsCode = 'T';
        batch.appendTo(store());
        EXPECT_TRUE(batch.wait());
        failure = batch.failure.message();
        return batch.items[0];
    }
    service::ReadResult read(std::int64_t offset, const service::ReadLimits& limits = {}) {
        service::ReadResult result;
        store().read(kTopic, 0, offset, limits, nullptr, result);
        return result;
    }
    std::vector<std::int64_t> offsets() {
        std::vector<std::int64_t> all;
        for (const auto& message : testkit::readAll(store(), kTopic, 0, store().range(kTopic, 0).min)) all.push_back(message.queueOffset);
        return all;
    }
    Unit unit(const std::string& path, std::size_t number) { return loadUnit(file(path).data() + number * 46, QueueKind::Batch, 0); }

    std::string failure;
};

TEST_F(MmapBatchQueue, UnitsAreWhatRocketMqWouldHaveWritten) {
    open();
    const auto first = send(3);
    const auto second = send(1);
    clock.advance(std::chrono::seconds(1));
    const auto third = send(5);
    EXPECT_EQ(first.queueOffset, 0);
    EXPECT_EQ(second.queueOffset, 3);
    EXPECT_EQ(third.queueOffset, 4);
    const auto range = store().range(kTopic, 0);
    EXPECT_EQ(range.min, 0);
    EXPECT_EQ(range.max, 9);
    const auto messages = testkit::readAll(store(), kTopic, 0);
    ASSERT_EQ(messages.size(), 3U);
    EXPECT_EQ(protocol::findProperty(messages[2].properties, protocol::kPropertyInnerBase), "4");
    EXPECT_EQ(protocol::findProperty(messages[1].properties, protocol::kPropertyInnerBase), "");
    close();
    const std::string bytes = file(kFirstFile);
    ASSERT_EQ(bytes.size(), 230U);
    std::string expected(46, '\0');
    char* const at = expected.data();
    protocol::storeI64(at, third.physicalOffset);
    protocol::storeI32(at + 8, third.recordBytes);
    protocol::storeI64(at + 12, 'T');
    protocol::storeI64(at + 20, third.storeTimestamp);
    protocol::storeI64(at + 28, 4);
    protocol::storeI16(at + 36, 5);
    protocol::storeI32(at + 38, -1);
    EXPECT_EQ(bytes.substr(92, 46), expected);
    EXPECT_EQ(unit(kFirstFile, 1).count, 1);
    EXPECT_EQ(bytes.substr(138), std::string(92, '\0'));
    EXPECT_FALSE(disk->exists("/store/consumequeue/Batchy"));
}

TEST_F(MmapBatchQueue, AReadBeginsWithTheRecordThatHoldsTheOffset) {
    open();
    for (int i = 0; i < 40; ++i) send(1 + i % 4);
    const std::vector<std::int64_t> all = offsets();
    ASSERT_EQ(all.size(), 40U);
    for (const bool written : {false, true}) {
        if (written) {
            ASSERT_TRUE(store().settle());
        }
        for (std::int64_t offset = 0; offset < 100; ++offset) {
            const auto found = read(offset, {.messagesMax = 1});
            ASSERT_EQ(found.status, ReadStatus::Found) << offset;
            const auto message = testkit::messagesOf(found).at(0);
            EXPECT_EQ(message.queueOffset, *std::prev(std::upper_bound(all.begin(), all.end(), offset)));
            EXPECT_GT(found.nextOffset, offset);
            EXPECT_EQ(found.nextOffset, message.queueOffset + found.messages);
        }
    }
    EXPECT_EQ(read(100).status, ReadStatus::OffsetAtEnd);
    EXPECT_EQ(read(101).status, ReadStatus::OffsetBeyondEnd);
}

TEST_F(MmapBatchQueue, LimitsCountMessagesAndTheFirstRecordAlwaysComes) {
    open();
    for (int i = 0; i < 6; ++i) send(10);
    const auto some = read(0, {.messagesMax = 32});
    EXPECT_EQ(some.messages, 30);
    EXPECT_EQ(some.nextOffset, 30);
    const auto one = read(0, {.messagesMax = 3});
    EXPECT_EQ(one.messages, 10);
    EXPECT_EQ(one.nextOffset, 10);
}

TEST_F(MmapBatchQueue, AReadThatMustNotWaitFindsWhatIsFresh) {
    open();
    for (int i = 0; i < 20; ++i) send(3);
    EXPECT_EQ(read(31, {.messagesMax = 1, .hotOnly = true}).status, ReadStatus::Found);
    ASSERT_TRUE(store().settle());
    EXPECT_EQ(read(31, {.messagesMax = 1, .hotOnly = true}).status, ReadStatus::Found);
    close();
    open();
    ASSERT_TRUE(read(0).status == ReadStatus::Found);
    EXPECT_EQ(read(31, {.messagesMax = 1, .hotOnly = true}).status, ReadStatus::NotResident);
}

TEST_F(MmapBatchQueue, TimesLeadToFirstOffsetsOfRecords) {
    open();
    std::vector<std::int64_t> times;
    for (int i = 0; i < 12; ++i) {
        times.push_back(send(3).storeTimestamp);
        clock.advance(std::chrono::milliseconds(100));
    }
    const auto at = [&](std::int64_t time, Bound bound) { return store().offsetAt(kTopic, 0, time, bound).value(); };
    for (const bool again : {false, true}) {
        if (again) open();
        EXPECT_EQ(at(times[0] - 1, Bound::Lower), 0);
        EXPECT_EQ(at(times[5], Bound::Lower), 15);
        EXPECT_EQ(at(times[5] + 1, Bound::Lower), 18);
        EXPECT_EQ(at(times[5] + 1, Bound::Upper), 15);
        EXPECT_EQ(at(times[11] + 1, Bound::Lower), 33) << "behind all RocketMQ names the last record";
        EXPECT_EQ(at(times[11] + 1, Bound::Upper), 33);
        EXPECT_EQ(store().storeTimeAt(kTopic, 0, 17).value(), times[5]);
    }
}

TEST_F(MmapBatchQueue, WhatIsNoSuchBatchIsRefusedAndLeavesNothingBehind) {
    open();
    EXPECT_EQ(send(3, "body", "Plain").status, AppendStatus::MessageIllegal);
    EXPECT_NE(failure.find("queue.type=BatchCQ"), std::string::npos) << failure;
    EXPECT_EQ(send(40'000).status, AppendStatus::MessageIllegal);
    EXPECT_NE(failure.find("INNER_NUM"), std::string::npos) << failure;
    EXPECT_FALSE(disk->exists("/store/consumequeue/Plain"));
    EXPECT_EQ(store().range(kTopic, 0).max, 0);
    EXPECT_EQ(send(32'767).queueOffset, 0);
    EXPECT_EQ(send(1).queueOffset, 32'767);
}

TEST_F(MmapBatchQueue, NumbersGoOnAfterCleanStopsAndNoFileIsTouched) {
    open();
    for (int i = 0; i < 12; ++i) send(2);
    for (int round = 0; round < 3; ++round) {
        log.clear();
        open();
        EXPECT_FALSE(log.contains("rebuilt"));
        EXPECT_TRUE(log.contains("records=1 "));
        EXPECT_EQ(send(2).queueOffset, 24 + 2 * round);
    }
    EXPECT_EQ(offsets().size(), 15U);
}

TEST_F(MmapBatchQueue, UnitsThatAKilledProcessHadInMemoryAreRebuilt) {
    open();
    for (int i = 0; i < 30; ++i) send(1 + i % 3);
    kill();
    open();
    EXPECT_EQ(offsets().size(), 30U);
    EXPECT_EQ(store().range(kTopic, 0).max, 60);
    EXPECT_EQ(send(4).queueOffset, 60);
    ASSERT_TRUE(store().settle());
    send(2);
    kill();
    open();
    EXPECT_EQ(offsets().size(), 32U);
    EXPECT_EQ(store().range(kTopic, 0).max, 66);
}

TEST_F(MmapBatchQueue, PowerCutsLoseNothingThatWasDurable) {
    options.syncFlush = true;
    std::mt19937 random(7);
    std::int64_t next = 0;
    std::size_t records = 0;
    for (std::uint64_t round = 0; round < 40; ++round) {
        open();
        ASSERT_EQ(store().range(kTopic, 0).max, next) << round;
        ASSERT_EQ(offsets().size(), records) << round;
        for (auto i = random() % 15; i > 0; --i) {
            const int messages = 1 + static_cast<int>(random() % 5);
            ASSERT_EQ(send(messages).queueOffset, next);
            next += messages;
            ++records;
            if (random() % 8 == 0) {
                ASSERT_TRUE(store().settle());
            }
        }
        powerCut(round);
    }
}

TEST_F(MmapBatchQueue, DamagedOrMissingFilesAreRebuilt) {
    open();
    for (int i = 0; i < 30; ++i) send(3);
    close();
    const std::string last = "/store/batchconsumequeue/Batchy/0/" + fileName(25 * kBatchUnitBytes);
    overwrite(last, 4 * 46, std::string(46, 'x'));
    open();
    EXPECT_TRUE(log.contains("not as the last stop left them"));
    EXPECT_EQ(offsets().size(), 30U);
    close();
    ASSERT_TRUE(removeTree(*disk, "/store/batchconsumequeue"));
    open();
    EXPECT_EQ(offsets().size(), 30U);
    EXPECT_EQ(send(1).queueOffset, 90);
}

TEST_F(MmapBatchQueue, QueuesAreCutWithTheLog) {
    open();
    for (int i = 0; i < 10; ++i) send(3);
    ASSERT_TRUE(store().settle());
    const auto last = send(3);
    kill();
    overwrite("/store/commitlog/" + fileName(0), static_cast<std::uint64_t>(last.physicalOffset + 90), "X");
    open();
    EXPECT_EQ(store().range(kTopic, 0).max, 30);
    EXPECT_EQ(send(1).queueOffset, 30);
    EXPECT_EQ(offsets().size(), 11U);
}

TEST_F(MmapBatchQueue, OldFilesGoWithTheLogAndTheMinimumMoves) {
    open();
    for (int i = 0; i < 60; ++i) send(2, std::string(1000, 'b'));
    ASSERT_TRUE(store().trim(2 * 16'384 + 1));
    const auto range = store().range(kTopic, 0);
    EXPECT_GT(range.min, 0);
    EXPECT_EQ(range.max, 120);
    EXPECT_FALSE(disk->exists(kFirstFile));
    EXPECT_EQ(offsets().front(), range.min);
    EXPECT_EQ(read(range.min - 1).status, ReadStatus::OffsetTooSmall);
    open();
    EXPECT_EQ(store().range(kTopic, 0).min, range.min);
    EXPECT_EQ(offsets().front(), range.min);
    kill();
    open();
    EXPECT_EQ(store().range(kTopic, 0).min, range.min);
    EXPECT_EQ(store().range(kTopic, 0).max, 120);
}

TEST_F(MmapBatchQueue, ADeletedTopicBeginsAnewAndItsFilesGo) {
    open();
    for (int i = 0; i < 10; ++i) send(2);
    ASSERT_TRUE(store().settle());
    ASSERT_TRUE(store().deleteTopic(kTopic));
    EXPECT_FALSE(disk->exists("/store/batchconsumequeue/Batchy"));
    EXPECT_EQ(send(3).queueOffset, 0);
    kill();
    open();
    EXPECT_EQ(offsets().size(), 1U);
    EXPECT_EQ(store().range(kTopic, 0).max, 3);
}

TEST_F(MmapBatchQueue, OfTwoKindsOfQueuesTheTopicsOwnIsUsed) {
    open();
    send(3);
    append("plain", "Other");
    close();
    ASSERT_TRUE(disk->makeDirectories("/store/consumequeue/Batchy/0"));
    ASSERT_TRUE(disk->makeDirectories("/store/batchconsumequeue/Other/0"));
    open();
    EXPECT_TRUE(log.contains("leftAlone=/store/consumequeue/Batchy"));
    EXPECT_TRUE(log.contains("leftAlone=/store/batchconsumequeue/Other"));
    EXPECT_EQ(store().range(kTopic, 0).max, 3);
    EXPECT_EQ(bodies("Other"), std::vector<std::string>{"plain"});
}

TEST_F(MmapBatchQueue, APositionIsReachableAsLongAsItsUnitIsThere) {
    open();
    const auto first = send(3);
    EXPECT_TRUE(store().at(first.physicalOffset));
    ASSERT_TRUE(store().deleteTopic(kTopic));
    EXPECT_FALSE(store().at(first.physicalOffset));
}

}  // namespace

}  // namespace patchbay::mmapstore
