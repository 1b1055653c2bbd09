// Proves checksums, hashes, UTF-8 and the body codecs against known values, limits and damaged streams.
// How: values that Java prints; streams cut, bent and blown up.
// Left to others: compressed bodies inside recorded frames (interop tests read them with Java's clients).
#include "patchbay/protocol/util/Compression.h"
#include "patchbay/protocol/util/Crc32.h"
#include "patchbay/protocol/util/Hash.h"
#include "patchbay/protocol/util/Utf8.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace patchbay::protocol {
namespace {

TEST(Crc32, IsTheOneOfJava) {
    EXPECT_EQ(crc32("123456789"), 0xCBF43926u);
    EXPECT_EQ(maskedCrc32("123456789"), 0x4BF43926);
    EXPECT_EQ(crc32(""), 0u);
    EXPECT_EQ(crc32("6789", crc32("12345")), 0xCBF43926u);
    EXPECT_EQ(crc32("", 77), 77u);
}

TEST(JavaHash, IsTheOneOfJava) {
    EXPECT_EQ(javaHashCode(""), 0);
    EXPECT_EQ(javaHashCode("TagA"), 2598919);
    EXPECT_EQ(javaHashCode("TagB"), 2598920);
    EXPECT_EQ(javaHashCode("polygenelubricants"), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(javaHashCode("\xC3\xA4"), 0xE4) << "one UTF-16 unit";
    EXPECT_EQ(javaHashCode("\xF0\x9F\x98\x80"), 0xD83D * 31 + 0xDE00) << "two UTF-16 units";
    EXPECT_EQ(javaHashCode("a\xFF"), 'a' * 31 + 0xFFFD) << "Java reads a broken byte as U+FFFD";
    EXPECT_EQ(tagsCode(""), 0);
    EXPECT_EQ(tagsCode("polygenelubricants"), std::int64_t{std::numeric_limits<std::int32_t>::min()});
}

TEST(Utf8, CountsUnitsAsJavaDoes) {
    EXPECT_EQ(utf16Length("abc"), 3u);
    EXPECT_EQ(utf16Length("\xE4\xBD\xA0"), 1u);
    EXPECT_EQ(utf16Length("\xF0\x9F\x98\x80"), 2u);
    EXPECT_EQ(utf16Length("\xF0\x9F\x98"), 1u) << "a cut character is one U+FFFD";
    EXPECT_EQ(utf16Length("\xC0\x80"), 2u) << "an overlong form is refused byte by byte";
    EXPECT_EQ(utf16Length("\xED\xA0\x80"), 3u) << "so is a surrogate";
}

TEST(Utf8, WritesWhatItRead) {
    const std::string text = "a\xC3\xA4\xE4\xBD\xA0\xF0\x9F\x98\x80";
    std::string out;
    for (std::string_view rest = text; !rest.empty();)
        appendUtf8(out, nextCodePoint(rest));
    EXPECT_EQ(out, text);
    std::string lone;
    appendUtf8(lone, 0xD800);
    EXPECT_EQ(lone, "?");
}

class CompressionTest : public ::testing::TestWithParam<CompressionType> {};

std::string plainText() {
    std::string text;
    for (int i = 0; i < 40000; ++i)
        text += std::to_string(i * i % 977);
    return text;
}

TEST_P(CompressionTest, GivesBackWhatWentIn) {
    for (const std::string& plain : {std::string(), std::string("x"), plainText()}) {
        const auto packed = compress(GetParam(), plain);
        ASSERT_TRUE(packed.has_value()) << packed.error().toString();
        const auto again = decompress(GetParam(), *packed, plain.size());
        ASSERT_TRUE(again.has_value()) << again.error().toString();
        EXPECT_EQ(*again, plain);
    }
}

TEST_P(CompressionTest, StopsAtTheLimit) {
    const std::string plain(10 << 20, 'a');
    const auto packed = compress(GetParam(), plain);
    ASSERT_TRUE(packed.has_value());
    EXPECT_LT(packed->size(), 100'000u);
    EXPECT_EQ(decompress(GetParam(), *packed, plain.size() - 1).error().code(), StatusCode::OutOfRange);
    EXPECT_EQ(decompress(GetParam(), *packed, 0).error().code(), StatusCode::OutOfRange);
}

TEST_P(CompressionTest, RefusesCutLongerAndOtherStreams) {
    const auto packed = compress(GetParam(), plainText());
    ASSERT_TRUE(packed.has_value());
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, packed->size() / 2, packed->size() - 1}) {
        EXPECT_EQ(decompress(GetParam(), packed->substr(0, size), 1 << 20).error().code(), StatusCode::Corrupt) << size;
    }
    EXPECT_EQ(decompress(GetParam(), *packed + "x", 1 << 20).error().code(), StatusCode::Corrupt);
    EXPECT_EQ(decompress(GetParam(), "this is plain text, not a stream", 1 << 20).error().code(), StatusCode::Corrupt);
}

INSTANTIATE_TEST_SUITE_P(EveryCodec, CompressionTest,
                         ::testing::Values(CompressionType::Lz4, CompressionType::Zstd, CompressionType::Zlib));

TEST(Compression, CodecIsNamedByTheSysFlag) {
    EXPECT_EQ(compressionTypeOf(0x1), CompressionType::Zlib);
    EXPECT_EQ(compressionTypeOf(0x101), CompressionType::Lz4);
    EXPECT_EQ(compressionTypeOf(0x201), CompressionType::Zstd);
    EXPECT_EQ(compressionTypeOf(0x301), CompressionType::Zlib);
    EXPECT_EQ(compressionTypeOf(0x401), std::nullopt);
    EXPECT_EQ(compressionFlag(CompressionType::Zstd), 0x200);
}

}  // namespace
}  // namespace patchbay::protocol
