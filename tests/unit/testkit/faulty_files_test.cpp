// Proved: FaultyFiles fails in the middle of writes, and leaves after a power cut what was durable and nothing else.
// How: files in a temporary folder. Left to others: what a store makes of it (tests/contract).
#include "patchbay/testkit/FaultyFiles.h"
#include "patchbay/testkit/TempDir.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace patchbay::testkit {
namespace {

class FaultyFilesTest : public testing::Test {
protected:
    std::unique_ptr<File> create(const std::string& name) {
        auto file = files.open(dir.file(name), OpenMode::Create);
        EXPECT_TRUE(file);
        return std::move(*file);
    }
    /// What a power cut now leaves of a file; "-" when it is not there.
    std::string left(const std::string& name) {
        const TempDir copy;
        files.leavePowerCut(copy.path());
        if (!std::filesystem::exists(copy.file(name))) return "-";
        return *systemFiles().readAll(copy.file(name));
    }

    TempDir dir;
    FaultyFiles files{systemFiles()};
};

TEST_F(FaultyFilesTest, AWriteFailsInItsMiddleAndLaterOnesWhole) {
    const auto file = create("a");
    files.failWritesAfter(1, Status(StatusCode::Full, "full"));
    EXPECT_TRUE(file->writeAt("0123", 0));
    EXPECT_EQ(file->writeAt("4567", 4).code(), StatusCode::Full);
    EXPECT_FALSE(file->writeAt("89ab", 8));
    EXPECT_FALSE(file->truncate(0));
    EXPECT_EQ(*files.readAll(dir.file("a")), "012345");
    files.clear();
    EXPECT_TRUE(file->writeAt("4567", 4));
    EXPECT_EQ(*files.readAll(dir.file("a")), "01234567");
}

TEST_F(FaultyFilesTest, APowerCutLeavesWhatWasSynced) {
    ASSERT_TRUE(create("before")->writeAt("old", 0));
    files.watchPower(dir.path());
    EXPECT_EQ(left("before"), "old");
    const auto file = create("a");
    ASSERT_TRUE(file->writeAt("one", 0));
    ASSERT_TRUE(file->sync());
    EXPECT_EQ(left("a"), "-") << "its name was not synced";
    ASSERT_TRUE(files.syncDirectory(dir.path()));
    ASSERT_TRUE(file->writeAt("two", 3));
    EXPECT_EQ(left("a"), "one");
    files.failSyncs(Status(StatusCode::Io, "error"));
    EXPECT_FALSE(file->sync());
    EXPECT_EQ(left("a"), "one");
    files.clear();
    ASSERT_TRUE(file->sync());
    EXPECT_EQ(left("a"), "onetwo");
}

TEST_F(FaultyFilesTest, NamesChangeWithTheirDirectory) {
    files.watchPower(dir.path());
    const auto file = create("a");
    ASSERT_TRUE(file->writeAt("one", 0));
    ASSERT_TRUE(file->sync());
    ASSERT_TRUE(files.syncDirectory(dir.path()));
    ASSERT_TRUE(files.rename(dir.file("a"), dir.file("b")));
    EXPECT_EQ(left("a"), "one");
    EXPECT_EQ(left("b"), "-");
    ASSERT_TRUE(files.syncDirectory(dir.path()));
    EXPECT_EQ(left("a"), "-");
    EXPECT_EQ(left("b"), "one");
    ASSERT_TRUE(file->writeAt("two", 0));
    ASSERT_TRUE(file->sync());
    EXPECT_EQ(left("b"), "two") << "the open file is the same one";
    ASSERT_TRUE(files.remove(dir.file("b")));
    EXPECT_EQ(left("b"), "two");
    ASSERT_TRUE(files.syncDirectory(dir.path()));
    EXPECT_EQ(left("b"), "-");
}

TEST_F(FaultyFilesTest, SyncingAllMakesNamesAndContentsDurable) {
    files.watchPower(dir.path());
    ASSERT_TRUE(files.makeDirectories(dir.file("deep")));
    ASSERT_TRUE(create("deep/a")->writeAt("one", 0));
    EXPECT_EQ(left("deep/a"), "-");
    ASSERT_TRUE(files.syncAll(dir.path()));
    EXPECT_EQ(left("deep/a"), "one");
    ASSERT_TRUE(files.rename(dir.file("deep"), dir.file("moved")));
    EXPECT_EQ(left("moved/a"), "one");
}

}  // namespace
}  // namespace patchbay::testkit
