// Fixture: an mmap store on a disk in memory, and short ways to use it.
#pragma once

#include "MmapStore.h"

#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/ManualClock.h"
#include "patchbay/testkit/StoreClient.h"
#include "support/MemoryFiles.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::mmapstore {

/// Small files, so that tests cross their ends. open() may be called again after close() or on another disk.
class MmapStoreTest : public testing::Test {
protected:
    static constexpr const char* kRoot = "/store";

    MmapStoreTest();
    ~MmapStoreTest() override;

    Status tryOpen();
    MmapStore& open();
    void close() { store_.reset(); }
    /// Goes on with the disk that a killed process leaves. The old store ends on the old disk.
    void kill();
    void powerCut(std::uint64_t seed);
    MmapStore& store() { return *store_; }

    service::AppendItem append(std::string body, std::string topic = "TopicTest", std::int32_t queueId = 0);
    std::vector<std::string> bodies(const std::string& topic = "TopicTest", std::int32_t queueId = 0);
    /// A whole file of the disk.
    std::string file(const std::string& path);
    void overwrite(const std::string& path, std::uint64_t at, std::string_view bytes);
    void resize(const std::string& path, std::uint64_t bytes);

    testkit::ManualClock clock;
    testkit::FakeLogger log;
    std::unique_ptr<test::MemoryFiles> disk = std::make_unique<test::MemoryFiles>();
    StoreOptions options;

private:
    std::unique_ptr<MmapStore> store_;
    std::vector<std::unique_ptr<test::MemoryFiles>> oldDisks_;
};

}  // namespace patchbay::mmapstore
