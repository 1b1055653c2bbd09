// Proves that every recorded frame is read as its peer meant it, and written again to the very same bytes.
// How: decodes each frame, compares every member with the recording's header text, encodes it again.
// Left to others: bodies (message tests), the meaning of fields (wire_headers_test), bad frames (wire_malformed_test).
#include "GoldenFrames.h"

#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/RemotingCommand.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <map>
#include <string>

namespace patchbay::protocol {
namespace {

using golden::Frame;

std::string textOf(const rapidjson::Value& value) {
    if (value.IsString()) return {value.GetString(), value.GetStringLength()};
    if (value.IsInt64()) return std::to_string(value.GetInt64());
    return value.IsTrue() ? "true" : "false";
}

std::map<std::string, std::string> fieldsOf(const rapidjson::Value& header) {
    std::map<std::string, std::string> fields;
    if (!header.HasMember("extFields")) return fields;
    for (const auto& member : header["extFields"].GetObject()) {
        if (!member.value.IsNull()) fields[member.name.GetString()] = textOf(member.value);
    }
    return fields;
}

std::int32_t numberOf(const rapidjson::Value& header, const char* key) {
    return header.HasMember(key) ? header[key].GetInt() : 0;
}

void expectSameHead(const Frame& frame, const rapidjson::Value& header, const CommandView& view) {
    EXPECT_EQ(view.code, numberOf(header, "code")) << frame.where;
    EXPECT_EQ(view.opaque, numberOf(header, "opaque")) << frame.where;
    EXPECT_EQ(view.flag, numberOf(header, "flag")) << frame.where;
    EXPECT_EQ(view.version, numberOf(header, "version")) << frame.where;
    EXPECT_TRUE(view.hasOpaque) << frame.where;
    EXPECT_EQ(view.isResponse(), frame.response) << frame.where;
    EXPECT_EQ(view.serializeType, frame.binary ? SerializeType::Binary : SerializeType::Json) << frame.where;
    const rapidjson::Value& language = header["language"];
    const Language expected = language.IsInt() ? languageOf(language.GetInt64()) : languageOf(language.GetString());
    EXPECT_EQ(view.language, expected) << frame.where;
}

void expectSameTexts(const Frame& frame, const rapidjson::Value& header, const CommandView& view) {
    const bool hasRemark = header.HasMember("remark") && header["remark"].IsString();
    EXPECT_EQ(view.remark().data() != nullptr, hasRemark) << frame.where;
    if (hasRemark) {
        EXPECT_EQ(view.remark(), textOf(header["remark"])) << frame.where;
    }
    std::map<std::string, std::string> fields;
    for (std::size_t i = 0; i < view.fieldCount(); ++i)
        fields.emplace(view.field(i).key, view.field(i).value);
    EXPECT_EQ(fields, fieldsOf(header)) << frame.where;
    if (!frame.binary) {
        EXPECT_EQ(view.hasFields, header.HasMember("extFields")) << frame.where;
    }
}

TEST(RecordedFrames, AreDecodedMemberByMember) {
    int frames = 0;
    golden::forEachFrame([&](const Frame& frame) {
        std::string bytes = frame.bytes.substr(4);
        CommandView view;
        const Status decoded = CommandView::decode(bytes, view);
        ASSERT_TRUE(decoded) << frame.where << ": " << decoded.toString();
        rapidjson::Document header;
        header.Parse(frame.header.data(), frame.header.size());
        ASSERT_TRUE(header.IsObject()) << frame.where;
        expectSameHead(frame, header, view);
        expectSameTexts(frame, header, view);
        const std::size_t headerSize = view.header().size();
        EXPECT_EQ(view.body, std::string_view(frame.bytes).substr(8 + headerSize)) << frame.where;
        ++frames;
    });
    EXPECT_GT(frames, 4000);
}

// Java writes the members in alphabetical order; Go and hand-made frames have an order of their own.
bool inJavasOrder(const std::string& header) {
    std::size_t last = 0;
    for (const char* key : {"\"code\":", "\"extFields\":", "\"flag\":", "\"language\":", "\"opaque\":",
                            "\"serializeTypeCurrentRPC\":", "\"version\":"}) {
        const std::size_t at = header.find(key);
        if (at == std::string::npos) {
            if (std::string_view(key) == "\"extFields\":") continue;
            return false;
        }
        if (at < last) return false;
        last = at;
    }
    return true;
}

TEST(RecordedFrames, AreEncodedToTheSameBytes) {
    int compared = 0;
    int binary = 0;
    int otherOrder = 0;
    golden::forEachFrame([&](const Frame& frame) {
        const Result<RemotingCommand> command = RemotingCommand::decode(frame.bytes);
        ASSERT_TRUE(command) << frame.where;
        const Result<std::string> encoded = command->encode(frame.binary ? SerializeType::Binary : SerializeType::Json);
        ASSERT_TRUE(encoded) << frame.where;
        if (!frame.binary && !inJavasOrder(frame.header)) {
            const Result<RemotingCommand> again = RemotingCommand::decode(*encoded);
            ASSERT_TRUE(again) << frame.where;
            EXPECT_EQ(again->fields, command->fields) << frame.where;
            EXPECT_EQ(again->body, command->body) << frame.where;
            ++otherOrder;
            return;
        }
        EXPECT_EQ(*encoded, frame.bytes) << frame.where;
        (frame.binary ? binary : compared) += 1;
    });
    EXPECT_GT(compared, 3500);
    EXPECT_GT(binary, 400);
    EXPECT_GT(otherOrder, 50);
}

}  // namespace
}  // namespace patchbay::protocol
