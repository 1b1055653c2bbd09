// Proves that batch bodies are taken apart within their bounds and put together as Java does.
// How: hand-made batches, whole and cut at every byte.
// Left to others: batches of Java and Go clients (GoldenRecords_test), arbitrary bytes (tests/fuzz/batch_fuzz.cpp).
#include "patchbay/protocol/message/Batch.h"

#include "patchbay/protocol/util/BigEndian.h"

#include <gtest/gtest.h>

#include <string>

namespace patchbay::protocol {
namespace {

std::string twoEntries() {
    std::string batch;
    appendBatchEntry(batch, {5, "first",
                             "TAGS\x01"
                             "a\x02"});
    appendBatchEntry(batch, {0, "", ""});
    return batch;
}

TEST(Batch, GivesBackItsEntries) {
    const std::string batch = twoEntries();
    ASSERT_EQ(batch.size(), 2 * kBatchEntryFixedBytes + 5 + 7);
    EXPECT_EQ(loadI32(batch.data()), 34) << "the size of the first entry";
    BatchReader reader(batch);
    BatchEntry entry;
    ASSERT_TRUE(reader.next(entry));
    EXPECT_EQ(entry.flag, 5);
    EXPECT_EQ(entry.body, "first");
    EXPECT_EQ(entry.properties,
              "TAGS\x01"
              "a\x02");
    ASSERT_TRUE(reader.next(entry));
    EXPECT_TRUE(entry.body.empty());
    EXPECT_FALSE(reader.next(entry));
    EXPECT_FALSE(reader.failed());
    EXPECT_EQ(countBatch(batch), 2u);
    EXPECT_EQ(countBatch(""), 0u);
}

TEST(Batch, CutAnywhereInsideAnEntryIsRefused) {
    const std::string batch = twoEntries();
    const std::size_t firstBytes = 34;
    for (std::size_t size = 1; size < batch.size(); ++size) {
        const auto count = countBatch(std::string_view(batch).substr(0, size));
        if (size == firstBytes) {
            EXPECT_EQ(count, 1u);
        } else {
            EXPECT_FALSE(count.has_value()) << size;
        }
    }
}

TEST(Batch, NegativeLengthsAreRefused) {
    std::string body = twoEntries();
    storeI32(body.data() + 16, -1);
    EXPECT_FALSE(countBatch(body).has_value());
    std::string properties = twoEntries();
    storeI16(properties.data() + 20 + 5, -1);
    EXPECT_FALSE(countBatch(properties).has_value());
}

TEST(Batch, SizeFieldIsNotBelieved) {
    std::string batch = twoEntries();
    storeI32(batch.data(), 1 << 30);
    EXPECT_EQ(countBatch(batch), 2u);
}

}  // namespace
}  // namespace patchbay::protocol
