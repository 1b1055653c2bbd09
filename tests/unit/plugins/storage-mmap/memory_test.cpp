// Proved: the memory of a store does not grow with its data: mapped windows keep within their share whoever holds them, and random
// reads of 50 GB leave neither mappings nor anonymous memory behind. How: windows by themselves on a disk in memory; a log of sparse
// files on the system's disk, and what /proc says of this process.
// Left to others: what waits under SYNC_FLUSH (failure_test.cpp), a whole broker (./dev bench size).
#include "Fixture.h"

#include "patchbay/base/Clock.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/testkit/TempDir.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace patchbay::mmapstore {

namespace {

class MmapMemory : public MmapStoreTest {};

TEST_F(MmapMemory, WindowsThatReadersHoldCountAndThenRecordsAloneAreMapped) {
    open();
    for (int i = 0; i < 60; ++i) append(std::string(1000, 'w'));
    close();
    const Layout layout{options.root, {options.root + "/commitlog"}};
    CommitLog commitLog(*disk, clock, log, layout, options.segmentBytes);
    ASSERT_TRUE(commitLog.open());
    constexpr std::int64_t kWindow = 4096 + 4096;
    ReadWindows windows(commitLog, {4096, 8, 3 * kWindow});
    std::vector<Window> held;
    for (std::int64_t i = 0; i < 8; ++i) {
        const std::int64_t position = i * 8192;
        auto window = windows.find(position, 100);
        ASSERT_TRUE(window) << window.error().toString();
        EXPECT_TRUE(window->covers(position, 100));
        EXPECT_EQ(window->to - window->from, i < 3 ? kWindow : 100) << i;
        held.push_back(std::move(*window));
    }
    EXPECT_EQ(windows.mappedBytes(), 3 * kWindow + 5 * 100);
    held.clear();
    EXPECT_EQ(windows.mappedBytes(), 0);
    for (std::int64_t i = 0; i < 8; ++i) {
        const auto window = windows.find(i * 8192, 100);
        ASSERT_TRUE(window);
        EXPECT_EQ(window->to - window->from, kWindow);
        EXPECT_LE(windows.mappedBytes(), 3 * kWindow);
    }
    windows.clear();
    EXPECT_EQ(windows.mappedBytes(), 0);
}

TEST(MmapMemoryShares, KeysOfThePartsCountAsFarAsThereIsRoom) {
    StoreOptions options;
    EXPECT_EQ(memorySharesOf(options).windowBytes, options.mappedWindowBytes);
    EXPECT_GE(memorySharesOf(options).windowsBytes,
              options.mappedWindowsMax * (options.mappedWindowBytes + ReadWindows::overlapOf(options.mappedWindowBytes)));
    options.syncFlush = true;
    EXPECT_EQ(memorySharesOf(options).syncQueuedBytes, options.syncFlushQueuedBytes);
    for (const std::int64_t most : {32LL << 20, 64LL << 20, 200LL << 20}) {
        options.memoryMax = most;
        const MemoryShares shares = memorySharesOf(options);
        EXPECT_GE(shares.windowBytes, 1 << 20);
        EXPECT_LE(2 * (shares.windowBytes + ReadWindows::overlapOf(shares.windowBytes)), shares.windowsBytes);
        EXPECT_LE(shares.windowsBytes + shares.syncQueuedBytes, most - (16 << 20));
        EXPECT_GE(shares.syncQueuedBytes, most / 8 < options.syncFlushQueuedBytes ? most / 8 : options.syncFlushQueuedBytes);
    }
}

/// 50 files of 1 GB with a record every 16 MB, as after a clean stop; nearly all of it takes no place on the disk.
class MmapSparse : public testing::Test {
protected:
    static constexpr std::int64_t kFiles = 50;
    static constexpr std::int64_t kStep = 16 << 20;

