// How quick the backend is here and now; nothing is judged.
#include "Groups.h"

#include <chrono>

namespace patchbay::testkit {

void linkSpeedTests() {}

namespace {

std::string rate(std::int64_t count, std::chrono::steady_clock::duration took) {
    const double seconds = std::max(std::chrono::duration<double>(took).count(), 1e-6);
    return std::to_string(static_cast<std::int64_t>(static_cast<double>(count) / seconds)) + "/s";
}

TEST_P(MessageStoreContract, SpeedIsReported) {
    static constexpr int kBatches = 100;
    static constexpr int kPerBatch = 64;
    const std::string body(1024, 'b');
    store();
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::unique_ptr<TestBatch>> batches;
    for (int i = 0; i < kBatches; ++i) {
        auto& batch = *batches.emplace_back(std::make_unique<TestBatch>());
        for (int m = 0; m < kPerBatch; ++m) batch.add({.queueId = m % 8, .body = body});
        batch.appendTo(store());
    }
    for (auto& batch : batches) ASSERT_TRUE(batch->wait());
    const auto appended = std::chrono::steady_clock::now();
    std::int64_t read = 0;
    service::ReadResult result;
    for (int queue = 0; queue < 8; ++queue) {
        for (std::int64_t offset = 0; offset < store().range("TopicTest", queue).max; offset = result.nextOffset) {
            store().read("TopicTest", queue, offset, {}, nullptr, result);
            ASSERT_EQ(result.status, service::ReadStatus::Found);
            read += result.messages;
        }
    }
    const auto done = std::chrono::steady_clock::now();
    EXPECT_EQ(read, kBatches * kPerBatch);
    RecordProperty("append", rate(kBatches * kPerBatch, appended - start));
    RecordProperty("read", rate(read, done - appended));
    std::cout << "[   SPEED  ] " << GetParam().name << ": append " << rate(kBatches * kPerBatch, appended - start) << ", read "
              << rate(read, done - appended) << " (1 KB)\n";
}

}  // namespace
}  // namespace patchbay::testkit
