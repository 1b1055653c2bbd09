// Proves that the operating system's files keep the promises of base/FileSystem.h.
// How: a temporary folder; more pieces than one system call takes; every failure that can be provoked without being
// root. Left to others: full and failing disks (the test kit's faulty file system).
#include "patchbay/base/FileSystem.h"
#include "patchbay/base/StoreLock.h"

#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace patchbay {
namespace {

class Files : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "patchbay-files-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    [[nodiscard]] std::string at(const std::string& name) const { return root_ + '/' + name; }
    std::unique_ptr<File> create(const std::string& name) { return files_.open(at(name), OpenMode::Create).value(); }

    FileSystem& files_ = systemFiles();
    std::string root_;
};

TEST_F(Files, ReadBackWhatWasWrittenAtAnyOffset) {
    const std::unique_ptr<File> file = create("a");
    ASSERT_TRUE(file->writeAt("hello", 3));
    std::string buffer(10, '#');
    EXPECT_EQ(file->readAt(buffer, 0).value(), 8U);
    EXPECT_EQ(buffer, std::string("\0\0\0hello##", 10));
    EXPECT_EQ(file->readAt(buffer, 100).value(), 0U);
    EXPECT_EQ(file->size().value(), 8U);
    EXPECT_TRUE(file->sync());
    file->startWriteback(0, 8);
    EXPECT_TRUE(file->truncate(2));
    EXPECT_EQ(file->size().value(), 2U);
    EXPECT_TRUE(file->allocate(4096, 4096));
    EXPECT_EQ(file->size().value(), 8192U);
    EXPECT_EQ(file->path(), at("a"));
}

TEST_F(Files, WriteMorePiecesThanOneCallTakes) {
    std::vector<std::string> texts;
    std::vector<iovec> pieces;
    std::string expected;
    for (int i = 0; i < 3000; ++i)
        texts.push_back(i % 7 == 0 ? std::string() : std::to_string(i));
    for (std::string& text : texts) {
        pieces.push_back({text.data(), text.size()});
        expected += text;
    }
    const std::unique_ptr<File> file = create("v");
    ASSERT_TRUE(file->writeAt(pieces, 5));
    std::string buffer(expected.size(), ' ');
    EXPECT_EQ(file->readAt(buffer, 5).value(), expected.size());
    EXPECT_EQ(buffer, expected);
    EXPECT_TRUE(file->writeAt(std::span<iovec>{}, 0));
}

// A limit on the file's size makes the kernel write less than it was asked for, then fail.
TEST_F(Files, FinishShortWritesAndReportTheFailureThatFollows) {
    struct rlimit before {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit small = before;
    small.rlim_cur = 10000;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::unique_ptr<File> file = create("short");
    std::string text(8000, 'x');
    std::vector<iovec> pieces = {{text.data(), text.size()}, {text.data(), text.size()}};
    const Status vectored = file->writeAt(pieces, 0);
    const Status plain = file->writeAt(text, 8000);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(vectored.code(), StatusCode::Io);
    EXPECT_EQ(plain.code(), StatusCode::Io);
    EXPECT_NE(vectored.message().find("/short"), std::string::npos) << vectored.message();
    EXPECT_EQ(file->size().value(), 10000U);
}

TEST_F(Files, MapAnyRangeAndOutliveTheirFile) {
    Ref<Mapping> mapping;
    {
        const std::unique_ptr<File> file = create("m");
        ASSERT_TRUE(file->writeAt(std::string(10000, 'a'), 0));
        ASSERT_TRUE(file->writeAt("needle", 10000));
        mapping = file->map(10000, 6).value();
        EXPECT_FALSE(file->map(0, 0));
    }
    EXPECT_EQ(mapping->bytes(), "needle");
    EXPECT_TRUE(mapping->resident(0, 6));
    EXPECT_FALSE(mapping->resident(0, 7));
    EXPECT_FALSE(mapping->resident(7, 0));
}

TEST_F(Files, SeeWhatIsWrittenAfterTheyWereMapped) {
    const std::unique_ptr<File> file = create("m");
    ASSERT_TRUE(file->truncate(1U << 20));
    const Ref<Mapping> mapping = file->map(0, 1U << 20).value();
    EXPECT_TRUE(mapping->populate(5000, 100));
    EXPECT_FALSE(mapping->populate(5000, 1U << 20)) << "beyond the mapping";
    ASSERT_TRUE(file->writeAt("fresh", 500000));
    EXPECT_EQ(mapping->bytes().substr(500000, 5), "fresh");
}

TEST_F(Files, TellMissingFilesFromOtherFailures) {
    EXPECT_EQ(files_.open(at("none"), OpenMode::Read).error().code(), StatusCode::NotFound);
    EXPECT_EQ(files_.open(at("none"), OpenMode::ReadWrite).error().code(), StatusCode::NotFound);
    EXPECT_EQ(files_.open(root_, OpenMode::Read).error().code(), StatusCode::Io);
    EXPECT_EQ(files_.remove(at("none")).code(), StatusCode::NotFound);
    EXPECT_EQ(files_.list(at("none")).error().code(), StatusCode::NotFound);
    EXPECT_FALSE(files_.exists(at("none")));
    create("r");
    const std::unique_ptr<File> reader = files_.open(at("r"), OpenMode::Read).value();
    EXPECT_EQ(reader->writeAt("x", 0).code(), StatusCode::Io);
}

TEST_F(Files, APipeIsRefusedAtOnce) {
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    for (const OpenMode mode : {OpenMode::Read, OpenMode::ReadWrite, OpenMode::Create}) {
        const auto opened = files_.open(at("pipe"), mode);
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().message(), "cannot open " + at("pipe") + ": it is not a regular file");
    }
}

