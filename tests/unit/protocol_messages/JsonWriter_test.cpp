// Proves the three dialects of the JSON writer character by character.
// How: expected texts as fastjson writes them, taken from recorded bodies where there are any.
// Left to others: whole bodies (GoldenBodies_test).
#include "patchbay/protocol/json/Writer.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

namespace patchbay::json {
namespace {

std::string write(Dialect dialect, const std::function<void(Writer&)>& body) {
    std::string out;
    Writer writer(out, dialect);
    body(writer);
    return out;
}

std::string quoted(Dialect dialect, std::string_view text) {
    return write(dialect, [text](Writer& out) { out.string(text); });
}

std::string number(double value) {
    return write(Dialect::Fastjson, [value](Writer& out) { out.number(value); });
}

void writeSample(Writer& out) {
    out.beginObject();
    out.key("addrs");
    out.beginObject();
    out.key(std::int64_t{0});
    out.string("h:1");
    out.key(std::int64_t{1});
    out.string("h:2");
    out.endObject();
    out.key("empty");
    out.beginArray();
    out.endArray();
    out.key("list");
    out.beginArray();
    out.integer(1);
    out.boolean(false);
    out.null();
    out.endArray();
    out.key("none");
    out.beginObject();
    out.endObject();
    out.member("yes", true);
    out.endObject();
}

TEST(JsonWriter, FastjsonHasBareIntegerKeysAndNoBlanks) {
    EXPECT_EQ(write(Dialect::Fastjson, writeSample),
              R"({"addrs":{0:"h:1",1:"h:2"},"empty":[],"list":[1,false,null],"none":{},"yes":true})");
}

TEST(JsonWriter, StrictQuotesKeys) {
    EXPECT_EQ(write(Dialect::Strict, writeSample),
              R"({"addrs":{"0":"h:1","1":"h:2"},"empty":[],"list":[1,false,null],"none":{},"yes":true})");
}

TEST(JsonWriter, PrettyBreaksLinesAsInJavasFiles) {
    EXPECT_EQ(
        write(Dialect::Pretty, writeSample),
        "{\n\t\"addrs\":{0:\"h:1\",1:\"h:2\"\n\t},\n\t\"empty\":[],\n\t\"list\":[1,false,null],\n\t\"none\":{},\n\t"
        "\"yes\":true\n}");
}

TEST(JsonWriter, ObjectKeysAreBareOrQuoted) {
    const auto body = [](Writer& out) {
        out.beginObject();
        out.objectKey(R"({"queueId":1})");
        out.integer(9);
        out.endObject();
    };
    EXPECT_EQ(write(Dialect::Fastjson, body), R"({{"queueId":1}:9})");
    EXPECT_EQ(write(Dialect::Strict, body), R"({"{\"queueId\":1}":9})");
}

TEST(JsonWriter, EscapesWhatMustBeEscaped) {
    EXPECT_EQ(quoted(Dialect::Fastjson, "a\"b\\c/\b\f\n\r\t"), R"("a\"b\\c/\b\f\n\r\t")");
    EXPECT_EQ(quoted(Dialect::Fastjson, std::string_view("\x01\x1F\x7F\0", 4)), R"("\u0001\u001F\u007F\u0000")");
    EXPECT_EQ(quoted(Dialect::Fastjson, "\xC3\xA4\xE4\xBD\xA0\xF0\x9F\x98\x80"),
              "\"\xC3\xA4\xE4\xBD\xA0\xF0\x9F\x98\x80\"");
    EXPECT_EQ(quoted(Dialect::Fastjson, "\xE2\x80\xA8"), R"("\u2028")");
}

TEST(JsonWriter, StrictEscapesSlashesAndEverythingBeyondAscii) {
    EXPECT_EQ(quoted(Dialect::Strict, "a/b"), R"("a\/b")");
    EXPECT_EQ(quoted(Dialect::Strict, "\xC3\xA4\xE4\xBD\xA0\xF0\x9F\x98\x80"), R"("\u00E4\u4F60\uD83D\uDE00")");
}

TEST(JsonWriter, BrokenUtf8IsReplacedSoThatTheTextStaysValid) {
    EXPECT_EQ(quoted(Dialect::Fastjson,
                     "a\xFF"
                     "b"),
              "\"a\xEF\xBF\xBD"
              "b\"");
    EXPECT_EQ(quoted(Dialect::Strict, "\xF0\x9F"), R"("\uFFFD")");
}

TEST(JsonWriter, IntegersThatADoubleCannotHoldAreStringsInStrict) {
    const auto text = [](Dialect dialect, std::int64_t value) {
        return write(dialect, [value](Writer& out) { out.integer(value); });
    };
    EXPECT_EQ(text(Dialect::Strict, 9007199254740991), "9007199254740991");
    EXPECT_EQ(text(Dialect::Strict, 9007199254740992), "\"9007199254740992\"");
    EXPECT_EQ(text(Dialect::Strict, -9007199254740992), "\"-9007199254740992\"");
    EXPECT_EQ(text(Dialect::Fastjson, std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(JsonWriter, DoublesAreThoseOfJava) {
    EXPECT_EQ(number(0), "0.0");
    EXPECT_EQ(number(1), "1.0");
    EXPECT_EQ(number(-2.5), "-2.5");
    EXPECT_EQ(number(0.21649707728945658), "0.21649707728945658");
    EXPECT_EQ(number(9999999), "9999999.0");
    EXPECT_EQ(number(1e7), "1.0E7");
    EXPECT_EQ(number(1.25e10), "1.25E10");
    EXPECT_EQ(number(0.001), "0.001");
    EXPECT_EQ(number(0.00015), "1.5E-4");
    EXPECT_EQ(number(1e100), "1.0E100");
    EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "null");
    EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "null");
}

}  // namespace
}  // namespace patchbay::json
