// Proved: the key index is what a Java broker writes for the same log, byte for byte; it survives restarts, kills and full files.
// How: recorded directories whose index is thrown away and built again; a disk in memory that is "killed".
// Left to others: collisions, windows of time, limits (contract suite).
#include "Fixture.h"

#include "patchbay/base/Clock.h"
#include "patchbay/testkit/TempDir.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace patchbay::mmapstore {

namespace {

std::string indexOf(const std::string& root) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(root + "/index")) {
        std::ifstream in(entry.path(), std::ios::binary);
        std::stringstream text;
        text << in.rdbuf();
        files.emplace(entry.path().filename().string(), std::move(text).str());
    }
    std::string all;
    for (const auto& [name, content] : files) all += content;
    return all;
}

/// A recorded directory and the size of its index files.
struct Recorded {
    const char* name;
    std::int64_t entries;
};

class MmapIndexGolden : public testing::TestWithParam<Recorded> {};

TEST_P(MmapIndexGolden, BuiltAgainFromTheLogItIsTheOneThatJavaWrote) {
    const testkit::TempDir dir;
    const std::string archive = std::string(PATCHBAY_TEST_DATA) + "/golden/store/" + GetParam().name + ".tar.gz";
    ASSERT_EQ(std::system(("tar -xzf " + archive + " -C " + dir.path()).c_str()), 0);
    testkit::FakeLogger log;
    StoreOptions options;
    options.root = dir.path() + "/store";
    options.segmentBytes = 1'048'576;
    options.queueFileBytes = 20'000;
    options.indexSlots = 1000;
    options.indexEntries = GetParam().entries;
    const std::string java = indexOf(options.root);
    ASSERT_FALSE(java.empty());
    const auto openAndClose = [&] {
        MmapStore store(systemFiles(), systemClock(), log, options);
        // The disk of whoever runs this may be so full, and the messages so old, that they would have to go.
        store.tunables().deleteHours = 0;
        store.tunables().cleanForcibly = 0;
        store.tunables().diskFreeBytesMin = 1;
        ASSERT_TRUE(store.open());
    };
    openAndClose();
    EXPECT_TRUE(indexOf(options.root) == java) << "a Java index that is complete stays as it is";
    std::filesystem::remove_all(options.root + "/index");
    openAndClose();
    EXPECT_TRUE(indexOf(options.root) == java);
}

INSTANTIATE_TEST_SUITE_P(Java, MmapIndexGolden, testing::Values(Recorded{"a-simple", 4000}, Recorded{"c-complex", 2000}));

class MmapIndex : public MmapStoreTest {
protected:
    void appendMany(int from, int to) {
        for (int i = from; i < to; ++i) {
            testkit::TestMessage message;
            message.keys = "key" + std::to_string(i);
            testkit::appendOne(store(), message);
            clock.advance(std::chrono::milliseconds(700));
        }
    }
    void expectAll(int to) {
        for (int i = 0; i < to; ++i) {
            const auto hits = store().findByKey({.topic = "TopicTest", .key = "key" + std::to_string(i), .endMs = INT64_MAX});
            ASSERT_TRUE(hits);
            EXPECT_EQ(hits->hits.size(), 1U) << i;
        }
    }
    std::size_t files() { return disk->list("/store/index")->size(); }
};

TEST_F(MmapIndex, FollowsFromFileToFileAndFindsInAllOfThem) {
    open();
    appendMany(0, 450);
    expectAll(450);
    EXPECT_EQ(files(), 3U) << "199 entries fit into a file";
    open();
    appendMany(450, 460);
    expectAll(460);
}

TEST_F(MmapIndex, IsBuiltAgainAfterAKill) {
    open();
    appendMany(0, 250);
    expectAll(250);
    kill();
    open();
    expectAll(250);
    EXPECT_EQ(files(), 2U) << "the full file was kept";
}

