// Proves how commands are written: fastjson's escapes, order, what is left out, limits, and the list that fields come
// from. How: exact texts for hand-made commands, and decoding what was encoded. Left to others: recorded frames
// (wire_golden_test).
#include "patchbay/protocol/FrameCodec.h"
#include "patchbay/protocol/RemotingCommand.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace patchbay::protocol {
namespace {

std::string headerOf(const CommandHead& head, const FieldList& fields) {
    ByteWriter writer;
    EXPECT_TRUE(encodeFrameHeader(writer, head, fields, SerializeType::Json, 0));
    return std::string(writer.view().substr(8));
}

std::string escaped(std::string_view value) {
    FieldList fields;
    fields.add("k", value);
    const std::string header = headerOf({}, fields);
    const std::size_t start = header.find("\"k\":") + 4;
    return header.substr(start, header.find("},\"flag\"") - start);
}

TEST(EncodedHeaders, HaveJavasOrderAndLeaveOutWhatIsNull) {
    FieldList none;
    EXPECT_EQ(headerOf({}, none),
              R"({"code":0,"flag":0,"language":"JAVA","opaque":0,"serializeTypeCurrentRPC":"JSON","version":479})");
    FieldList fields;
    fields.markPresent();
    CommandHead head;
    head.code = -1006;
    head.opaque = INT32_MIN;
    head.flag = 1;
    head.remark = "";
    head.language = Language::NodeJs;
    head.version = 0;
    EXPECT_EQ(headerOf(head, fields),
              R"({"code":-1006,"extFields":{},"flag":1,"language":"NODE_JS","opaque":-2147483648,"remark":"",)"
              R"("serializeTypeCurrentRPC":"JSON","version":0})");
}

TEST(EncodedHeaders, EscapeAsFastjsonDoes) {
    EXPECT_EQ(escaped("plain"), R"("plain")");
    EXPECT_EQ(escaped(""), R"("")");
    EXPECT_EQ(escaped("a\x01"
                      "b\x02"),
              R"("a\u0001b\u0002")");
    EXPECT_EQ(escaped("\"\\/\b\f\n\r\t"), R"("\"\\/\b\f\n\r\t")");
    EXPECT_EQ(escaped("\x0B\x1F\x7F"), R"("\u000B\u001F\u007F")");
    EXPECT_EQ(escaped("\xC2\x80\xC2\x9F\xC2\xA0"), "\"\\u0080\\u009F\xC2\xA0\"");
    EXPECT_EQ(escaped("\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA"), "\"\\u2028\\u2029\xE2\x80\xAA\"");
    EXPECT_EQ(escaped("\xE4\xBD\xA0\xF0\x9F\x98\x80"), "\"\xE4\xBD\xA0\xF0\x9F\x98\x80\"");
    EXPECT_EQ(escaped("\xC2"), "\"\xC2\"");
}

TEST(EncodedHeaders, EscapeAtEveryPositionOfTextsOfEveryLength) {
    for (std::size_t length = 1; length < 40; ++length) {
        for (std::size_t at = 0; at < length; ++at) {
            std::string text(length, 'x');
            text[at] = '\n';
            std::string expected = '"' + text + '"';
            expected.replace(at + 1, 1, "\\n");
            ASSERT_EQ(escaped(text), expected) << length << ' ' << at;
        }
    }
}

TEST(EncodedFrames, AreReadBackTheSame) {
    RemotingCommand command = RemotingCommand::response(ResponseCode::TopicNotExist, 42);
    command.remark = "no \"topic\"\x01";
    command.body = std::string("\0body", 5);
    for (int i = 0; i < 100; ++i)
        command.set("key" + std::to_string(i), std::string(static_cast<std::size_t>(i), 'v'));
    command.fields.erase(command.fields.begin());  // its value is empty, which a binary header cannot say
    for (const SerializeType type : {SerializeType::Json, SerializeType::Binary}) {
        const Result<std::string> frame = command.encode(type);
        ASSERT_TRUE(frame);
        const Result<RemotingCommand> again = RemotingCommand::decode(*frame);
        ASSERT_TRUE(again) << again.error().toString();
        EXPECT_EQ(again->code, 17);
        EXPECT_EQ(again->opaque, 42);
        EXPECT_TRUE(again->isResponse());
        EXPECT_EQ(again->remark, command.remark);
        EXPECT_EQ(again->fields, command.fields);
        EXPECT_EQ(again->body, command.body);
    }
}

TEST(EncodedFrames, CarryTheLowBitsOfACodeInBinary) {
    const RemotingCommand pop = RemotingCommand::request(RequestCode::PopMessage);
    EXPECT_EQ(RemotingCommand::decode(pop.encode(SerializeType::Json).value()).value().code, 200050);
    EXPECT_EQ(RemotingCommand::decode(pop.encode(SerializeType::Binary).value()).value().code, 3442);
}

TEST(EncodedFrames, NeverExceedTheLimit) {
    FieldList fields;
    ByteWriter writer;
    writer.append("before");
    ASSERT_TRUE(encodeFrameHeader(writer, {}, fields, SerializeType::Json, 0));
    const std::size_t headerBytes = writer.size() - 6;
    writer.cut(6);
    EXPECT_TRUE(encodeFrameHeader(writer, {}, fields, SerializeType::Json, kFrameBytesMax - headerBytes));
    writer.cut(6);
    EXPECT_EQ(encodeFrameHeader(writer, {}, fields, SerializeType::Json, kFrameBytesMax - headerBytes + 1).code(),
              StatusCode::OutOfRange);
    EXPECT_EQ(encodeFrameHeader(writer, {}, fields, SerializeType::Json, SIZE_MAX).code(), StatusCode::OutOfRange);
    const std::string large(5U << 20, '\x01');
    fields.add("k", large);
    EXPECT_EQ(encodeFrameHeader(writer, {}, fields, SerializeType::Json, 0).code(), StatusCode::OutOfRange);
    EXPECT_EQ(writer.view(), "before");
    FieldList longKey;
    longKey.add(std::string(32768, 'k'), "v");
    EXPECT_EQ(encodeFrameHeader(writer, {}, longKey, SerializeType::Binary, 0).code(), StatusCode::OutOfRange);
    EXPECT_TRUE(encodeFrameHeader(writer, {}, longKey, SerializeType::Json, 0));
}

TEST(RemotingCommands, AreRefusedWhenTheLengthIsNotTheFrames) {
    std::string frame = RemotingCommand::request(RequestCode::HeartBeat).encode(SerializeType::Json).value();
    EXPECT_TRUE(RemotingCommand::decode(frame));
    EXPECT_FALSE(RemotingCommand::decode(frame + 'x'));
    EXPECT_FALSE(RemotingCommand::decode(frame.substr(0, frame.size() - 1)));
    EXPECT_FALSE(RemotingCommand::decode("\x01"));
    EXPECT_TRUE(RemotingCommand::decodeAfterLength(std::string_view(frame).substr(4)));
}

TEST(RemotingCommands, ReplaceAFieldThatIsSetTwice) {
    RemotingCommand command;
    command.set("a", "1");
    command.set("b", "2");
    command.set("a", "3");
    EXPECT_EQ(command.fields.size(), 2U);
    EXPECT_EQ(command.find("a"), "3");
    EXPECT_EQ(command.find("c"), std::nullopt);
}

std::string listed(const FieldList& list) {
    std::string text;
    list.forEach(
        [&](std::string_view key, std::string_view value) { text.append(key).append("=").append(value).append(";"); });
    return text;
}

TEST(FieldLists, KeepOrderInsideAndBeyondTheirOwnBytes) {
    FieldList list;
    EXPECT_FALSE(list.present());
    std::string expected;
    for (int i = 0; i < 50; ++i) {
        list.add("key" + std::to_string(i), std::int64_t{i});
        expected += "key" + std::to_string(i) + '=' + std::to_string(i) + ';';
        ASSERT_EQ(listed(list), expected);
        const FieldList copy = list;
        ASSERT_EQ(listed(copy), expected);
        FieldList moved = list;
        const FieldList target = std::move(moved);
        ASSERT_EQ(listed(target), expected);
    }
    EXPECT_TRUE(list.present());
    EXPECT_EQ(list.count(), 50U);
    EXPECT_TRUE(list.contains("key49"));
    list.clear();
    EXPECT_EQ(listed(list), "");
    EXPECT_FALSE(list.present());
    list.add("t", true);
    list.add("n", INT64_MIN);
    EXPECT_EQ(listed(list), "t=true;n=-9223372036854775808;");
}

}  // namespace
}  // namespace patchbay::protocol
