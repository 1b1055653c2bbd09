// Proves: one data directory serves one broker, whichever stores the two would use and in whatever order they come; a Java broker, which locks the
// first byte of `lock`, and a tool at work count as well; who is refused changes nothing and says who is in the way.
// How: real processes with one storePathRootDir, and a child process that locks as Java does. Left to others: the lock itself (unit/base), Java's
// own broker (interop).
#include "support/BrokerProcess.h"
#include "support/Stores.h"

#include "patchbay/base/StoreLock.h"
#include "patchbay/storetool/StoreConvert.h"
#include "patchbay/storetool/StoreTool.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::test {
namespace {

/// Holds byte 0 of a file as Java's FileChannel.tryLock(0, 1, false) does, in a process of its own, until it is destroyed.
class JavaLock {
public:
    explicit JavaLock(const std::string& path) {
        std::array<int, 2> ready{};
        EXPECT_EQ(::pipe(ready.data()), 0);
        EXPECT_EQ(::pipe(end_.data()), 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
            struct flock range {};
            range.l_type = F_WRLCK;
            range.l_len = 1;
            char byte = ::fcntl(fd, F_SETLK, &range) == 0 ? 'y' : 'n';
            ::close(end_[1]);
            (void)!::write(ready[1], &byte, 1);
            (void)!::read(end_[0], &byte, 1);
            ::_exit(0);
        }
        char byte = 0;
        EXPECT_EQ(::read(ready[0], &byte, 1), 1);
        locked_ = byte == 'y';
        for (const int fd : {ready[0], ready[1], end_[0]}) ::close(fd);
    }
    ~JavaLock() {
        ::close(end_[1]);
        ::waitpid(pid_, nullptr, 0);
    }
    JavaLock(const JavaLock&) = delete;
    JavaLock& operator=(const JavaLock&) = delete;

    [[nodiscard]] bool locked() const noexcept { return locked_; }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

private:
    std::array<int, 2> end_{};
    pid_t pid_ = -1;
    bool locked_ = false;
};

/// The line of who is refused: directory, holder, remedy.
std::string refusal(const std::string& root, pid_t holder) {
    return "PB-1004 the directory " + root + " is in use: " + root + "/lock is locked by process " + std::to_string(holder) + " (";
}

class DataDirectory : public ::testing::TestWithParam<std::array<const char*, 2>> {};

TEST_P(DataDirectory, ServesOneBroker) {
    const auto [first, second] = GetParam();
    BrokerProcess holder(onStore(first));
    ASSERT_TRUE(holder.start()) << holder.output();
    const std::string root = holder.folder() / "store";
    BrokerProcess other(onStore(second));
    const auto refused = other.run({"-D", "storePathRootDir=" + root});
    EXPECT_EQ(refused.exitCode, 1) << refused.err;
    EXPECT_TRUE(refused.err.starts_with(refusal(root, holder.pid()))) << refused.err;
    EXPECT_NE(refused.err.find("; stop that process, or set another storePathRootDir\n"), std::string::npos) << refused.err;
    // Nobody was let near the files: no plugin of the second one had started.
    EXPECT_EQ(refused.err.find("plugin started"), std::string::npos) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(root + (std::string(second) == "storage-sqlite" ? "/sqlite" : "/commitlog")) &&
                 std::string(first) != second);
    EXPECT_FALSE(JavaLock(root + "/lock").locked()) << "a Java broker is refused, too";
    EXPECT_EQ(holder.stop(SIGTERM), 0) << holder.output();
    EXPECT_TRUE(other.start({"-D", "storePathRootDir=" + root})) << other.output();
}

INSTANTIATE_TEST_SUITE_P(Stores, DataDirectory,
                         ::testing::Values(std::array{"storage-mmap", "storage-sqlite"}, std::array{"storage-sqlite", "storage-mmap"},
                                           std::array{"storage-sqlite", "storage-sqlite"}, std::array{"storage-mmap", "storage-mmap"}));