    MmapSparse() {
        options.root = dir.path();
        options.keyIndex = false;
        std::filesystem::create_directories(dir.path() + "/commitlog");
        std::filesystem::create_directories(dir.path() + "/consumequeue/T/0");
        std::fstream queue(sized(dir.path() + "/consumequeue/T/0/" + fileName(0), options.queueFileBytes), std::ios::in | std::ios::out | std::ios::binary);
        for (std::int64_t file = 0; file < kFiles; ++file) {
            const std::int64_t start = file * options.segmentBytes;
            std::fstream segment(sized(dir.path() + "/commitlog/" + fileName(start), options.segmentBytes), std::ios::in | std::ios::out | std::ios::binary);
            for (std::int64_t at = 0; at < options.segmentBytes; at += kStep) {
                const std::string record = recordAt(start + at);
                segment.seekp(at);
                segment.write(record.data(), static_cast<std::streamsize>(record.size()));
                std::array<char, kUnitBytes> unit;
                storeUnit(unit.data(), {start + at, static_cast<std::int32_t>(record.size()), 0});
                queue.write(unit.data(), unit.size());
                ++messages;
                if (file + 1 == kFiles) break;  // the log ends with it
            }
        }
    }

    static std::string sized(const std::string& path, std::int64_t bytes) {
        std::ofstream(path).close();
        std::filesystem::resize_file(path, static_cast<std::uintmax_t>(bytes));
        return path;
    }
    std::string recordAt(std::int64_t position) const {
        const std::string body = "body at " + std::to_string(position);
        protocol::RecordFields fields;
        fields.topic = "T";
        fields.body = body;
        fields.queueOffset = messages;
        fields.physicalOffset = position;
        fields.bornTimestamp = fields.storeTimestamp = systemClock().wallMs();
        std::string record(protocol::recordSize(fields), '\0');
        protocol::encodeRecord(record.data(), fields);
        return record;
    }
    /// KB of anonymous memory.
    static std::int64_t anonymous() {
        std::ifstream status("/proc/self/status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("RssAnon:")) return std::stoll(line.substr(8));
        }
        return -1;
    }
    std::int64_t mapped() const {
        std::ifstream maps("/proc/self/maps");
        std::int64_t bytes = 0;
        for (std::string line; std::getline(maps, line);) {
            if (line.find(dir.path() + "/commitlog/") == std::string::npos) continue;
            const std::size_t dash = line.find('-');
            bytes += static_cast<std::int64_t>(std::stoull(line.substr(dash + 1), nullptr, 16) - std::stoull(line, nullptr, 16));
        }
        return bytes;
    }

    testkit::TempDir dir;
    testkit::FakeLogger log;
    StoreOptions options;
    std::int64_t messages = 0;
};

TEST_F(MmapSparse, RandomReadsOf50GigabytesStayWithinTheBudget) {
    options.memoryMax = 64 << 20;
    MmapStore store(systemFiles(), systemClock(), log, options);
    store.tunables().deleteHours = 0;
    store.tunables().cleanForcibly = 0;
    store.tunables().diskFreeBytesMin = 1;
    const Status opened = store.open();
    ASSERT_TRUE(opened) << opened.toString();
    ASSERT_EQ(store.range("T", 0).max, messages);
    ASSERT_EQ(store.stats().minPhysicalOffset, 0);
    std::mt19937 random(50);
    std::uniform_int_distribution<std::int64_t> offsets(0, messages - 1);
    std::int64_t mostMapped = 0;
    const std::int64_t before = anonymous();
    service::ReadResult result;
    for (int i = 0; i < 10'000; ++i) {
        const std::int64_t offset = offsets(random);
        store.read("T", 0, offset, {.messagesMax = 1}, nullptr, result);
        ASSERT_EQ(result.status, service::ReadStatus::Found) << offset;
        ASSERT_EQ(testkit::messagesOf(result).at(0).queueOffset, offset);
        if (i % 100 == 0) mostMapped = std::max(mostMapped, mapped());
    }
    EXPECT_GT(mostMapped, 1 << 20);
    EXPECT_LE(mostMapped, memorySharesOf(options).windowsBytes);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(anonymous() - before, 4096);
    EXPECT_LT(anonymous(), 65'536);
#else
    static_cast<void>(before);
#endif
    result.clear();
    store.close();
    EXPECT_EQ(mapped(), 0);
}

}  // namespace

}  // namespace patchbay::mmapstore
