#include "Fixture.h"

namespace patchbay::mmapstore {

MmapStoreTest::MmapStoreTest() {
    options.root = kRoot;
    options.segmentBytes = 16'384;
    options.indexSlots = 50;
    options.indexEntries = 200;
    options.queueFileBytes = 400;
    options.mappedWindowBytes = 4096;
    options.mappedWindowsMax = 2;
    options.queueFilesOpenMax = 4;
}

MmapStoreTest::~MmapStoreTest() { close(); }

Status MmapStoreTest::tryOpen() {
    store_ = std::make_unique<MmapStore>(*disk, clock, log, options);
    return store_->open();
}

MmapStore& MmapStoreTest::open() {
    close();
    const Status opened = tryOpen();
    EXPECT_TRUE(opened) << opened.toString();
    return *store_;
}

void MmapStoreTest::kill() {
    auto left = disk->afterKill();
    close();
    oldDisks_.push_back(std::exchange(disk, std::move(left)));
}

void MmapStoreTest::powerCut(std::uint64_t seed) {
    auto left = disk->afterPowerCut(seed);
    close();
    oldDisks_.push_back(std::exchange(disk, std::move(left)));
}

service::AppendItem MmapStoreTest::append(std::string body, std::string topic, std::int32_t queueId) {
    return testkit::appendOne(*store_, {.topic = std::move(topic), .queueId = queueId, .body = std::move(body)});
}

std::vector<std::string> MmapStoreTest::bodies(const std::string& topic, std::int32_t queueId) {
    std::vector<std::string> all;
    const std::int64_t min = store_->range(topic, queueId).min;
    for (const auto& message : testkit::readAll(*store_, topic, queueId, min)) all.push_back(message.body);
    return all;
}

std::string MmapStoreTest::file(const std::string& path) {
    const Result<std::string> text = disk->readAll(path);
    EXPECT_TRUE(text) << text.error().toString();
    return text ? *text : std::string();
}

void MmapStoreTest::overwrite(const std::string& path, std::uint64_t at, std::string_view bytes) {
    auto opened = disk->open(path, OpenMode::ReadWrite);
    ASSERT_TRUE(opened) << opened.error().toString();
    ASSERT_TRUE((*opened)->writeAt(bytes, at));
}

void MmapStoreTest::resize(const std::string& path, std::uint64_t bytes) {
    auto opened = disk->open(path, OpenMode::Create);
    ASSERT_TRUE(opened) << opened.error().toString();
    ASSERT_TRUE((*opened)->truncate(bytes));
}

}  // namespace patchbay::mmapstore