TEST(DataDirectories, OfAJavaBrokerAreRefusedWithBothStores) {
    for (const auto& store : kStores) {
        BrokerProcess broker(onStore(store));
        broker.folder().write("store/lock", "lock");
        const JavaLock java(broker.folder() / "store/lock");
        ASSERT_TRUE(java.locked());
        const auto refused = broker.run();
        EXPECT_EQ(refused.exitCode, 1) << refused.err;
        EXPECT_TRUE(refused.err.starts_with(refusal(broker.folder() / "store", java.pid()))) << refused.err;
        EXPECT_EQ(broker.folder().read("store/lock"), "lock");
    }
}

TEST(DataDirectories, OfABrokerWithEitherStoreAreRefusedToOfflineTools) {
    for (const auto& store : kStores) {
        BrokerProcess broker(onStore(store));
        std::filesystem::create_directories(broker.folder() / "store/commitlog");   // of an earlier choice
        ASSERT_TRUE(broker.start()) << broker.output();
        const std::string root = broker.folder() / "store";
        const auto ignore = [](std::string_view) { return true; };
        storetool::StoreToolOptions tool;
        tool.directory = root;
        const auto info = storetool::storeInfo(tool, ignore);
        ASSERT_FALSE(info);
        EXPECT_TRUE(info.error().message().starts_with(refusal(root, broker.pid()))) << info.error().message();
        if (store == "storage-mmap") continue;
        // A store that would come to lie beside the one that runs.
        TempFolder elsewhere;
        storetool::ConvertOptions convert;
        convert.from = {storetool::StoreKind::Sqlite, elsewhere / "sqlite", {}};
        convert.to = {storetool::StoreKind::Mmap, root, {}};
        std::filesystem::create_directories(convert.from.directory);
        std::filesystem::copy_file(root + "/sqlite/messages.db", convert.from.directory + "/messages.db");
        const auto converted = storetool::convertStore(convert);
        ASSERT_FALSE(converted);
        EXPECT_TRUE(converted.error().message().starts_with(refusal(root, broker.pid()))) << converted.error().message();
    }
}

TEST(DataDirectories, OfAToolAtWorkAreRefusedToBrokers) {
    for (const auto& store : kStores) {
        BrokerProcess broker(onStore(store));
        const auto tool = lockStore(systemFiles(), broker.folder() / "store");
        ASSERT_TRUE(tool);
        const auto refused = broker.run();
        EXPECT_EQ(refused.exitCode, 1) << refused.err;
        EXPECT_TRUE(refused.err.starts_with(refusal(broker.folder() / "store", ::getpid()))) << refused.err;
    }
}

// One store: a path of its own has the database alone.
TEST(DataDirectories, OfADatabaseMayBeTheRootItself) {
    BrokerProcess broker(onStore("storage-sqlite") + "storePathSqlite = store");
    ASSERT_TRUE(broker.start()) << broker.output();
    EXPECT_TRUE(std::filesystem::exists(broker.folder() / "store/messages.db"));
    BrokerProcess other(onStore("storage-sqlite") + "storePathSqlite = " + (broker.folder() / "store"));
    const auto refused = other.run();
    EXPECT_EQ(refused.exitCode, 1) << refused.err;
    EXPECT_NE(refused.err.find(refusal(broker.folder() / "store", broker.pid())), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("set another storePathSqlite\n"), std::string::npos) << refused.err;
}

TEST(DataDirectories, AreNotLockedByANameServerAlone) {
    BrokerProcess namesrv("roles = namesrv");
    ASSERT_TRUE(namesrv.start()) << namesrv.output();
    for (const auto& store : kStores) {
        BrokerProcess broker("roles = broker\n" + onStore(store));
        EXPECT_TRUE(broker.start({"-D", "storePathRootDir=" + (namesrv.folder() / "store")})) << broker.output();
    }
}

}  // namespace
}  // namespace patchbay::test
