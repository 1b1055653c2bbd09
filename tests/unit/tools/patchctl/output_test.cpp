// Proves: tables are aligned and cannot steer a terminal, JSON is JSON with the keys of the columns, progress stays off pipes.
// How: streams in memory. Left to others: what commands put into tables (e2e).
#include "commands/PluginTemplate.h"
#include "output/Output.h"
#include "output/Text.h"

#include "patchbay/protocol/json/Value.h"

#include <gtest/gtest.h>

#include <sstream>

namespace patchbay::patchctl {
namespace {

Table example() {
    Table table{{{"topic", "TOPIC"}, {"queues", "QUEUES"}, {"rate", "RATE"}, {"size", "SIZE", Show::Bytes}, {"order", "ORDER"}}, {}};
    table.add({std::string("Orders"), std::int64_t{8}, 1.5, std::int64_t{1536}, true});
    table.add({std::string("P"), std::int64_t{128}, Cell(), std::int64_t{3}, false});
    return table;
}

class OutputTest : public ::testing::Test {
protected:
    Output output(bool json, bool terminal = false) { return {out_, err_, json, terminal}; }
    std::ostringstream out_;
    std::ostringstream err_;
};

TEST_F(OutputTest, TablesAreAligned) {
    auto out = output(false);
    out.print(example());
    EXPECT_EQ(out_.str(), "TOPIC   QUEUES  RATE  SIZE  ORDER\n"
                          "Orders       8  1.50  1.5K  yes\n"
                          "P          128  -        3  no\n");
}

TEST_F(OutputTest, JsonHasTheKeysOfTheColumnsAndRawNumbers) {
    auto out = output(true);
    out.print(example());
    EXPECT_EQ(out_.str(), "[{\"topic\":\"Orders\",\"queues\":8,\"rate\":1.5,\"size\":1536,\"order\":true},"
                          "{\"topic\":\"P\",\"queues\":128,\"rate\":null,\"size\":3,\"order\":false}]\n");
    json::ReadOptions strict;
    strict.strict = true;
    EXPECT_TRUE(json::Document::parse(out_.str(), strict));
}

TEST_F(OutputTest, AnEmptyTableIsAnEmptyListOrItsHead) {
    Table table{{{"a", "A"}, {"b", "B"}}, {}};
    output(true).print(table);
    output(false).print(table);
    EXPECT_EQ(out_.str(), "[]\nA  B\n");
}

TEST_F(OutputTest, NamesCannotSteerTheTerminal) {
    Table table{{{"a", "A"}}, {}};
    table.add({std::string("x\033[2Jy\n")});
    output(false).print(table);
    EXPECT_EQ(out_.str(), "A\nx?[2Jy?\n");
}

TEST_F(OutputTest, RecordsAreLinesOrAnObject) {
    Record record;
    record.add("name", std::string("n"));
    record.add("startedMs", std::int64_t{0}, Show::Time);
    output(false).print(record);
    output(true).print(record);
    EXPECT_EQ(out_.str(), "name       n\nstartedMs  -\n{\"name\":\"n\",\"startedMs\":0}\n");
}

TEST_F(OutputTest, ErrorsGoWhereTheReaderLooks) {
    output(false).error({StatusCode::NotFound, "no such topic"});
    EXPECT_EQ(err_.str(), "patchctl: no such topic\n");
    output(true).error({StatusCode::NotFound, "no such topic"});
    EXPECT_EQ(out_.str(), "{\"error\":\"no such topic\",\"kind\":\"NotFound\"}\n");
}

TEST_F(OutputTest, WarningsLeaveJsonAlone) {
    output(true).warn("one is silent");
    EXPECT_EQ(out_.str(), "");
    EXPECT_EQ(err_.str(), "patchctl: one is silent\n");
}

TEST_F(OutputTest, ProgressIsForTerminalsOnly) {
    output(false, false).progress("messages", 1, 2);
    output(true, true).progress("messages", 1, 2);
    EXPECT_EQ(err_.str(), "");
    auto out = output(false, true);
    out.progress("messages", 1, 2);
    EXPECT_NE(err_.str().find("###############               ] 1 of 2 messages"), std::string::npos) << err_.str();
    out.progress("messages", 5, 0);
    out.endProgress();
    EXPECT_TRUE(err_.str().ends_with("\r\033[K"));
}

TEST(Text, JsonOfJavaBecomesJson) {
    const auto document = json::Document::parse(R"({"mqTable":{{"topic":"T","queueId":1}:{"offset":3}},"m":{2:"x"},"l":[1.5,true,null,"q\"u"]})");
    ASSERT_TRUE(document);
    const std::string text = strictJson(document->root());
    json::ReadOptions strict;
    strict.strict = true;
    const auto again = json::Document::parse(text, strict);
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(again->root()["mqTable"][R"({"topic":"T","queueId":1})"]["offset"].integer(), 3) << text;
    EXPECT_EQ(again->root()["m"]["2"].text(), "x");
    EXPECT_NE(text.find(R"("l":[1.5,true,null,"q\"u"])"), std::string::npos) << text;
}

TEST(Text, BytesAreWrittenInBase64) {
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("foo"), "Zm9v");
    EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Text, WhatIsNoUtf8IsSeen) {
    for (const char* text : {"", "abc", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) EXPECT_TRUE(isUtf8(text)) << text;
    for (const char* text : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "a\xc3(", "\xe2\x82"}) {
        EXPECT_FALSE(isUtf8(text)) << base64(text);
    }
}

TEST(PluginTemplate, FillsEveryPlace) {
    const auto files = pluginTemplate("rate-limit", 30'005);
    ASSERT_EQ(files.size(), 6U);
    EXPECT_EQ(files[2].name, "RateLimit.cpp");
    EXPECT_EQ(files[5].name, "rate-limit.conf");
    for (const auto& file : files) EXPECT_EQ(file.content.find('@'), std::string::npos) << file.content;
    EXPECT_NE(files[0].content.find("PATCHBAY_PLUGIN(RateLimit, \"rate-limit\""), std::string::npos);
    EXPECT_NE(files[2].content.find("{\"rateLimitText\""), std::string::npos);
    EXPECT_NE(files[2].content.find("RequestCode>(30005)"), std::string::npos);
}

}  // namespace
}  // namespace patchbay::patchctl
