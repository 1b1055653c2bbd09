// Proves that ByteReader never leaves its range and that ByteWriter keeps what was written while it grows.
// How: every kind of read at the end of short ranges; round trips. Left to others: what is read with them.
#include "patchbay/protocol/util/ByteReader.h"
#include "patchbay/protocol/util/ByteWriter.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace patchbay::protocol {
namespace {

TEST(ByteReaders, ReadBackWhatAWriterWrote) {
    ByteWriter writer;
    writer.u8(200);
    writer.i16(-2);
    writer.i32(INT32_MIN);
    writer.i64(INT64_MAX);
    writer.append("tail");
    writer.i32At(3, 77);
    ByteReader reader(writer.view());
    EXPECT_EQ(reader.u8(), 200);
    EXPECT_EQ(reader.i16(), -2);
    EXPECT_EQ(reader.i32(), 77);
    EXPECT_EQ(reader.i64(), INT64_MAX);
    EXPECT_EQ(reader.bytes(4), "tail");
    EXPECT_EQ(reader.left(), 0U);
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.bytes(0), "");
    EXPECT_TRUE(reader.ok());
}

TEST(ByteReaders, FailForGoodAtTheFirstReadBeyondTheEnd) {
    const std::string bytes = "abc";
    for (const std::int64_t size : {std::int64_t{4}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
        ByteReader reader(bytes);
        EXPECT_EQ(reader.bytes(size), "");
        EXPECT_FALSE(reader.ok());
        EXPECT_EQ(reader.u8(), 0);
        EXPECT_EQ(reader.left(), 0U);
    }
    ByteReader reader(bytes);
    EXPECT_EQ(reader.i32(), 0);
    EXPECT_FALSE(reader.ok());
}

TEST(ByteWriters, KeepTheirBytesWhileTheyGrow) {
    ByteWriter writer;
    std::string expected;
    for (int i = 0; i < 1000; ++i) {
        writer.append(std::to_string(i));
        expected += std::to_string(i);
    }
    EXPECT_EQ(writer.view(), expected);
    const std::size_t capacity = writer.capacity();
    writer.clear();
    EXPECT_EQ(writer.view(), "");
    EXPECT_EQ(writer.capacity(), capacity);
    writer.append("x");
    ByteWriter moved = std::move(writer);
    EXPECT_EQ(moved.view(), "x");
    writer = ByteWriter(10);
    writer.append("y");
    EXPECT_EQ(writer.view(), "y");
}

}  // namespace
}  // namespace patchbay::protocol
