// Proves what CommandView accepts beyond the recordings, what it refuses, and that its texts follow a moved header.
// How: hand-written headers in both encodings, one property a test.
// Left to others: recorded frames (wire_golden_test, wire_malformed_test), random ones (fuzz).
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/PackedCommand.h"
#include "patchbay/protocol/util/ByteWriter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace patchbay::protocol {
namespace {

// Keeps the bytes that the view points into.
struct Decoded {
    std::unique_ptr<char[]> bytes;
    CommandView view;
    Status status;
};

Decoded decodeFrame(SerializeType type, std::string_view header, std::string_view body = {}) {
    ByteWriter writer;
    writer.i32(
        static_cast<std::int32_t>(static_cast<std::uint32_t>(type) << 24 | static_cast<std::uint32_t>(header.size())));
    writer.append(header);
    writer.append(body);
    Decoded decoded;
    // Exactly as large as the frame, so that a sanitizer sees a step beyond it; on the heap, so that moving leaves it
    // there.
    decoded.bytes.reset(new char[writer.size()]);
    std::memcpy(decoded.bytes.get(), writer.data(), writer.size());
    decoded.status = CommandView::decode({decoded.bytes.get(), writer.size()}, decoded.view);
    return decoded;
}

Decoded json(std::string_view header) {
    return decodeFrame(SerializeType::Json, header);
}

std::string valueOf(std::string_view header) {
    const Decoded decoded = json(header);
    if (!decoded.status) return decoded.status.message();
    return std::string(decoded.view.find("k").value_or("(absent)"));
}

TEST(JsonHeader, UnescapesWhatJavaUnderstands) {
    EXPECT_EQ(valueOf(R"({"code":1,"extFields":{"k":"a\u0001b\u0002"}})"), std::string("a\x01") + "b\x02");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":"\"\\\/\b\f\n\r\t\v\'"}})"), "\"\\/\b\f\n\r\t\v'");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":"\u00e9\u4F60\uD83D\uDE00"}})"), "\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x98\x80");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":"\x41\7"}})"), "A\x07");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":"x\uD83Dy\uDE00z"}})"), "x?y?z");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":"\uD83D\u0041"}})"), "?A");
    EXPECT_EQ(valueOf(R"({"extFields":{"\u006b":"v"}})"), "v");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":'it\'s "so"'}})"), "it's \"so\"");
}

TEST(JsonHeader, UnescapesRunsOfEveryLengthBetweenEscapes) {
    std::string text;
    std::string expected;
    for (std::size_t length = 0; length < 40; ++length) {
        text += "\\u0002" + std::string(length, static_cast<char>('a' + length % 26));
        expected += '\x02' + std::string(length, static_cast<char>('a' + length % 26));
    }
    EXPECT_EQ(valueOf(R"({"extFields":{"k":")" + text + R"("}})"), expected);
}

TEST(JsonHeader, TurnsAnyValueOfAFieldIntoText) {
    EXPECT_EQ(valueOf(R"({"extFields":{"k":3}})"), "3");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":-1.5e3}})"), "-1.5e3");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":true}})"), "true");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":{"a":[1,"}]"]}}})"), R"({"a":[1,"}]"]})");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":["\""]}})"), R"(["\""])");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":null}})"), "(absent)");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":""}})"), "");
}

