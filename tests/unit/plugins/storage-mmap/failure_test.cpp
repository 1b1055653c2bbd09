// Proved: a write that fails leaves no trace, a failed sync ends all acknowledgements, and the store goes on when it may.
// How: a disk in memory that fails the n-th write halfway, fills up, or hangs in sync.
// Left to others: power cuts (recovery_test.cpp), the general behaviour under faults (the storage contract).
#include "Fixture.h"

#include "patchbay/service/QueueEnds.h"
#include "patchbay/testkit/FaultyFiles.h"
#include "patchbay/testkit/TempDir.h"

#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>
#include <pthread.h>
#include <thread>

namespace patchbay::mmapstore {

namespace {

using service::AppendStatus;

class MmapFailure : public MmapStoreTest {};

TEST_F(MmapFailure, ATopicThatIsDeletedWhileItsQueuesBecomeDurableIsNoFault) {
    options.keyIndex = false;
    bool deleted = true;
    for (std::uint64_t change = 1; deleted; ++change) {
        SCOPED_TRACE(change);
        disk = std::make_unique<test::MemoryFiles>();
        open();
        append("a");
        append("b", "Other");
        ASSERT_TRUE(store().trim(0)) << "all is written now, and nothing durable";
        deleted = false;
        disk->beforeChange(change, [&] {
            deleted = true;
            EXPECT_TRUE(store().deleteTopic("TopicTest"));
        });
        const Status settled = store().settle();
        disk->beforeChange(UINT64_MAX, {});
        EXPECT_TRUE(settled) << settled.toString();
        EXPECT_TRUE(store().stats().writable);
        close();
    }
}

TEST_F(MmapFailure, AFailedWriteIsTakenBackAndNeverComesBack) {
    open();
    append("first");
    disk->failWrite(1, Status(StatusCode::Io, "cannot write: input/output error"));
    testkit::TestBatch batch;
    for (int i = 0; i < 5; ++i) batch.add({.queueId = i % 2, .body = "lost"});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    for (const auto& item : batch.items) {
        EXPECT_EQ(item.status, AppendStatus::Failed);
        EXPECT_EQ(item.queueOffset, -1);
    }
    EXPECT_NE(batch.failure.message().find("input/output error"), std::string::npos);
    // As long as the lost ones: if they were still there, a recovery would find them behind this one.
    EXPECT_EQ(append("next").queueOffset, 1);
    EXPECT_EQ(store().range("TopicTest", 1).max, 0);
    kill();
    open();
    EXPECT_EQ(bodies(), (std::vector<std::string>{"first", "next"}));
    EXPECT_FALSE(store().range("TopicTest", 1).exists);
}

TEST_F(MmapFailure, AFailedWriteAcrossTheEndOfAFileIsTakenBack) {
    open();
    append(std::string(14'000, 'x'));
    for (const std::uint64_t which : {1U, 2U, 3U, 4U}) {
        disk->failWrite(which, Status(StatusCode::Io, "cannot write: input/output error"));
        testkit::TestBatch batch;
        for (int i = 0; i < 6; ++i) batch.add({.body = std::string(600, 'l')});
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
        // Also a failure to zero what an earlier one left.
        EXPECT_FALSE(isStored(batch.items[0].status)) << which;
    }
    EXPECT_EQ(append("next").queueOffset, 1);
    kill();
    open();
    EXPECT_EQ(bodies().size(), 2U);
    EXPECT_EQ(append("more").queueOffset, 2);
}

TEST_F(MmapFailure, AFullDiskIsExplainedAndWritingGoesOnWhenThereIsSpace) {
    open();
    disk->setCapacity(40'000);
    AppendStatus status = AppendStatus::PutOk;
    std::size_t stored = 0;
    Status why;
    while (isStored(status)) {
        testkit::TestBatch batch;
        batch.add({.body = std::string(1000, 'x')});
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
        status = batch.items[0].status;
        why = batch.failure;
        if (isStored(status)) ++stored;
        ASSERT_LT(stored, 100U);
    }
    EXPECT_EQ(status, AppendStatus::ServiceNotAvailable);
    for (const char* part : {"/store/commitlog", "40000", "diskSpaceWarningLevelRatio", "takes 16384 bytes at once (mappedFileSizeCommitLog)"}) {
        EXPECT_NE(why.message().find(part), std::string::npos) << part << " in: " << why.message();
    }
    disk->setCapacity(std::uint64_t{1} << 30);
    clock.advance(std::chrono::seconds(2));
    EXPECT_EQ(append("again").queueOffset, static_cast<std::int64_t>(stored));
}

TEST_F(MmapFailure, ALogFileThatCannotBeMadeIsNotTriedForEveryMessage) {
    open();
    disk->refuseBlocks("/commitlog/");
    const auto send = [this] { return append(std::string(1000, 'x')).status; };
    while (isStored(send())) {}
    const std::uint64_t tries = disk->refusedBlocks();
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(isStored(send()));
    EXPECT_EQ(disk->refusedBlocks(), tries);
    clock.advance(std::chrono::milliseconds(500));
    EXPECT_FALSE(isStored(send()));
    EXPECT_FALSE(isStored(send()));
    EXPECT_EQ(disk->refusedBlocks(), tries + 1);
    disk->refuseBlocks({});
    EXPECT_FALSE(isStored(send())) << "nobody knows yet";
    clock.advance(std::chrono::milliseconds(500));
    EXPECT_TRUE(isStored(send()));
}

TEST_F(MmapFailure, TheDiskRatioRefusesBeforeTheDiskIsFullAndHasHysteresis) {
    open();
    const auto statusAt = [&](std::uint64_t capacity) {
        disk->setCapacity(capacity);
        clock.advance(std::chrono::seconds(2));
        return append("x").status;
    };
    const std::uint64_t used = 16'384 + 100;  // the log's file and a little
    EXPECT_EQ(statusAt(used * 100 / 80), AppendStatus::PutOk);
    EXPECT_EQ(statusAt(used * 100 / 95), AppendStatus::ServiceNotAvailable);
    EXPECT_EQ(statusAt(used * 100 / 88), AppendStatus::ServiceNotAvailable) << "between the two ratios it stays as it is";
    EXPECT_EQ(statusAt(used * 100 / 80), AppendStatus::PutOk);
    store().tunables().diskFreeBytesMin = 5000;
    EXPECT_EQ(statusAt(used + 10'000), AppendStatus::PutOk);
    EXPECT_EQ(statusAt(used + 3000), AppendStatus::ServiceNotAvailable);
}

TEST_F(MmapFailure, TheLogSaysWhenAFullDiskRefusesMessagesAndWhenItIsOver) {
    constexpr std::string_view kRefused = "messages are refused until there is room on the disk";
    constexpr std::string_view kOver = "there is room on the disk again; messages are accepted";
    open();
    const std::uint64_t used = 16'384 + 100;
    const auto sendAt = [&](std::uint64_t capacity) {
        disk->setCapacity(capacity);
        clock.advance(std::chrono::seconds(2));
        return append("x").status;
    };
    EXPECT_EQ(sendAt(used * 100 / 95), AppendStatus::ServiceNotAvailable);
    EXPECT_EQ(sendAt(used * 100 / 95), AppendStatus::ServiceNotAvailable);
    EXPECT_EQ(log.count(kRefused), 1U);
    EXPECT_TRUE(log.contains("diskSpaceWarningLevelRatio refuses messages above 90 %"));
    EXPECT_EQ(log.count(kOver), 0U);
    EXPECT_EQ(sendAt(used * 100 / 60), AppendStatus::PutOk);
    EXPECT_EQ(log.count(kOver), 1U);
    kill();
    disk->setCapacity(used * 100 / 95);
    log.clear();
    open();
    EXPECT_EQ(log.count(kRefused), 1U) << "before anybody sends";
}

class MmapFaultyDisk : public testing::Test {
protected:
    MmapFaultyDisk() {
        options.root = "/store";
        options.segmentBytes = 65'536;
        options.keyIndex = false;  // it would map the log before the test does
    }
    ~MmapFaultyDisk() override { files.clear(); }
    void open() {
        store = std::make_unique<MmapStore>(files, clock, log, options);
        ASSERT_TRUE(store->open());
    }

    testkit::ManualClock clock;
    testkit::FakeLogger log;
    test::MemoryFiles disk;
    testkit::FaultyFiles files{disk};
    StoreOptions options;
    std::unique_ptr<MmapStore> store;
};

class MmapReadFailure : public MmapFaultyDisk {
protected:
    service::ReadResult& read(std::int64_t offset, std::int32_t messagesMax = 32) {
        service::ReadLimits limits;
        limits.messagesMax = messagesMax;
        store->read("TopicTest", 0, offset, limits, nullptr, result);
        return result;
    }
    service::ReadResult result;
};

TEST_F(MmapReadFailure, AMessageWhoseFileCannotBeOpenedIsNotPassedOver) {
    open();
    for (int i = 0; i < 5; ++i) testkit::appendOne(*store, {.body = std::to_string(i)});
    for (const StatusCode code : {StatusCode::Io, StatusCode::NotFound, StatusCode::Full}) {
        files.failOpens(Status(code, "cannot open: too many open files"), "/commitlog/");
        EXPECT_EQ(read(2).status, service::ReadStatus::Failed);
        EXPECT_EQ(result.nextOffset, 2);
        EXPECT_EQ(result.maxOffset, 5);
        EXPECT_TRUE(log.contains("too many open files"));
        EXPECT_EQ(store->at(0).error().code(), StatusCode::Io) << "nobody knows that there is no such message";
        EXPECT_EQ(store->storeTimeAt("TopicTest", 0, 1).error().code(), StatusCode::Io);
    }
    files.clear();
    EXPECT_EQ(read(2).messages, 3);
}

TEST_F(MmapReadFailure, WhatWasReadBeforeTheFaultIsReturnedAndTheNextReadBeginsThere) {
    open();
    std::int64_t inFirst = 0;
    while (testkit::appendOne(*store, {.body = std::string(10'000, 'x')}).physicalOffset < options.segmentBytes) ++inFirst;
    ASSERT_EQ(read(inFirst - 2, 1).messages, 1);
    files.failOpens(Status(StatusCode::Io, "cannot open: permission denied"), "/commitlog/");
    EXPECT_EQ(read(inFirst - 2).status, service::ReadStatus::Found);
    EXPECT_EQ(result.messages, 2);
    EXPECT_EQ(result.nextOffset, inFirst);
    EXPECT_EQ(read(inFirst).status, service::ReadStatus::Failed);
    EXPECT_EQ(result.nextOffset, inFirst);
}

TEST_F(MmapReadFailure, AQueueThatCannotBeReadIsNotPassedOver) {
    open();
    for (int i = 0; i < 5; ++i) testkit::appendOne(*store, {});
    ASSERT_TRUE(store->settle());
    files.failReads(Status(StatusCode::Io, "cannot read: input/output error"));
    EXPECT_EQ(read(2).status, service::ReadStatus::Failed);
    EXPECT_EQ(result.nextOffset, 2);
}

TEST_F(MmapReadFailure, WhatTheLogDoesNotHaveAnyMoreIsPassedOver) {
    open();
    while (testkit::appendOne(*store, {.body = std::string(10'000, 'x')}).physicalOffset < 2 * options.segmentBytes) {}
    const std::int64_t max = store->range("TopicTest", 0).max;
    store.reset();
    // A file in the middle, and the note of what there was.
    ASSERT_TRUE(disk.remove("/store/commitlog/" + fileName(options.segmentBytes)));
    ASSERT_TRUE(disk.remove("/store/lastStop"));
    open();
    EXPECT_EQ(read(8).status, service::ReadStatus::Found);
    EXPECT_EQ(result.messages, 1);
    EXPECT_EQ(result.nextOffset, max);
}

TEST_F(MmapReadFailure, TheKeyIndexGoesOnWhereItCouldNotReadTheLog) {
    options.keyIndex = true;
    options.indexSlots = 50;
    options.indexEntries = 200;
    open();
    files.failOpens(Status(StatusCode::Io, "cannot open: too many open files"), "/commitlog/");
    const service::AppendItem sent = testkit::appendOne(*store, {.keys = "wanted"});
    const service::KeyQuery query{.topic = "TopicTest", .key = "wanted", .beginMs = 0, .endMs = INT64_MAX};
    EXPECT_FALSE(store->findByKey(query) && !store->findByKey(query)->hits.empty());
    files.clear();
    const auto found = store->findByKey(query);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->hits.size(), 1U);
    EXPECT_EQ(found->hits[0].physicalOffset, sent.physicalOffset);
}

TEST_F(MmapReadFailure, MessagesOfABadSectorAreAFailureAndNoSignal) {
    open();
    for (int i = 0; i < 5; ++i) testkit::appendOne(*store, {});
    store.reset();
    open();
    testkit::appendOne(*store, {});
    EXPECT_EQ(read(0).messages, 6);
    files.failReads(Status(StatusCode::Io, "cannot read: input/output error"));
    // The queue's own files cannot be read either; what it has in memory still can.
    EXPECT_EQ(read(0).status, service::ReadStatus::Failed);
    EXPECT_EQ(result.nextOffset, 0);
    EXPECT_EQ(store->at(0).error().code(), StatusCode::Io);
    EXPECT_TRUE(read(5).status == service::ReadStatus::Found) << "what was just written is read without asking";
    files.clear();
    EXPECT_EQ(read(0).messages, 6);
}

/// A store that was closed and that has two queues, of which recovery looks at the second one only.
class MmapColdQueue : public MmapReadFailure {
protected:
    MmapColdQueue() {
        open();
        for (int i = 0; i < 5; ++i) testkit::appendOne(*store, {});
        testkit::appendOne(*store, {.topic = "Other"});
        store.reset();
        EXPECT_TRUE(disk.remove("/store/lastStop"));
    }
    ~MmapColdQueue() override {
        files.clear();
        store.reset();
    }
    service::ReadStatus hotRead() {
        service::ReadLimits limits;
        limits.hotOnly = true;
        store->read("TopicTest", 0, 0, limits, nullptr, result);
        return result.status;
    }
};

TEST_F(MmapColdQueue, AReadThatMustNotWaitDoesNotLookAtItsFiles) {
    files.failOpens(Status(StatusCode::Io, "cannot open: input/output error"), "/consumequeue/TopicTest/");
    open();
    EXPECT_EQ(hotRead(), service::ReadStatus::NotResident);
    EXPECT_EQ(result.nextOffset, 0);
    EXPECT_FALSE(service::rangeIfKnown(*store, "TopicTest", 0)) << "nor does a question for its ends";
    EXPECT_EQ(read(0).status, service::ReadStatus::Failed);
    files.clear();
    EXPECT_EQ(read(0).messages, 5);
    EXPECT_EQ(hotRead(), service::ReadStatus::Found);
}

TEST_F(MmapColdQueue, ItsFilesAreLookedAtInTheBackground) {
    open();
    while (hotRead() == service::ReadStatus::NotResident) std::this_thread::yield();
    EXPECT_EQ(result.messages, 5);
}

TEST_F(MmapColdQueue, SendingToOtherQueuesDoesNotWaitForItsFiles) {
    files.holdOpens("/consumequeue/TopicTest/");
    open();
    auto cold = std::async(std::launch::async, [&] { return testkit::appendOne(*store, {}).queueOffset; });
    ASSERT_TRUE(files.awaitHeldOpen());
    auto other = std::async(std::launch::async, [&] { return testkit::appendOne(*store, {.topic = "Other"}).queueOffset; });
    const auto answered = other.wait_for(std::chrono::seconds(10));
    files.clear();
    EXPECT_EQ(answered, std::future_status::ready);
    EXPECT_EQ(other.get(), 1);
    EXPECT_EQ(cold.get(), 5);
}

/// A store of which no file stays open or mapped between two questions, so that a search can be held in its middle.
class MmapSearch : public MmapReadFailure {
protected:
    MmapSearch() {
        options.queueFilesOpenMax = 1;
        options.queueFileBytes = 20 * 20;
        options.mappedWindowsMax = 1;
        open();
        // More than three files of the log: the middle is in the second.
        for (; store->stats().maxPhysicalOffset < 3 * options.segmentBytes; ++sent_) {
            clock.advance(std::chrono::seconds(1));
            testkit::appendOne(*store, {.body = std::string(1100, 'x')});
        }
        middleMs_ = clock.wallMs() - sent_ / 2 * 1000;
        testkit::appendOne(*store, {.topic = "Other"});
        store.reset();
        open();
        EXPECT_EQ(store->range("TopicTest", 0).max, sent_);
        EXPECT_EQ(testkit::readAll(*store, "Other", 0, 0).size(), 1U) << "now its file is the one that is open";
    }
    ~MmapSearch() override {
        files.clear();
        store.reset();
    }
    /// What `question` answers when `happening` comes while it opens a file.
    template <typename Question, typename Happening>
    auto askWhile(const std::string& part, Question question, Happening happening) {
        files.holdOpens(part);
        auto answer = std::async(std::launch::async, question);
        EXPECT_TRUE(files.awaitHeldOpen());
        happening();
        files.clear();
        return answer.get();
    }
    auto searchByTime() {
        return [this] { return store->offsetAt("TopicTest", 0, middleMs_, service::Bound::Lower); };
    }
    auto deletion() {
        return [this] { EXPECT_TRUE(store->deleteTopic("TopicTest")); };
    }
    std::int64_t sent_ = 0;
    std::int64_t middleMs_ = 0;
};

TEST_F(MmapSearch, ByTimeInATopicThatIsDeletedMeanwhileFindsNoTopic) {
    const auto offset = askWhile("/consumequeue/TopicTest/", searchByTime(), deletion());
    ASSERT_TRUE(offset) << offset.error().toString();
    EXPECT_EQ(*offset, 0);
}

TEST_F(MmapSearch, ByTimeInMessagesThatGoMeanwhileFindsTheOldestThatStays) {
    const std::string second = "/commitlog/" + fileName(options.segmentBytes);
    std::future<bool> trimmed;
    const auto offset = askWhile(second, searchByTime(), [&] {
        trimmed = std::async(std::launch::async, [&] { return store->trim(2 * options.segmentBytes).isOk(); });
        while (store->stats().minPhysicalOffset < 2 * options.segmentBytes) std::this_thread::yield();
        EXPECT_TRUE(disk.remove("/store" + second)) << "before the search goes on, whoever of the two is faster";
    });
    EXPECT_TRUE(trimmed.get());
    ASSERT_TRUE(offset) << offset.error().toString();
    EXPECT_EQ(*offset, store->range("TopicTest", 0).min);
    EXPECT_GT(*offset, sent_ / 2);
}

TEST_F(MmapSearch, TheStoreTimeInATopicThatIsDeletedMeanwhileIsThatOfNoMessage) {
    const auto time = askWhile("/consumequeue/TopicTest/", [&] { return store->storeTimeAt("TopicTest", 0, sent_ / 2); }, deletion());
    EXPECT_EQ(time.error().code(), StatusCode::NotFound) << time.error().toString();
}

TEST_F(MmapSearch, WhatIsAskedForWhileItGoesWasNotThere) {
    const std::string second = "/commitlog/" + fileName(options.segmentBytes);
    std::future<bool> trimmed;
    const auto trim = [&] {
        trimmed = std::async(std::launch::async, [&] { return store->trim(2 * options.segmentBytes).isOk(); });
        while (store->stats().minPhysicalOffset < 2 * options.segmentBytes) std::this_thread::yield();
        EXPECT_TRUE(disk.remove("/store" + second)) << "before the answer, whoever of the two is faster";
    };
    const auto record = askWhile(second, [&] { return store->at(options.segmentBytes); }, trim);
    EXPECT_TRUE(trimmed.get());
    EXPECT_EQ(record.error().code(), StatusCode::NotFound) << record.error().toString();
}

/// Takes nothing, and lets something happen when it is asked for the first time.
class Interrupter final : public service::ReadFilter {
public:
    explicit Interrupter(std::function<void()> happening) : happening_(std::move(happening)) {}
    [[nodiscard]] bool matchesTags(std::int64_t) const noexcept override {
        if (happening_) std::exchange(happening_, nullptr)();
        return false;
    }

private:
    mutable std::function<void()> happening_;
};

TEST_F(MmapSearch, AReadInATopicThatIsDeletedMeanwhileFindsNoTopic) {
    const Interrupter filter(deletion());
    store->read("TopicTest", 0, 0, {}, &filter, result);
    EXPECT_EQ(result.status, service::ReadStatus::NoSuchQueue);
    EXPECT_EQ(result.maxOffset, 0);
}

TEST_F(MmapSearch, AReadOfMessagesThatGoMeanwhileIsToldWhereTheQueueBegins) {
    const Interrupter filter([&] { EXPECT_TRUE(store->trim(2 * options.segmentBytes)); });
    store->read("TopicTest", 0, 0, {}, &filter, result);
    EXPECT_EQ(result.status, service::ReadStatus::OffsetTooSmall);
    EXPECT_EQ(result.nextOffset, store->range("TopicTest", 0).min);
    EXPECT_EQ(result.minOffset, result.nextOffset);
}

TEST_F(MmapReadFailure, AKeyIndexThatCannotBeReadSaysSo) {
    options.keyIndex = true;
    options.indexSlots = 50;
    options.indexEntries = 200;
    open();
    testkit::appendOne(*store, {.keys = "wanted"});
    const service::KeyQuery query{.topic = "TopicTest", .key = "wanted", .beginMs = 0, .endMs = INT64_MAX};
    const auto found = store->findByKey(query);
    ASSERT_TRUE(found && found->hits.size() == 1);
    files.failReads(Status(StatusCode::Io, "cannot read: input/output error"));
    EXPECT_EQ(store->findByKey(query).error().code(), StatusCode::Io);
}

TEST_F(MmapReadFailure, ALogThatSomebodyCutIsAFailureAndNoSignal) {
    const testkit::TempDir dir;
    const std::string path = dir.file("probe");
    {
        auto probe = systemFiles().open(path, OpenMode::Create);
        ASSERT_TRUE(probe && (*probe)->truncate(4096));
        const auto map = (*probe)->map(0, 4096);
        ASSERT_TRUE(map && (*probe)->truncate(0));
        if ((*map)->populate(0, 4096)) GTEST_SKIP() << "this system cannot ask";
    }
    options.root = dir.path();
    store = std::make_unique<MmapStore>(systemFiles(), clock, log, options);
    store->tunables().diskFreeBytesMin = 1;
    ASSERT_TRUE(store->open());
    for (int i = 0; i < 5; ++i) testkit::appendOne(*store, {});
    store.reset();
    store = std::make_unique<MmapStore>(systemFiles(), clock, log, options);
    ASSERT_TRUE(store->open());
    EXPECT_EQ(read(1).messages, 4);
    std::filesystem::resize_file(dir.file("commitlog/" + fileName(0)), 0);
    EXPECT_EQ(read(1).status, service::ReadStatus::Failed);
    EXPECT_EQ(result.nextOffset, 1);
    EXPECT_EQ(store->at(0).error().code(), StatusCode::Io);
    clock.advance(std::chrono::seconds(2));
    service::ReadLimits limits;
    limits.hotOnly = true;
    store->read("TopicTest", 0, 1, limits, nullptr, result);
    EXPECT_EQ(result.status, service::ReadStatus::NotResident);
    store.reset();
}

TEST_F(MmapReadFailure, SendingDoesNotWaitForTheDeletionOfATopic) {
    open();
    for (int i = 0; i < 5; ++i) testkit::appendOne(*store, {.topic = "Deleted"});
    ASSERT_TRUE(store->settle());
    files.holdSyncs();
    auto deleted = std::async(std::launch::async, [&] { return store->deleteTopic("Deleted"); });
    ASSERT_TRUE(files.awaitHeldSync());
    auto sent = std::async(std::launch::async, [&] {
        testkit::appendOne(*store, {.topic = "Deleted"});
        return testkit::appendOne(*store, {}).queueOffset;
    });
    const auto answered = sent.wait_for(std::chrono::seconds(10));
    files.clear();
    EXPECT_EQ(answered, std::future_status::ready);
    EXPECT_TRUE(deleted.get());
    EXPECT_FALSE(store->range("Deleted", 0).exists) << "what came meanwhile goes with it";
    {
        const auto left = disk.afterKill();
        MmapStore next(*left, clock, log, options);
        ASSERT_TRUE(next.open());
        EXPECT_FALSE(next.range("Deleted", 0).exists);
    }
    EXPECT_EQ(testkit::appendOne(*store, {.topic = "Deleted"}).queueOffset, 0);
    EXPECT_EQ(sent.get(), 0);
}

class MmapSyncFailure : public MmapFaultyDisk {
protected:
    MmapSyncFailure() { options.syncFlush = true; }
};

TEST_F(MmapSyncFailure, AFailedSyncIsFinalAndSendersLearnIt) {
    open();
    ASSERT_EQ(testkit::appendOne(*store, {}).status, AppendStatus::PutOk);
    files.failSyncs(Status(StatusCode::Io, "cannot sync: input/output error"));
    EXPECT_EQ(testkit::appendOne(*store, {}).status, AppendStatus::Failed);
    files.clear();
    testkit::TestBatch later;
    later.add({});
    later.appendTo(*store);
    ASSERT_TRUE(later.wait());
    EXPECT_EQ(later.items[0].status, AppendStatus::ServiceNotAvailable);
    EXPECT_EQ(store->range("TopicTest", 0).max, 1) << "what may not be durable is not visible";
    EXPECT_FALSE(store->stats().writable);
    EXPECT_NE(store->stats().health.message().find("input/output error"), std::string::npos);
    store->close();
    EXPECT_TRUE(disk.exists("/store/abort")) << "the next start has to look closely";
}

TEST_F(MmapSyncFailure, WhoWaitsTooLongForTheDiskIsToldAndTheMessageAppearsLater) {
    options.syncFlushTimeout = std::chrono::milliseconds(20);
    open();
    files.holdSyncs();
    testkit::TestBatch late;
    late.add({.body = "late"});
    late.add({.body = "does not wait"}).waitStored = false;
    late.appendTo(*store);
    ASSERT_TRUE(files.awaitHeldSync());
    EXPECT_EQ(late.timesDone(), 0);
    clock.advance(std::chrono::milliseconds(30));
    ASSERT_TRUE(late.wait());
    EXPECT_EQ(late.items[0].status, AppendStatus::FlushDiskTimeout);
    EXPECT_EQ(late.items[1].status, AppendStatus::PutOk);
    EXPECT_EQ(store->range("TopicTest", 0).max, 0);
    files.clear();
    EXPECT_EQ(testkit::appendOne(*store, {.body = "after"}).queueOffset, 2);
    EXPECT_EQ(testkit::readAll(*store, "TopicTest", 0).size(), 3U);
    EXPECT_EQ(late.timesDone(), 1);
}

/// Counts the looks of the thread that answers late ones, from a time on.
class WatchedClock final : public Clock {
public:
    explicit WatchedClock(const testkit::ManualClock& clock) : clock_(clock) {}
    [[nodiscard]] MonotonicTime now() const noexcept override {
        const MonotonicTime now = clock_.now();
        char name[16] = {};
        (void)::pthread_getname_np(::pthread_self(), name, sizeof name);
        if (std::string_view(name) == "mmap-deadlines") {
            const std::lock_guard lock(mutex_);
            if (now >= from_) ++looks_;
            changed_.notify_all();
        }
        return now;
    }
    [[nodiscard]] std::int64_t wallMs() const noexcept override { return clock_.wallMs(); }
    void countFrom(MonotonicTime from) {
        const std::lock_guard lock(mutex_);
        from_ = from;
    }
    bool awaitLooks(int looks) const {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return looks_ >= looks; });
    }

private:
    const testkit::ManualClock& clock_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    MonotonicTime from_ = MonotonicTime::max();
    mutable int looks_ = 0;
};

class MmapDeadlines : public MmapSyncFailure {
protected:
    ~MmapDeadlines() override {
        files.clear();
        store.reset();
    }
    WatchedClock watched{clock};
};

TEST_F(MmapDeadlines, WhoWaitsBehindOneWhoDoesNotIsToldAsWell) {
    options.syncFlushTimeout = std::chrono::milliseconds(20);
    store = std::make_unique<MmapStore>(files, watched, log, options);
    ASSERT_TRUE(store->open());
    files.holdSyncs();
    testkit::TestBatch first;
    first.add({});
    first.appendTo(*store);
    ASSERT_TRUE(files.awaitHeldSync());
    testkit::TestBatch quick;
    quick.add({}).waitStored = false;
    quick.appendTo(*store);
    watched.countFrom(clock.now() + options.syncFlushTimeout);
    clock.advance(std::chrono::milliseconds(30));
    ASSERT_TRUE(first.wait());
    // One look found it late, the next one finds nobody who waits, and the thread goes to sleep.
    ASSERT_TRUE(watched.awaitLooks(2));
    testkit::TestBatch behind;
    behind.add({});
    behind.appendTo(*store);
    clock.advance(std::chrono::milliseconds(30));
    ASSERT_TRUE(behind.wait());
    EXPECT_EQ(behind.items[0].status, AppendStatus::FlushDiskTimeout);
}

TEST_F(MmapSyncFailure, WhoDoesNotWaitIsAnsweredAtOnceAndSeenWhenDurable) {
    open();
    files.holdSyncs();
    testkit::TestBatch batch;
    batch.add({.body = "quick"}).waitStored = false;
    batch.appendTo(*store);
    EXPECT_EQ(batch.timesDone(), 1);
    EXPECT_EQ(batch.items[0].status, AppendStatus::PutOk);
    ASSERT_TRUE(files.awaitHeldSync());
    EXPECT_EQ(store->range("TopicTest", 0).max, 0);
    files.clear();
    EXPECT_EQ(testkit::appendOne(*store, {}).queueOffset, 1);
    EXPECT_EQ(store->range("TopicTest", 0).max, 2);
}

TEST_F(MmapSyncFailure, WhatWaitsForTheDiskIsBoundedInBytes) {
    options.syncFlushQueuedBytes = 10'000;
    options.syncFlushTimeout = std::chrono::milliseconds(1);
    open();
    files.holdSyncs();
    std::vector<std::unique_ptr<testkit::TestBatch>> batches;
    const auto send = [&](std::size_t bytes) {
        batches.push_back(std::make_unique<testkit::TestBatch>());
        batches.back()->add({.body = std::string(bytes, 'x')}).waitStored = batches.size() % 2 == 0;
        batches.back()->appendTo(*store);
        return batches.back()->items[0].status;
    };
    while (send(1000) != AppendStatus::Busy) ASSERT_LT(batches.size(), 100U);
    EXPECT_EQ(batches.size(), 11U) << "a record of such a body has 1100 bytes";
    EXPECT_EQ(batches.back()->timesDone(), 1);
    clock.advance(std::chrono::milliseconds(750));
    EXPECT_EQ(send(1), AppendStatus::Busy);
    EXPECT_NE(batches.back()->failure.message().find("bytes wait for the disk, the oldest for 750ms, limit syncFlushQueuedBytes 10000"), std::string::npos)
        << batches.back()->failure.message();
    EXPECT_EQ(store->stats().oldestAppendMs, 750);
    EXPECT_EQ(store->stats().messagesRefused, 2);
    // Answered late, but still in memory.
    clock.advance(std::chrono::milliseconds(5));
    ASSERT_TRUE(batches[1]->wait());
    EXPECT_EQ(send(1), AppendStatus::Busy);
    files.clear();
    while (store->range("TopicTest", 0).max < 10) std::this_thread::yield();
    // Whatever its size, one always gets in.
    EXPECT_EQ(testkit::appendOne(*store, {.body = std::string(20'000, 'x')}).status, AppendStatus::PutOk);
    EXPECT_EQ(testkit::appendOne(*store, {}).queueOffset, 11);
}

TEST_F(MmapSyncFailure, BatchesThatWaitShareOneSync) {
    open();
    files.holdSyncs();
    std::vector<std::unique_ptr<testkit::TestBatch>> batches;
    for (int i = 0; i < 20; ++i) {
        batches.push_back(std::make_unique<testkit::TestBatch>());
        batches.back()->add({});
        batches.back()->appendTo(*store);
        if (i == 0) {
            ASSERT_TRUE(files.awaitHeldSync());
        }
    }
    const std::uint64_t before = files.syncs();
    files.clear();
    for (auto& batch : batches) ASSERT_TRUE(batch->wait());
    EXPECT_LE(files.syncs() - before, 3U);
}

}  // namespace

}  // namespace patchbay::mmapstore
