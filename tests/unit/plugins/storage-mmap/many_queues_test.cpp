// Proved: a start with 20,000 queues does a small, fixed amount of work for each, after a clean stop and after a kill, and looks
// neither at messages before the checkpoint nor, after a clean stop, into any queue that nobody uses.
// How: files of the system behind a counter of opened and listed names. Left to others: how long that takes (./dev bench size).
#include "MmapStore.h"

#include "patchbay/base/Assert.h"
#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/ManualClock.h"
#include "patchbay/testkit/StoreClient.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <system_error>
#include <unistd.h>

namespace patchbay::mmapstore {

namespace {

/// Passes everything on and counts. Nothing is made durable, which would take minutes.
class CountingFiles final : public FileSystem {
public:
    explicit CountingFiles(FileSystem& below) : below_(below) {}
    [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
        ++opened;
        return below_.open(path, mode);
    }
    [[nodiscard]] Result<std::vector<FileInfo>> list(const std::string& path) const override {
        ++listed;
        return below_.list(path);
    }
    [[nodiscard]] bool exists(const std::string& path) const noexcept override {
        ++asked;
        return below_.exists(path);
    }
    Status makeDirectories(const std::string& path) override {
        std::error_code failed;
        std::filesystem::create_directories(path, failed);
        return failed ? Status(StatusCode::Io, failed.message()) : Status::ok();
    }
    Status rename(const std::string& from, const std::string& to) override { return below_.rename(from, to); }
    Status remove(const std::string& path) override { return below_.remove(path); }
    Status syncDirectory(const std::string&) override { return Status::ok(); }
    Status syncAll(const std::string&) override { return Status::ok(); }
    [[nodiscard]] Result<DiskSpace> space(const std::string& path) const override { return below_.space(path); }
    [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path) override { return below_.lock(path); }

    std::atomic<int> opened{0};
    mutable std::atomic<int> listed{0};
    mutable std::atomic<int> asked{0};

private:
    FileSystem& below_;
};

/// In memory where the system has such a place: a disk would take a minute for so many names.
class QuickDir {
public:
    QuickDir() {
        path_ = std::string(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/patchbay-test-XXXXXX";
        PATCHBAY_ASSERT(::mkdtemp(path_.data()) != nullptr);
    }
    QuickDir(const QuickDir&) = delete;
    QuickDir& operator=(const QuickDir&) = delete;
    ~QuickDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

class MmapManyQueues : public testing::Test {
protected:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    static constexpr int kTopics = 10;
#else
    static constexpr int kTopics = 100;
#endif
    static constexpr int kQueuesOfATopic = 200;
    static constexpr int kQueues = kTopics * kQueuesOfATopic;
    static constexpr int kBeside = 60;  // the log, the checkpoint and the like

    MmapManyQueues() {
        options.root = dir.path();
        options.segmentBytes = 16 << 20;
        options.queueFileBytes = 400;
        options.keyIndex = false;
        options.loadQueues = false;
    }

    /// Opens through the counter.
    void open() {
        store.reset();
        log.clear();
        files.opened = files.listed = files.asked = 0;
        store = std::make_unique<MmapStore>(files, clock, log, options);
        store->tunables().cleanForcibly = 0;
        store->tunables().diskFreeBytesMin = 1;
        const Status opened = store->open();
        ASSERT_TRUE(opened) << opened.toString();
    }
    /// A message in each queue, and a clean stop.
    void fill() {
        open();
        for (int topic = 0; topic < kTopics; ++topic) {
            testkit::TestBatch batch;
            for (int queue = 0; queue < kQueuesOfATopic; ++queue) batch.add({.topic = "Topic" + std::to_string(topic), .queueId = queue});
            batch.appendTo(*store);
            ASSERT_TRUE(batch.wait());
        }
        store.reset();
    }

    QuickDir dir;
    testkit::ManualClock clock;
    testkit::FakeLogger log;
    CountingFiles files{systemFiles()};
    StoreOptions options;
    std::unique_ptr<MmapStore> store;
};

TEST_F(MmapManyQueues, AfterACleanStopEachFileIsOpenedOnceAndNoFolderOfAQueueIsListed) {
    fill();
    open();
    EXPECT_LE(files.opened, kQueues + kBeside);
    EXPECT_LE(files.listed, kTopics + kBeside);
    EXPECT_LE(files.asked, kBeside);
    EXPECT_TRUE(log.contains("records=1 "));
    EXPECT_EQ(store->stats().queues, kQueues);
    const int before = files.opened;
    EXPECT_EQ(store->range("Topic7", 77).max, 1);
    EXPECT_LE(files.opened - before, 2) << "a queue is looked at when it is used";
}

TEST_F(MmapManyQueues, AfterAKillWorkIsBoundedByTheCheckpoint) {
    fill();
    // As a killed process leaves it.
    std::filesystem::remove(dir.path() + "/lastStop");
    std::ofstream(dir.path() + "/abort") << "1";
    open();
    EXPECT_TRUE(log.contains("clean=false"));
    EXPECT_TRUE(log.contains("records=1 ")) << "the last one before the checkpoint";
    EXPECT_LE(files.opened, 2 * kQueues + kBeside);
    EXPECT_LE(files.listed, kQueues + kTopics + kBeside);
    EXPECT_EQ(store->stats().queues, kQueues);
    EXPECT_EQ(store->range("Topic3", 33).max, 1);
}

}  // namespace

}  // namespace patchbay::mmapstore