TEST(JsonHeader, ToleratesTheLooseFormsThatFastjsonTolerates) {
    for (const char* header : {
             R"({"code":30,"opaque":7,"extFields":{"k":"v"}})",
             R"( { "code" : 30 , "opaque" : 7 , "extFields" : { "k" : "v" } } )",
             R"({code:30,opaque:7,extFields:{k:'v'}})",
             R"({'code':'30','opaque':"7",'extFields':{'k':"v"}})",
             R"({"CODE":30,"o_paque":7,"Ext-Fields":{"k":"v"}})",
             R"({"code":30.0,"opaque":7.9,"extFields":{"k":"v",},})",
             R"({"unknown":{"a":[{}]},"code":30,"opaque":7,"other":false,"extFields":{"k":"v"}})",
             "\n{\"code\":30,\t\"opaque\":7,\r\n\"extFields\":{\"a\":\"b\" , \"k\":\"v\"}}\n",
         }) {
        const Decoded decoded = json(header);
        ASSERT_TRUE(decoded.status) << header << ": " << decoded.status.message();
        EXPECT_EQ(decoded.view.code, 30) << header;
        EXPECT_EQ(decoded.view.opaque, 7) << header;
        EXPECT_EQ(valueOf(header), "v") << header;
    }
}

TEST(JsonHeader, IsRefusedWhenItIsNotOneObjectOfTheRightShape) {
    for (const char* header : {"",
                               " ",
                               "5",
                               "null",
                               "[]",
                               "\"x\"",
                               "{",
                               "{\"code\"",
                               "{\"code\":",
                               "{\"code\":3",
                               "{\"code\":3,",
                               "{\"code\" 3}",
                               "{\"code\":3}x",
                               "{\"code\":3}{}",
                               "{\"code\":x}",
                               "{\"code\":\"x\"}",
                               "{\"code\":{}}",
                               "{\"code\":2147483648}",
                               "{\"opaque\":4294967295}",
                               "{\"opaque\":1e300}",
                               "{\"code\":-}",
                               "{\"extFields\":[]}",
                               "{\"extFields\":\"x\"}",
                               "{\"extFields\":7}",
                               "{\"extFields\":{\"a\":\"b\"",
                               "{\"extFields\":{\"a\":\"b\"x}}",
                               "{\"extFields\":{\"a\":\"b\" \"c\":\"d\"}}",
                               "{\"extFields\":{\"a\":\"b}}",
                               "{\"extFields\":{\"a\":\"\\",
                               "{\"extFields\":{\"a\":\"\\u00",
                               "{\"extFields\":{\"a\":\"\\u00g0\"}}",
                               "{\"extFields\":{\"a\":\"\\q\"}}",
                               "{\"extFields\":{\"a\":[}}}",
                               "{\"extFields\":{\"a\":nul}}",
                               "{\"extFields\":{\"a\":trueish}}",
                               "{\"extFields\":{:\"b\"}}",
                               "{\"remark\":\"\xC3\"}",
                               "{\"remark\":\"\xC0\x80\"}",
                               "{\"remark\":\"\xED\xA0\x80\"}",
                               "{\"remark\":\"\xF4\x90\x80\x80\"}",
                               "{\"remark\":\"\xFF\"}"}) {
        const Decoded decoded = json(header);
        EXPECT_EQ(decoded.status.code(), StatusCode::Corrupt) << header;
    }
}

TEST(JsonHeader, TellsAMissingOpaqueFromZero) {
    EXPECT_FALSE(json("{}").view.hasOpaque);
    EXPECT_FALSE(json(R"({"opaque":null})").view.hasOpaque);
    EXPECT_TRUE(json(R"({"opaque":0})").view.hasOpaque);
    EXPECT_EQ(json(R"({"opaque":-5})").view.opaque, -5);
}

TEST(JsonHeader, TellsAbsentFieldsFromEmptyOnes) {
    EXPECT_FALSE(json("{}").view.hasFields);
    EXPECT_FALSE(json(R"({"extFields":null})").view.hasFields);
    EXPECT_TRUE(json(R"({"extFields":{}})").view.hasFields);
    EXPECT_EQ(json(R"({})").view.remark().data(), nullptr);
    EXPECT_NE(json(R"({"remark":""})").view.remark().data(), nullptr);
}

TEST(JsonHeader, LetsTheLastOfSeveralEqualKeysCount) {
    EXPECT_EQ(valueOf(R"({"extFields":{"k":"1","k":"2"}})"), "2");
    EXPECT_EQ(valueOf(R"({"extFields":{"k":"1"},"extFields":{"j":"2"}})"), "(absent)");
    EXPECT_EQ(valueOf(R"({"extFields":{"K":"1"}})"), "(absent)");
}

