// Proved: the controls of MemoryStore that tests of other plugins rely on (held batches, refusals, residence).
// How: direct calls on one thread.
// Left to others: that it is a store like any other (tests/contract/storage_memory_test.cpp).
#include "patchbay/testkit/ManualClock.h"
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/StoreClient.h"

#include <gtest/gtest.h>

namespace patchbay::testkit {
namespace {

using service::AppendStatus;
using service::ReadStatus;

class MemoryStoreControls : public testing::Test {
protected:
    ManualClock clock;
    MemoryStore store{clock};
};

TEST_F(MemoryStoreControls, HeldBatchesAreInvisibleUntilTheyAreCompleted) {
    store.setManual(true);
    TestBatch first;
    TestBatch second;
    first.add({.body = "1"});
    second.add({.body = "2"});
    first.appendTo(store);
    second.appendTo(store);
    EXPECT_EQ(first.timesDone(), 0);
    EXPECT_EQ(store.range("TopicTest", 0).max, 0);

    EXPECT_EQ(store.complete(1), 1U);
    EXPECT_EQ(first.timesDone(), 1);
    EXPECT_EQ(second.timesDone(), 0);
    EXPECT_EQ(store.range("TopicTest", 0).max, 1);

    store.setManual(false);
    EXPECT_EQ(second.timesDone(), 1);
    EXPECT_EQ(readAll(store, "TopicTest", 0).size(), 2U);
}

TEST_F(MemoryStoreControls, RefusedBatchesCarryStatusAndReason) {
    store.refuse(1, AppendStatus::ServiceNotAvailable, Status(StatusCode::Full, "no space left"));
    TestBatch refused;
    refused.add({});
    refused.appendTo(store);
    EXPECT_EQ(refused.items[0].status, AppendStatus::ServiceNotAvailable);
    EXPECT_EQ(refused.failure.code(), StatusCode::Full);
    EXPECT_EQ(appendOne(store, {}).status, AppendStatus::PutOk);
}

TEST_F(MemoryStoreControls, HotReadsCanBeMadeToMiss) {
    appendOne(store, {});
    store.setResident(false);
    service::ReadResult result;
    store.read("TopicTest", 0, 0, {.hotOnly = true}, nullptr, result);
    EXPECT_EQ(result.status, ReadStatus::NotResident);
    store.read("TopicTest", 0, 0, {}, nullptr, result);
    EXPECT_EQ(result.status, ReadStatus::Found);
}

}  // namespace
}  // namespace patchbay::testkit
