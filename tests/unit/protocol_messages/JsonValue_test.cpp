// Proves what the JSON reader accepts of fastjson's dialect, what it refuses, and that its limits hold.
// How: small texts, one trait each; large ones only for the limits.
// Left to others: recorded bodies (GoldenBodies_test), arbitrary text (tests/fuzz/json_body_fuzz.cpp).
#include "patchbay/protocol/json/Value.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace patchbay::json {
namespace {

Document parse(std::string_view text) {
    auto document = Document::parse(text);
    EXPECT_TRUE(document.has_value()) << text << ": " << document.error().toString();
    return document ? std::move(document).value() : Document::parse("null").value();
}

StatusCode refusal(std::string_view text, const ReadOptions& options = {}) {
    return Document::parse(text, options).error().code();
}

ReadOptions strict() {
    ReadOptions options;
    options.strict = true;
    return options;
}

TEST(JsonValue, ReadsEveryType) {
    const std::string text = R"( {"n":null,"t":true,"f":false,"i":-42,"d":2.5e3,"s":"x","a":[1,"2"],"o":{"k":[]}} )";
    const Document document = parse(text);
    const Value root = document.root();
    EXPECT_EQ(root.size(), 8u);
    EXPECT_TRUE(root["n"].exists());
    EXPECT_TRUE(root["n"].isNull());
    EXPECT_EQ(root["t"].boolean(), true);
    EXPECT_EQ(root["f"].boolean(), false);
    EXPECT_EQ(root["i"].integer(), -42);
    EXPECT_EQ(root["d"].number(), 2500.0);
    EXPECT_EQ(root["d"].integer(), 2500);
    EXPECT_EQ(root["s"].string(), "x");
    EXPECT_EQ(root["a"].size(), 2u);
    EXPECT_EQ(root["o"]["k"].size(), 0u);
    EXPECT_FALSE(root["missing"]["deeper"].exists());
}

TEST(JsonValue, ConvertsAsJavaDoes) {
    const Document document = parse(R"({"i":"12","b":"TRUE","z":0,"d":"1.5","bad":"12x","big":9223372036854775807})");
    const Value root = document.root();
    EXPECT_EQ(root["i"].integer(), 12);
    EXPECT_EQ(root["b"].boolean(), true);
    EXPECT_EQ(root["z"].boolean(), false);
    EXPECT_EQ(root["d"].number(), 1.5);
    EXPECT_EQ(root["bad"].integer(), std::nullopt);
    EXPECT_EQ(root["big"].integer(), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(root["z"].text(), "0");
    EXPECT_EQ(root["i"].text(), "12");
}

TEST(JsonValue, IntegersBeyond64BitsAreNotIntegers) {
    EXPECT_EQ(parse("9223372036854775808").root().integer(), std::nullopt);
    EXPECT_EQ(parse("-9223372036854775808").root().integer(), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(parse("1.5").root().integer(), std::nullopt);
}

TEST(JsonValue, KeysMayBeBareNumbersWordsOrWholeObjects) {
    const std::string text = R"({0:"zero",-1:"minus",word:"w",'q':"single",{"brokerName":"b","queueId":1}:9})";
    const Document document = parse(text);
    EXPECT_EQ(document.root()["0"].string(), "zero");
    EXPECT_EQ(document.root()["-1"].string(), "minus");
    EXPECT_EQ(document.root()["word"].string(), "w");
    EXPECT_EQ(document.root()["q"].string(), "single");
    EXPECT_EQ(document.root()[R"({"brokerName":"b","queueId":1})"].integer(), 9);
}

TEST(JsonValue, QuotedObjectKeyIsTheSameKey) {
    const std::string text = R"({"{\"queueId\":1}":9})";
    EXPECT_EQ(parse(text).root()[R"({"queueId":1})"].integer(), 9);
}

TEST(JsonValue, LastOfSeveralMembersCounts) {
    const Document document = parse(R"({"a":1,"b":2,"a":3})");
    EXPECT_EQ(document.root()["a"].integer(), 3);
    EXPECT_EQ(document.root().size(), 3u);
}

TEST(JsonValue, ItemsComeInOrder) {
    const Document document = parse(R"({"b":[1,[2]],"a":{}})");
    std::string seen;
    for (const auto [key, value] : document.root())
        seen += std::string(key) + std::to_string(value.size());
    EXPECT_EQ(seen, "b2a0");
    const Document number = parse("7");
    EXPECT_EQ(number.root().begin(), number.root().end()) << "a number has no items";
    EXPECT_EQ(Value().begin(), Value().end()) << "nothing has no items";
}

TEST(JsonValue, EscapesAreResolved) {
    const Document document = parse(R"(["\"\\\/\b\f\n\r\t","\u00e4\u4f60","\uD83D\ude00","\ud83d!","\'"])");
    std::vector<std::string> seen;
    for (const auto [key, value] : document.root())
        seen.emplace_back(value.string().value_or("none"));
    EXPECT_EQ(seen,
              (std::vector<std::string>{"\"\\/\b\f\n\r\t", "\xC3\xA4\xE4\xBD\xA0", "\xF0\x9F\x98\x80", "?!", "'"}));
}

TEST(JsonValue, ValuesOutliveAMoveOfTheDocument) {
    Document first = parse(R"({"k":"a\nb"})");
    const Value value = first.root()["k"];
    const Document second = std::move(first);
    EXPECT_EQ(value.string(), "a\nb");
    EXPECT_EQ(second.root()["k"].string(), "a\nb");
}

TEST(JsonValue, ReferencesStandForWhatCameBefore) {
    const Document document = parse(R"({"a":[{"x":1},{"y":[5]}],"b":{"$ref":"$.a[1]"},"c":[{"$ref":"$.a[0]"}]})");
    EXPECT_EQ(document.root()["b"]["y"].size(), 1u);
    for (const auto [key, value] : document.root()["c"])
        EXPECT_EQ(value["x"].integer(), 1);
}

TEST(JsonValue, ReferencesThatLeadNowhereForwardOrRoundAreNull) {
    for (const char* text : {R"({"a":{"$ref":"$.b"},"b":1})", R"({"a":{"$ref":"$"}})", R"({"a":{"$ref":"$.a"}})",
                             R"({"a":{"$ref":".."}})", R"({"a":{"$ref":"$.x[9]"}})", R"({"x":[],"a":{"$ref":"$.x[0"}})",
                             R"({"r":{"k":{"$ref":"$"}},"a":{"$ref":"$.r"}})"}) {
        EXPECT_TRUE(parse(text).root()["a"].isNull()) << text;
    }
}

TEST(JsonValue, ReferencesCannotMultiplyWhatAReaderVisits) {
    std::string text = R"({"a":[)";
    for (int i = 0; i < 1000; ++i)
        text += "1,";
    text += R"(1],"b":[)";
    for (int i = 0; i < 1000; ++i)
        text += R"({"$ref":"$.a"},)";
    text += "1]}";
    ReadOptions options;
    options.nodesMax = 10'000;
    EXPECT_EQ(refusal(text, options), StatusCode::OutOfRange);
    options.nodesMax = 2'000'000;
    EXPECT_EQ(refusal(text, options), StatusCode::Ok);
}

TEST(JsonValue, RefusesWhatIsNoJson) {
    for (const char* text :
         {"",          " ",    "{",     "[",       "{\"a\"",    "{\"a\":",     "{\"a\":1", "[1",  "[1 2]",
          "{\"a\" 1}", "{:1}", "\"abc", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "tru",      "nul", "-",
          "1e",        "1 2",  "{} x",  "{,}",     "[,]",       "{{\"a\"}:1}", "+1",       "\\"}) {
        EXPECT_EQ(refusal(text), StatusCode::Corrupt) << text;
    }
}

TEST(JsonValue, StrictModeKeepsToTheStandard) {
    for (const char* text : {"{0:1}", "{a:1}", "{'a':1}", "['a']", "[1,]", "{\"a\":1,}", "{{\"a\":1}:2}", "\"\n\"",
                             "01", "1.", "\"\\'\""}) {
        EXPECT_EQ(refusal(text, strict()), StatusCode::Corrupt) << text;
        EXPECT_EQ(refusal(text), StatusCode::Ok) << text;
    }
    const auto plain = Document::parse(R"({"a":{"$ref":"$"}})", strict());
    EXPECT_EQ(plain->root()["a"]["$ref"].string(), "$");
}

TEST(JsonValue, NestingIsLimited) {
    const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    EXPECT_EQ(refusal(nested(64)), StatusCode::Ok);
    EXPECT_EQ(refusal(nested(65)), StatusCode::OutOfRange);
    EXPECT_EQ(refusal(std::string(1'000'000, '[')), StatusCode::OutOfRange);
    EXPECT_EQ(refusal(std::string(1'000'000, '{')), StatusCode::OutOfRange) << "objects as keys of objects";
}

TEST(JsonValue, SizesAreLimited) {
    ReadOptions options;
    options.bytesMax = 4;
    EXPECT_EQ(refusal("[123]", options), StatusCode::OutOfRange);
    options.bytesMax = 100;
    options.nodesMax = 3;
    EXPECT_EQ(refusal("[1,2,3]", options), StatusCode::OutOfRange);
    EXPECT_EQ(refusal("[1,2]", options), StatusCode::Ok);
    EXPECT_EQ(refusal("1e999"), StatusCode::OutOfRange);
}

}  // namespace
}  // namespace patchbay::json
