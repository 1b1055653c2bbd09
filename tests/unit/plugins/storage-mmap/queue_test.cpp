// Proved: what a consume queue believes of files that other queues had before, and of a log that cannot be read.
// How: queues on a disk in memory without a store around them, one of them where another one was.
// Left to others: loading after damage (damage_test.cpp, recovery_test.cpp).
#include "Fixture.h"

#include "patchbay/testkit/FaultyFiles.h"

#include <cstddef>
#include <new>

namespace patchbay::mmapstore {

namespace {

class MmapQueue : public MmapStoreTest {
protected:
    /// The parts around a queue, as they are after the store was closed.
    struct Parts {
        Parts(FileSystem& files, const Clock& clock, plugin::Logger& log, const StoreOptions& options)
            : layout{options.root, {options.root + "/commitlog"}}, commitLog(files, clock, log, layout, options.segmentBytes),
              windows(commitLog, {options.mappedWindowBytes, options.mappedWindowsMax}), records(windows),
              open(files, options.queueFilesOpenMax), environment{files, log, layout, commitLog, records, open, options.queueFileBytes} {}
        Layout layout;
        CommitLog commitLog;
        ReadWindows windows;
        LogReader records;
        QueueFiles open;
        QueueEnvironment environment;
    };
    static Ref<TopicName> name(std::string_view text) { return Ref<TopicName>::adopt(new TopicName(text)); }
    static void append(ConsumeQueue& queue, std::int64_t position) {
        service::AppendedRecord record{};
        record.physicalOffset = position;
        record.recordBytes = 100;
        record.queueOffset = queue.reserve();
        queue.append({&record, 1}, record.queueOffset + 1);
        queue.publish(record.queueOffset + 1);
    }

    testkit::FaultyFiles files{*disk};
};

TEST_F(MmapQueue, AQueueWhereADeletedOneWasDoesNotGetItsFiles) {
    Parts parts(files, clock, log, options);
    alignas(ConsumeQueue) std::byte place[sizeof(ConsumeQueue)];
    auto* const deleted = new (place) ConsumeQueue(parts.environment, name("Deleted"), 0, QueueKind::Simple, false);
    append(*deleted, 0);
    ASSERT_TRUE(deleted->writeTail());
    deleted->discard();
    // A reader that still holds it opens the file again.
    Unit unit;
    ASSERT_EQ(deleted->copy(0, {&unit, 1}), 1U);
    deleted->~ConsumeQueue();

    auto* const fresh = new (place) ConsumeQueue(parts.environment, name("Fresh"), 0, QueueKind::Simple, false);
    append(*fresh, 1000);
    EXPECT_TRUE(fresh->writeTail());
    EXPECT_TRUE(disk->exists("/store/consumequeue/Fresh/0/" + fileName(0)));
    EXPECT_EQ(loadUnit(file("/store/consumequeue/Deleted/0/" + fileName(0)).data()).physical, 0);
    fresh->~ConsumeQueue();
}

TEST_F(MmapQueue, OneThatNobodyCanUseIsNotLookedForAgain) {
    open();
    MmapStoreTest::append("body");
    close();
    const std::string path = "/store/consumequeue/TopicTest/0/" + fileName(0);
    resize(path, static_cast<std::uint64_t>(options.queueFileBytes) + 20);
    Parts parts(files, clock, log, options);
    ASSERT_TRUE(parts.commitLog.open());
    auto queue = Ref<ConsumeQueue>::adopt(new ConsumeQueue(parts.environment, name("TopicTest"), 0, QueueKind::Simple, true));
    EXPECT_EQ(parts.environment.unloaded, 1);
    EXPECT_EQ(queue->load().code(), StatusCode::Corrupt);
    EXPECT_EQ(parts.environment.unloaded, 0) << "else every send looks for queues that are to be loaded";
    EXPECT_EQ(queue->load().code(), StatusCode::Corrupt);
    queue.reset();
    EXPECT_EQ(parts.environment.unloaded, 0);
}

TEST_F(MmapQueue, ALogThatCannotBeReadTakesNoUnitsFromAQueue) {
    open();
    for (int i = 0; i < 30; ++i) MmapStoreTest::append("body");
    close();
    Parts parts(files, clock, log, options);
    ASSERT_TRUE(parts.commitLog.open());
    parts.environment.logEndAtStart = options.segmentBytes;
    const auto queue = Ref<ConsumeQueue>::adopt(new ConsumeQueue(parts.environment, name("TopicTest"), 0, QueueKind::Simple, true));
    files.failOpens(Status(StatusCode::Io, "cannot open: too many open files"), "/commitlog/");
    const Status loaded = queue->load();
    EXPECT_EQ(loaded.code(), StatusCode::Io) << loaded.toString();
    EXPECT_TRUE(disk->exists("/store/consumequeue/TopicTest/0/" + fileName(400)));
    files.clear();
    ASSERT_TRUE(queue->load());
    EXPECT_EQ(queue->max(), 30);
}

}  // namespace

}  // namespace patchbay::mmapstore
