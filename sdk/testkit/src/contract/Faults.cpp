// Full disks, failed syncs and read errors: what is answered, and what is there afterwards.
#include "Groups.h"

#include <limits>

namespace patchbay::testkit {

void linkFaultTests() {}

namespace {

using service::AppendStatus;
using service::ReadStatus;

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

TEST_P(MessageStoreContract, AWriteThatFailsMidwayLeavesWholeGroupsOnly) {
    if (!GetParam().traits.usesFileSystem) GTEST_SKIP() << "its files cannot be made to fail from here";
    std::vector<std::string> kept;
    const auto appendBatch = [&](int round, std::vector<std::string>& refused) {
        const std::string prefix = std::to_string(round) + "-";
        TestBatch batch;
        for (int i = 0; i < 3; ++i) batch.add({.body = prefix + "g" + std::to_string(i), .groupSize = static_cast<std::uint16_t>(i == 0 ? 3 : 1)});
        batch.add({.body = prefix + "single"});
        for (int i = 0; i < 2; ++i) batch.add({.body = prefix + "h" + std::to_string(i), .groupSize = static_cast<std::uint16_t>(i == 0 ? 2 : 1)});
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
        for (std::size_t i = 0; i < batch.items.size(); ++i) {
            const auto& item = batch.items[i];
            const std::size_t head = i < 3 ? 0 : i == 3 ? 3 : 4;
            EXPECT_EQ(service::isStored(item.status), service::isStored(batch.items[head].status)) << "half a group, item " << i;
            if (service::isStored(item.status)) {
                EXPECT_EQ(item.queueOffset, static_cast<std::int64_t>(kept.size()));
            }
            (service::isStored(item.status) ? kept : refused).emplace_back(item.body);
        }
    };
    std::vector<std::string> none;
    appendBatch(0, none);
    for (int round = 1; round <= 10; ++round) {
        const int passing = (round - 1) / 2;
        SCOPED_TRACE("after " + std::to_string(passing) + " writes that succeed");
        std::vector<std::string> refused;
        files.failWritesAfter(static_cast<std::uint64_t>(passing), Status(StatusCode::Full, "no space left on device"));
        appendBatch(round, refused);
        files.clear();
        EXPECT_EQ(bodies(), kept) << "what can be read is not what was answered";
        if (round % 2 == 0) {
            // Each of them with a kill as well. What was refused and is on the disk may come back, but a group whole.
            killAndReopen();
            auto all = bodies();
            ASSERT_GE(all.size(), kept.size());
            const std::size_t back = all.size() - kept.size();
            EXPECT_TRUE(back == 0 || back == 3 || back == 4 || back == 6 || GetParam().traits.tearsGroups) << "half a group came back";
            ASSERT_LE(back, refused.size());
            kept.insert(kept.end(), refused.begin(), refused.begin() + static_cast<std::ptrdiff_t>(back));
            EXPECT_EQ(all, kept);
        }
        bool writable = false;
        for (int i = 0; i < 100 && !writable; ++i) {
            clock.advance(std::chrono::seconds(1));
            const std::string body = "between-" + std::to_string(round);
            writable = service::isStored(appendOne(store(), {.body = body}).status);
            if (writable) kept.push_back(body);
        }
        if (!writable) {
            EXPECT_FALSE(store().stats().health.isOk()) << "it takes no message and does not say why";
            close();
        }
        EXPECT_EQ(bodies(), kept);
    }
    killAndReopen();
    EXPECT_EQ(bodies(), kept);
    expectAppends(static_cast<std::int64_t>(kept.size()));
}

TEST_P(MessageStoreContract, TheFirstMessageOfATopicMayBeRefusedAndSentAgain) {
    EXPECT_FALSE(service::isStored(appendOne(store(), {.topic = "New", .body = std::string((4U << 20) + 1, 'X')}).status));
    EXPECT_FALSE(store().range("New", 0).exists);
    EXPECT_TRUE(store().queues().empty());
    if (GetParam().traits.usesFileSystem) {
        files.failWrites(Status(StatusCode::Full, "no space left on device"));
        const bool stored = service::isStored(appendOne(store(), {.topic = "New"}).status);  // in what is reserved already
        files.clear();
        if (!stored) {
            EXPECT_FALSE(store().range("New", 0).exists) << "a queue without a message";
            EXPECT_EQ(store().range("New", 0).max, 0);
            EXPECT_TRUE(store().queues().empty());
            service::ReadResult result;
            store().read("New", 0, 0, {}, nullptr, result);
            EXPECT_TRUE(result.status == ReadStatus::NoSuchQueue || result.status == ReadStatus::QueueEmpty);
            EXPECT_EQ(result.nextOffset, 0);
            EXPECT_EQ(*store().offsetAt("New", 0, clock.wallMs(), service::Bound::Lower), 0);
        }
        clock.advance(std::chrono::seconds(10));
        if (!store().stats().writable) close();
        if (stored) return;
    }
    expectAppends(0, "again", "New");
    ASSERT_EQ(store().queues().size(), 1U);
    if (!durable()) return;
    killAndReopen();
    EXPECT_EQ(bodies("New"), std::vector<std::string>{"again"});
    expectAppends(1, "more", "New");
}

TEST_P(MessageStoreContract, AFlushThatCannotSyncSaysSo) {
    if (!GetParam().traits.usesFileSystem) GTEST_SKIP() << "its files cannot be made to fail from here";
    store();
    files.failSyncs(Status(StatusCode::Io, "input/output error"));
    appendMany(3);
    EXPECT_FALSE(store().flush());
    files.clear();
    killAndReopen();
    const auto all = bodies();
    EXPECT_EQ(all, numbered(0, static_cast<int>(all.size())));
    expectAppends(static_cast<std::int64_t>(all.size()));
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
    const bool keys = store().capabilities().keyIndex;
    TestBatch batch;
    for (int i = 0; i < 200; ++i) batch.add({.body = "body-" + std::to_string(i), .keys = "key-" + std::to_string(i)});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    const std::int64_t physical = batch.items[100].physicalOffset;
    close();
    ASSERT_EQ(store().range("TopicTest", 0).max, 200);
    files.failReads(Status(StatusCode::Io, "input/output error"));
    service::ReadResult result;
    for (const std::int64_t offset : {0, 1, 100, 199}) {
        SCOPED_TRACE(offset);
        store().read("TopicTest", 0, offset, {.messagesMax = 1}, nullptr, result);
        if (result.status == ReadStatus::Found) {
            EXPECT_EQ(messagesOf(result).at(0).body, "body-" + std::to_string(offset));
        } else {
            EXPECT_EQ(result.status, ReadStatus::Failed);
            EXPECT_EQ(result.nextOffset, offset) << "what cannot be read is passed over";
        }
        store().read("TopicTest", 0, offset, {.hotOnly = true}, nullptr, result);
        EXPECT_TRUE(result.status == ReadStatus::Found || result.status == ReadStatus::Failed || result.status == ReadStatus::NotResident);
        const auto time = store().storeTimeAt("TopicTest", 0, offset);
        if (time) {
            EXPECT_EQ(*time, batch.items[0].storeTimestamp);
        } else {
            EXPECT_NE(time.error().code(), StatusCode::NotFound) << "a message that cannot be read is said not to be there";
        }
    }
    EXPECT_EQ(store().range("TopicTest", 0).max, 200);
    const auto at = store().at(physical);
    if (at) {
        EXPECT_EQ(parseRecords(at->bytes).at(0).body, "body-100");
    } else {
        EXPECT_NE(at.error().code(), StatusCode::NotFound) << "a message that cannot be read is said not to be there";
    }
    const auto offset = store().offsetAt("TopicTest", 0, batch.items[0].storeTimestamp, service::Bound::Upper);
    if (offset) {
        EXPECT_EQ(*offset, 199);
    }
    if (keys) {
        const auto hits = store().findByKey({.topic = "TopicTest", .key = "key-100", .endMs = std::numeric_limits<std::int64_t>::max()});
        if (hits) {
            EXPECT_EQ(hits->hits.size(), 1U) << "a message that cannot be read is said not to be there";
        }
    }
    files.clear();
    EXPECT_EQ(bodies(), numbered(0, 200));
    EXPECT_EQ(appendOne(store(), {}).queueOffset, 200);
}

}  // namespace
}  // namespace patchbay::testkit