TEST_F(Files, MakeListAndRemoveDirectories) {
    ASSERT_TRUE(files_.makeDirectories(at("x/y/z")));
    ASSERT_TRUE(files_.makeDirectories(at("x/y/z")));
    create("x/b");
    ASSERT_TRUE(create("x/a")->writeAt("12345", 0));
    const std::vector<FileInfo> entries = files_.list(at("x")).value();
    ASSERT_EQ(entries.size(), 3U);
    EXPECT_EQ(entries[0].name, "a");
    EXPECT_EQ(entries[0].size, 5U);
    EXPECT_EQ(entries[2].name, "y");
    EXPECT_TRUE(entries[2].directory);
    EXPECT_FALSE(files_.makeDirectories(at("x/a/b")));
    EXPECT_FALSE(files_.makeDirectories(at("x/a")));
    EXPECT_FALSE(files_.remove(at("x")));
    EXPECT_TRUE(files_.remove(at("x/y/z")));
    EXPECT_TRUE(files_.syncDirectory(at("x")));
    EXPECT_TRUE(files_.syncAll(at("x")));
    EXPECT_EQ(files_.syncAll(at("none")).code(), StatusCode::NotFound);
    EXPECT_TRUE(files_.rename(at("x/a"), at("x/b")));
    EXPECT_EQ(files_.readAll(at("x/b")).value(), "12345");
    EXPECT_GT(files_.space(root_).value().totalBytes, files_.space(root_).value().freeBytes);
}

TEST_F(Files, LetOneHolderHaveALock) {
    Result<std::unique_ptr<FileLock>> first = files_.lock(at("lock"));
    ASSERT_TRUE(first);
    EXPECT_EQ(files_.lock(at("lock")).error().code(), StatusCode::Busy);
    first->reset();
    EXPECT_TRUE(files_.lock(at("lock")));
}