TEST(JsonHeader, HoldsManyFieldsAndRefusesTooMany) {
    const auto withFields = [](std::size_t count) {
        std::string header = R"({"extFields":{)";
        for (std::size_t i = 0; i < count; ++i) {
            header += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"v" + std::to_string(i) + '"';
        }
        return json(header + "}}");
    };
    for (const std::size_t count : {31U, 32U, 33U, 1000U, 1024U}) {
        const Decoded decoded = withFields(count);
        ASSERT_TRUE(decoded.status) << count;
        EXPECT_EQ(decoded.view.fieldCount(), count);
        EXPECT_EQ(decoded.view.field(count - 1).value, "v" + std::to_string(count - 1));
        EXPECT_EQ(decoded.view.find("30"), "v30");
    }
    EXPECT_EQ(withFields(1025).status.code(), StatusCode::Corrupt);
}

TEST(JsonHeader, DoesNotFollowNestingWithoutEnd) {
    const std::string deep(100000, '[');
    EXPECT_EQ(json(R"({"x":)" + deep).status.code(), StatusCode::Corrupt);
    EXPECT_EQ(json(R"({"x":)" + deep + std::string(100000, ']') + '}').status.code(), StatusCode::Corrupt);
}

std::string binaryHeader(std::int32_t remarkSize, std::int32_t blockSize, std::string_view rest) {
    ByteWriter writer;
    writer.i16(30);
    writer.u8(9);
    writer.i16(317);
    writer.i32(-7);
    writer.i32(2);
    writer.i32(remarkSize);
    writer.i32(blockSize);
    writer.append(rest);
    return std::string(writer.view());
}

TEST(BinaryHeader, IsReadFieldByField) {
    const std::string field("\x00\x01k\x00\x00\x00\x02vw", 9);
    const Decoded decoded = decodeFrame(SerializeType::Binary, binaryHeader(0, 9, field), "body");
    ASSERT_TRUE(decoded.status) << decoded.status.message();
    EXPECT_EQ(decoded.view.code, 30);
    EXPECT_EQ(decoded.view.language, Language::Go);
    EXPECT_EQ(decoded.view.version, 317);
    EXPECT_EQ(decoded.view.opaque, -7);
    EXPECT_TRUE(decoded.view.isOneway());
    EXPECT_EQ(decoded.view.fieldCount(), 1U);
}

TEST(BinaryHeader, IsRefusedWhenALengthLies) {
    const std::string field("\x00\x01k\x00\x00\x00\x02vw", 9);
    for (const std::int32_t lie : {1, 100, INT32_MAX, -1, INT32_MIN}) {
        EXPECT_EQ(decodeFrame(SerializeType::Binary, binaryHeader(lie, 0, "")).status.code(), StatusCode::Corrupt)
            << lie;
        EXPECT_EQ(decodeFrame(SerializeType::Binary, binaryHeader(0, lie, "")).status.code(), StatusCode::Corrupt)
            << lie;
    }
    for (std::int32_t cut = 1; cut < 9; ++cut) {
        const std::string part = field.substr(0, static_cast<std::size_t>(cut));
        EXPECT_EQ(decodeFrame(SerializeType::Binary, binaryHeader(0, cut, part)).status.code(), StatusCode::Corrupt)
            << cut;
    }
    const std::string negative("\xFF\xFFk\x00\x00\x00\x02vw", 9);
    EXPECT_EQ(decodeFrame(SerializeType::Binary, binaryHeader(0, 9, negative)).status.code(), StatusCode::Corrupt);
}