TEST_F(MmapIndex, AFileThatIsDurableWhileTheLogIsNotDoesNotHideWhatComesInstead) {
    open();
    appendMany(0, 100);
    const std::int64_t durable = store().stats().maxPhysicalOffset;
    const std::int64_t segment = durable - durable % options.segmentBytes;
    appendMany(100, 200);
    expectAll(200);
    ASSERT_EQ(files(), 2U) << "the first is full, and noted in the checkpoint";
    kill();
    for (std::int64_t start = segment; disk->exists("/store/commitlog/" + fileName(start)); start += options.segmentBytes) {
        const std::int64_t at = std::max<std::int64_t>(durable - start, 0);
        overwrite("/store/commitlog/" + fileName(start), static_cast<std::uint64_t>(at),
                  std::string(static_cast<std::size_t>(options.segmentBytes - at), '\0'));
    }
    open();
    ASSERT_EQ(store().stats().maxPhysicalOffset, durable);
    appendMany(1000, 1050);
    expectAll(100);
    for (int i = 1000; i < 1050; ++i) {
        const auto hits = store().findByKey({.topic = "TopicTest", .key = "key" + std::to_string(i), .endMs = INT64_MAX});
        ASSERT_TRUE(hits);
        EXPECT_EQ(hits->hits.size(), 1U) << i;
    }
}

TEST_F(MmapIndex, FilesGoWithTheLog) {
    open();
    appendMany(0, 450);
    expectAll(450);
    ASSERT_TRUE(store().trim(store().stats().maxPhysicalOffset));
    EXPECT_LT(files(), 3U);
}

TEST_F(MmapIndex, ATimeWindowLeavesOutWhatHasTheSameKey) {
    open();
    const std::int64_t begin = clock.wallMs();
    testkit::appendOne(store(), {.body = "early", .keys = "same"});
    clock.advance(std::chrono::hours(1));
    testkit::appendOne(store(), {.body = "late", .keys = "same"});
    const auto find = [&](std::int64_t from, std::int64_t to) {
        const auto hits = store().findByKey({.topic = "TopicTest", .key = "same", .beginMs = from, .endMs = to});
        return hits ? hits->hits.size() : 99;
    };
    EXPECT_EQ(find(begin - 1000, begin + 1000), 1U);
    EXPECT_EQ(find(begin + 3'599'000, begin + 3'601'000), 1U);
    EXPECT_EQ(find(0, INT64_MAX), 2U);
    EXPECT_EQ(find(begin + 1, begin + 3'599'999), 0U);
}

TEST_F(MmapIndex, AFileThatTheDiskHasNoRoomForIsTriedNowAndThenAndNothingIsLeftOut) {
    open();
    appendMany(0, 150);
    expectAll(150);
    disk->refuseBlocks("/index/");
    // The two keys of a message do not all fit.
    for (int i = 150; i < 250; ++i) testkit::appendOne(store(), {.keys = "key" + std::to_string(i) + " more" + std::to_string(i)});
    const auto find = [this](const std::string& key) {
        const auto hits = store().findByKey({.topic = "TopicTest", .key = key, .endMs = INT64_MAX});
        return hits ? hits->hits.size() : 99;
    };
    EXPECT_EQ(find("key249"), 0U);
    EXPECT_EQ(find("key10"), 1U);
    EXPECT_EQ(disk->refusedBlocks(), 1U) << "not for every key";
    EXPECT_EQ(files(), 1U) << "half a file is not left on a disk that is full";
    EXPECT_TRUE(disk->exists("/store/checkpoint")) << "the full file is noted";
    clock.advance(std::chrono::seconds(11));
    EXPECT_EQ(find("key249"), 0U);
    EXPECT_EQ(disk->refusedBlocks(), 2U);
    disk->refuseBlocks({});
    clock.advance(std::chrono::seconds(11));
    expectAll(250);
    for (int i = 150; i < 250; ++i) EXPECT_EQ(find("more" + std::to_string(i)), 1U) << i;
    EXPECT_EQ(files(), 2U);
}

