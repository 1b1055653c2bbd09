// Proved: reading a store of any size maps and opens no more than its limits say, and what is mapped goes again.
// How: a store of many small files on this machine's disk, read at random, and what the system says of this process.
// Left to others: what is read (contract), single windows (residency_test.cpp), a whole broker in a cgroup (bench).
#include "MmapStore.h"

#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/ManualClock.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace patchbay::mmapstore {

namespace {

constexpr std::int64_t kWindows = 4;
constexpr std::int64_t kQueueFiles = 8;
constexpr int kQueues = 40;
constexpr int kRounds = 60;

/// Of this process, below a directory.
struct Held {
    std::int64_t logMappings = 0;
    std::int64_t queueMappings = 0;
    std::int64_t descriptors = 0;
};

Held heldBelow(const std::string& directory) {
    Held held;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find(directory + "/commitlog/") != std::string::npos) ++held.logMappings;
        if (line.find(directory + "/consumequeue/") != std::string::npos) ++held.queueMappings;
    }
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry.path(), gone).string().starts_with(directory + "/")) ++held.descriptors;
    }
    return held;
}

TEST(MmapBounds, MapsAndOpensNoMoreThanItsLimitsHoweverLargeTheStoreIs) {
    testkit::TempDir dir;
    testkit::ManualClock clock;
    testkit::FakeLogger log;
    StoreOptions options;
    options.root = dir.path();
    options.segmentBytes = 65'536;
    options.queueFileBytes = 400;
    options.mappedWindowBytes = 65'536;
    options.mappedWindowsMax = kWindows;
    options.queueFilesOpenMax = kQueueFiles;
    options.hotWindowBytes = 65'536;
    options.keyIndex = false;
    MmapStore store(systemFiles(), clock, log, options);
    store.tunables().diskFreeBytesMin = 1;   // whatever the level of this machine's disk
    ASSERT_TRUE(store.open());
    for (int round = 0; round < kRounds; ++round) {
        for (int queue = 0; queue < kQueues; ++queue) testkit::appendOne(store, {.queueId = queue, .body = std::string(2'000, 'b')});
    }
    ASSERT_TRUE(store.settle());
    ASSERT_GT(store.stats().maxPhysicalOffset, 60 * options.segmentBytes);

    std::minstd_rand random(7);
    Held most;
    service::ReadResult result;
    for (int i = 0; i < 4'000; ++i) {
        const auto queue = static_cast<std::int32_t>(random() % kQueues);
        const auto offset = static_cast<std::int64_t>(random() % kRounds);
        service::ReadLimits limits;
        limits.messagesMax = 1 + static_cast<std::int32_t>(random() % 8);
        limits.hotOnly = i % 2 == 0;
        store.read("TopicTest", queue, offset, limits, nullptr, result);
        ASSERT_TRUE(result.status == service::ReadStatus::Found || result.status == service::ReadStatus::NotResident);
        result.clear();
        if (i % 100 != 0) continue;
        clock.advance(std::chrono::seconds(2));
        const Held now = heldBelow(dir.path());
        most.logMappings = std::max(most.logMappings, now.logMappings);
        most.queueMappings = std::max(most.queueMappings, now.queueMappings);
        most.descriptors = std::max(most.descriptors, now.descriptors);
    }
    EXPECT_GT(most.logMappings, 0);
    EXPECT_LE(most.logMappings, kWindows);
    EXPECT_LE(most.queueMappings, kQueueFiles);
    // Beside the files of queues: the one that is written, the next one, the lock.
    EXPECT_LE(most.descriptors, kQueueFiles + 4);
}

}  // namespace

}  // namespace patchbay::mmapstore