TEST(Frame, IsRefusedWithoutARightHeaderWord) {
    CommandView view;
    for (std::string bytes :
         {std::string(), std::string("\0\0\0", 3), std::string("\0\0\0\1", 4), std::string("\2\0\0\0", 4),
          std::string("\xFF\0\0\0", 4), std::string("\0\xFF\xFF\xFF{}", 6)}) {
        EXPECT_EQ(CommandView::decode(bytes, view).code(), StatusCode::Corrupt) << bytes.size();
    }
}

TEST(PackedCommands, AreWhatTheyWereButForTheBody) {
    const std::string longText(300, 'x');
    const std::string text = R"({"code":11,"flag":2,"language":"GO","opaque":-7,"version":479,"extFields":{"a":"1","topic":"T","k":"v\u0001",)"
                             R"("subscription":"","ns":null,"k":"twice","long":")" + longText + R"("},"remark":"r"})";
    ByteWriter frame;
    frame.i32(static_cast<std::int32_t>(text.size()));
    frame.append(text);
    frame.append("body");
    CommandView view;
    ASSERT_TRUE(CommandView::decode({frame.data(), frame.size()}, view));
    EXPECT_EQ(view.body, "body");
    const PackedCommand packed(view);
    std::memset(frame.data(), '#', frame.size());
    const auto texts = packed.unpack(view);
    EXPECT_EQ(view.code, 11);
    EXPECT_EQ(view.opaque, -7);
    EXPECT_EQ(view.version, 479);
    EXPECT_TRUE(view.isOneway() && view.hasOpaque && view.hasFields);
    EXPECT_EQ(view.language, Language::Go);
    EXPECT_EQ(view.serializeType, SerializeType::Json);
    EXPECT_TRUE(view.body.empty());
    ASSERT_EQ(view.fieldCount(), 7U);
    EXPECT_EQ(view.field(0).key, "a");
    EXPECT_EQ(view.field(2).value, "v\x01");
    EXPECT_EQ(view.find("topic"), "T");
    EXPECT_EQ(view.find("k"), "twice");
    EXPECT_EQ(view.find("subscription"), "");
    EXPECT_EQ(view.find("ns"), std::nullopt);
    EXPECT_EQ(view.field(4).key, "ns");
    EXPECT_EQ(view.find("long"), longText);
    EXPECT_EQ(view.remark(), "r");
}

TEST(PackedCommands, KeepMoreFieldsThanFitIntoAView) {
    std::string text = R"({"code":1,"extFields":{)";
    for (int i = 0; i < 100; ++i) text += (i == 0 ? "\"f" : ",\"f") + std::to_string(i) + "\":" + std::to_string(i);
    text += "}}";
    ByteWriter frame;
    frame.i32(static_cast<std::int32_t>(text.size()));
    frame.append(text);
    CommandView view;
    ASSERT_TRUE(CommandView::decode({frame.data(), frame.size()}, view));
    CommandView other;
    const auto texts = PackedCommand(view).unpack(other);
    EXPECT_EQ(other.fieldCount(), 100U);
    EXPECT_EQ(other.find("f99"), "99");
    EXPECT_EQ(other.remark().data(), nullptr);
}

TEST(CommandViews, ForgetAnEarlierFrame) {
    const auto frameOf = [](std::string_view header) {
        ByteWriter writer;
        writer.i32(static_cast<std::int32_t>(header.size()));
        writer.append(header);
        return writer;
    };
    ByteWriter first = frameOf(R"({"code":1,"opaque":2,"flag":1,"extFields":{"k":1}})");
    ByteWriter second = frameOf("{}");
    CommandView view;
    ASSERT_TRUE(CommandView::decode({first.data(), first.size()}, view));
    ASSERT_TRUE(CommandView::decode({second.data(), second.size()}, view));
    EXPECT_EQ(view.code, 0);
    EXPECT_EQ(view.fieldCount(), 0U);
    EXPECT_FALSE(view.hasOpaque);
    EXPECT_FALSE(view.isResponse());
}

}  // namespace
}  // namespace patchbay::protocol