// What another process says of a record lock on the first byte, as Java's FileChannel.lock asks for it: 0 = it has it.
int otherProcessLocks(const std::string& path) {
    const pid_t child = ::fork();
    if (child == 0) {
        const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
        struct flock range {};
        range.l_type = F_WRLCK;
        range.l_len = 1;
        ::_exit(fd >= 0 && ::fcntl(fd, F_SETLK, &range) == 0 ? 0 : errno);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Files, LocksExcludeRecordLocksOfOtherProcesses) {
    Result<std::unique_ptr<FileLock>> ours = files_.lock(at("lock"));
    ASSERT_TRUE(ours);
    EXPECT_NE(otherProcessLocks(at("lock")), 0);
    // Closing another descriptor of the file must not end the lock.
    files_.open(at("lock"), OpenMode::Read).value().reset();
    EXPECT_NE(otherProcessLocks(at("lock")), 0);
    ours->reset();
    EXPECT_EQ(otherProcessLocks(at("lock")), 0);
}

TEST_F(Files, LocksAreExcludedByRecordLocksOfOtherProcesses) {
    int ready[2] = {};
    int end[2] = {};
    ASSERT_EQ(::pipe(ready), 0);
    ASSERT_EQ(::pipe(end), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const int fd = ::open(at("lock").c_str(), O_RDWR | O_CREAT, 0644);
        struct flock range {};
        range.l_type = F_WRLCK;
        range.l_len = 1;
        char byte = ::fcntl(fd, F_SETLK, &range) == 0 ? 'y' : 'n';
        (void)!::write(ready[1], &byte, 1);
        ::close(end[1]);
        (void)!::read(end[0], &byte, 1);
        ::_exit(0);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    const auto refused = files_.lock(at("lock"));
    EXPECT_EQ(refused.error().code(), StatusCode::Busy);
    EXPECT_NE(refused.error().message().find(" is locked by process " + std::to_string(child) + " ("), std::string::npos) << refused.error().message();
    for (const int fd : {ready[0], ready[1], end[0], end[1]}) ::close(fd);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(files_.lock(at("lock"))) << "locks of a process go with it";
}

TEST_F(Files, ALockOfOursNamesItsProcess) {
    const auto mine = files_.lock(at("lock"));
    ASSERT_TRUE(mine);
    EXPECT_EQ(files_.lock(at("lock")).error().message(), at("lock") + " is locked by this process");
    const pid_t parent = ::getpid();
    const std::string wanted = at("lock") + " is locked by process " + std::to_string(parent) + " (";
    const pid_t child = ::fork();
    if (child == 0) {
        // The parent's descriptor came along; without it the lock is the parent's alone.
        for (int fd = 3; fd < 256; ++fd) ::close(fd);
        const auto theirs = files_.lock(at("lock"));
        ::_exit(!theirs && theirs.error().message().starts_with(wanted) ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST_F(Files, AStoresLockSaysWhichDirectoryAndWhatToDo) {
    const auto mine = lockStore(files_, at("store"));
    ASSERT_TRUE(mine) << "the directory is made";
    EXPECT_TRUE(files_.exists(at("store/lock")));
    const auto refused = lockStore(files_, at("store"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), StatusCode::Busy);
    EXPECT_EQ(refused.error().message(), "the directory " + at("store") + " is in use: " + at("store/lock") +
                                             " is locked by this process; stop that process, or set another storePathRootDir");
}

TEST_F(Files, ReplaceAFileAndKeepTheOldOneBesideIt) {
    ASSERT_TRUE(files_.replaceAtomically(at("state"), "one, and long", true));
    EXPECT_FALSE(files_.exists(at("state.bak")));
    ASSERT_TRUE(files_.replaceAtomically(at("state"), "two", true));
    EXPECT_EQ(files_.readAll(at("state")).value(), "two");
    EXPECT_EQ(files_.readAll(at("state.bak")).value(), "one, and long");
    ASSERT_TRUE(files_.replaceAtomically(at("state"), "3", false));
    EXPECT_EQ(files_.readAll(at("state")).value(), "3");
    EXPECT_EQ(files_.readAll(at("state.bak")).value(), "one, and long");
    EXPECT_FALSE(files_.exists(at("state.tmp")));
}

TEST_F(Files, OverwriteALongerLeftoverOfACrash) {
    ASSERT_TRUE(create("state.tmp")->writeAt("left over by a crash", 0));
    ASSERT_TRUE(files_.replaceAtomically(at("state"), "new", true));
    EXPECT_EQ(files_.readAll(at("state")).value(), "new");
}

TEST_F(Files, RefuseToReadMoreThanWasAllowed) {
    ASSERT_TRUE(create("big")->writeAt("0123456789", 0));
    EXPECT_EQ(files_.readAll(at("big"), 9).error().code(), StatusCode::OutOfRange);
    EXPECT_EQ(files_.readAll(at("big"), 10).value(), "0123456789");
}

}  // namespace
}  // namespace patchbay