TEST_F(MmapIndex, SparseFilesOfJavaDoNotStopTheStartOnAFullDisk) {
    open();
    appendMany(0, 250);
    expectAll(250);
    close();
    disk->refuseBlocks("/index/");
    open();
    EXPECT_EQ(disk->refusedBlocks(), 1U) << "a file that is full is never written again";
    EXPECT_TRUE(log.contains("a key-index file is only read"));
    expectAll(250);
    disk->refuseBlocks({});
    clock.advance(std::chrono::seconds(11));
    appendMany(250, 260);
    expectAll(260);
    EXPECT_EQ(files(), 3U) << "what is only read gets nothing new";
}

TEST_F(MmapIndex, NamesOfFilesGrowThoughTheClockGoesBack) {
    open();
    appendMany(0, 100);
    expectAll(100);
    clock.setWallMs(clock.wallMs() - 7'200'000);
    appendMany(100, 450);
    expectAll(450);
    ASSERT_EQ(files(), 3U);
    open();
    appendMany(450, 455);
    expectAll(455);
    EXPECT_EQ(files(), 3U) << "the newest file is the last one";
}

TEST_F(MmapIndex, AQueryReadsSoManyMessagesAtMost) {
    open();
    testkit::appendOne(store(), {.uniqueKey = "same"});
    const auto hits = [this] {
        const auto found = store().findByKey({.topic = "TopicTest", .key = "same", .endMs = INT64_MAX, .uniqueKey = true});
        return found ? found->hits.size() : 99;
    };
    const auto appendOthers = [this](int count) {
        testkit::TestBatch batch;
        for (int i = 0; i < count; ++i) batch.add({.body = "x", .keys = "same"});
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
    };
    for (int i = 0; i < 40; ++i) appendOthers(100);
    EXPECT_EQ(hits(), 1U);
    appendOthers(100);
    EXPECT_EQ(hits(), 0U) << "4096 messages with the same key are newer";
}

TEST_F(MmapIndex, CanBeSwitchedOff) {
    options.keyIndex = false;
    open();
    EXPECT_FALSE(store().capabilities().keyIndex);
    EXPECT_EQ(store().findByKey({.topic = "TopicTest", .key = "k"}).error().code(), StatusCode::Unsupported);
    EXPECT_FALSE(disk->exists("/store/index"));
}

/// Files below a directory that are removed and still open.
int removedButOpen(const std::string& directory) {
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
        if (target.starts_with(directory) && target.ends_with(" (deleted)")) ++found;
    }
    return found;
}

TEST(MmapIndexRemoval, AStartDoesNotWaitUntilTheDiskHasTheBlocksBack) {
    const testkit::TempDir dir;
    testkit::FakeLogger log;
    testkit::ManualClock clock;
    StoreOptions options;
    options.root = dir.path() + "/store";
    options.segmentBytes = 65'536;
    options.indexSlots = 50;
    options.indexEntries = 200;
    {
        MmapStore store(systemFiles(), clock, log, options);
        ASSERT_TRUE(store.open());
        testkit::appendOne(store, {.body = "b", .keys = "k"});
        ASSERT_TRUE(store.findByKey({.topic = "TopicTest", .key = "k", .endMs = INT64_MAX}));
        std::filesystem::copy(options.root, dir.path() + "/killed", std::filesystem::copy_options::recursive);
        std::filesystem::copy(options.root, dir.path() + "/again", std::filesystem::copy_options::recursive);
    }
    options.root = dir.path() + "/killed";
    options.buildIndex = false;  // and so nobody gives them back
    {
        MmapStore store(systemFiles(), clock, log, options);
        ASSERT_TRUE(store.open());
        EXPECT_EQ(removedButOpen(options.root + "/index"), 1);
    }
    options.root = dir.path() + "/again";
    options.buildIndex = true;
    MmapStore store(systemFiles(), clock, log, options);
    ASSERT_TRUE(store.open());
    while (removedButOpen(options.root + "/index") > 0) std::this_thread::yield();
    const auto found = store.findByKey({.topic = "TopicTest", .key = "k", .endMs = INT64_MAX});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->hits.size(), 1U);
}

}  // namespace
}  // namespace patchbay::mmapstore
