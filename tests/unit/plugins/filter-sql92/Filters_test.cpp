// Proved: expressions compile once for all, are refused in RocketMQ's words, and are written to consumerFilter.json as RocketMQ does,
// through heartbeats, silence, restarts and damage.
// How: the whole plugin on a fake kernel with a manual clock; the bloom positions are those that RocketMQ's classes computed.
// Left to others: what expressions mean (Recorded_test), how pulls use them (pull), the way there with Java's client (interop).
#include "BloomPositions.h"
#include "FilterPlugin.h"

#include "patchbay/protocol/json/Value.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/TempDir.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

namespace patchbay::plugins::filter {
namespace {

using namespace std::chrono_literals;
using protocol::ResponseCode;
using protocol::SubscriptionData;

class FiltersTest : public ::testing::Test {
protected:
    FiltersTest() { context_.brokerIdentity().storeRoot = dir_.path(); }

    [[nodiscard]] Status tryStart() {
        runner_ = std::make_unique<testkit::PluginRunner>(context_);
        runner_->add<FilterPlugin>(settings_);
        return runner_->start();
    }
    void start() {
        const Status started = tryStart();
        ASSERT_TRUE(started) << started.toString();
    }
    void stop() {
        runner_.reset();
        context_.forgetPlugins();
    }
    service::MessageFilter& filters() { return *context_.services().find<service::MessageFilter>(); }

    static SubscriptionData sql(const std::string& topic, const std::string& expression, std::int64_t version) {
        SubscriptionData data;
        data.topic = topic;
        data.subString = expression;
        data.expressionType = "SQL92";
        data.subVersion = version;
        return data;
    }
    void heartbeat(const std::string& group, std::vector<SubscriptionData> subscriptions) { filters().subscribed(group, subscriptions); }

    [[nodiscard]] std::string path() const { return dir_.path() + "/config/consumerFilter.json"; }
    static std::string read(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        return std::move(text).str();
    }
    /// A field of the filter of group G over topic T in the file.
    std::string field(std::string_view name) {
        text_ = read(path());
        auto document = json::Document::parse(text_);
        if (!document) return "no file";
        const auto value = document->root()["filterDataByTopic"]["T"]["groupFilterData"]["G"][name];
        return value.exists() ? *value.text() : "none";
    }

    testkit::TempDir dir_;
    testkit::FakeContext context_;
    testkit::Settings settings_;
    std::unique_ptr<testkit::PluginRunner> runner_;
    std::string text_;
};

TEST_F(FiltersTest, AnExpressionIsCompiledOnce) {
    start();
    const auto first = filters().compile("SQL92", "a > 5");
    const auto second = filters().compile("SQL92", "a > 5");
    ASSERT_EQ(first.code, ResponseCode::Success);
    EXPECT_TRUE(first.filter->matches("a\1" "6\2"));
    EXPECT_FALSE(first.filter->matches("a\1" "5\2"));
    EXPECT_EQ(first.filter.get(), second.filter.get());
}

TEST_F(FiltersTest, RefusesInRocketMqsWords) {
    start();
    const auto other = filters().compile("XPATH", "a > 5");
    EXPECT_EQ(other.code, ResponseCode::SystemError);
    EXPECT_EQ(other.remark, "The broker does not support consumer to filter message by XPATH");
    const auto bad = filters().compile("SQL92", "a >");
    EXPECT_EQ(bad.code, ResponseCode::SubscriptionParseFailed);
    EXPECT_TRUE(bad.remark.starts_with("Invalid MessageSelector. ")) << bad.remark;
    EXPECT_FALSE(bad.filter);
    const auto lengthy = filters().compile("SQL92", "a = '" + std::string(40'000, 'x') + "'");
    EXPECT_EQ(lengthy.code, ResponseCode::SubscriptionParseFailed);
    EXPECT_EQ(context_.metrics().value("filter_expressions_refused_total"), 2U);
}

TEST_F(FiltersTest, SwitchedOffItRefusesAsWithoutThePlugin) {
    settings_["enablePropertyFilter"] = "false";
    start();
    const auto refused = filters().compile("SQL92", "a > 5");
    EXPECT_EQ(refused.code, ResponseCode::SystemError);
    EXPECT_EQ(refused.remark, "The broker does not support consumer to filter message by SQL92");
}

TEST_F(FiltersTest, TheCacheKeepsWhatIsInUse) {
    settings_["filterExpressionsCached"] = "2";
    start();
    const auto used = filters().compile("SQL92", "a = 'used'");
    const auto* program = used.filter.get();
    for (int i = 0; i < 10; ++i) ASSERT_EQ(filters().compile("SQL92", "a = '" + std::to_string(i) + "'").code, ResponseCode::Success);
    EXPECT_EQ(filters().compile("SQL92", "a = 'used'").filter.get(), program);
}

TEST_F(FiltersTest, ManyThreadsMayCompileTheSame) {
    settings_["filterExpressionsCached"] = "3";
    start();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([this] {
            for (int i = 0; i < 500; ++i) {
                const auto verdict = filters().compile("SQL92", "a = '" + std::to_string(i % 5) + "'");
                EXPECT_TRUE(verdict.filter->matches("a\1" + std::to_string(i % 5)));
                filters().subscribed("G", std::vector{sql("T", "a > " + std::to_string(i), i)});
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

TEST_F(FiltersTest, BloomPositionsAreRocketMqs) {
    EXPECT_EQ(bloomPositions("group#topic"), (BloomPositions{79, 21, 21}));
    EXPECT_EQ(bloomPositions("g#t"), (BloomPositions{22, 87, 58}));
    EXPECT_EQ(bloomPositions(""), (BloomPositions{0, 0, 0}));
    EXPECT_EQ(bloomPositions("abcdefghijklmnopqrstuvwxyz#0123456789"), (BloomPositions{75, 51, 77}));
    EXPECT_EQ(bloomPositions("G_sql#Topic\xC3\x84"), (BloomPositions{60, 84, 5}));
}

TEST_F(FiltersTest, TheFileIsAsRocketMqWritesIt) {
    start();
    const auto now = std::to_string(context_.clock().wallMs());
    heartbeat("group", {sql("topic", "a > 5", 7)});
    context_.advance(10s);
    EXPECT_EQ(read(path()),
              "{\n\t\"filterDataByTopic\":{\n\t\t\"topic\":{\n\t\t\t\"groupFilterData\":{\n\t\t\t\t\"group\":{\n"
              "\t\t\t\t\t\"bloomFilterData\":{\n\t\t\t\t\t\t\"bitNum\":112,\n\t\t\t\t\t\t\"bitPos\":[79,21,21]\n\t\t\t\t\t},\n"
              "\t\t\t\t\t\"bornTime\":" + now + ",\n\t\t\t\t\t\"clientVersion\":7,\n\t\t\t\t\t\"consumerGroup\":\"group\",\n"
              "\t\t\t\t\t\"dead\":false,\n\t\t\t\t\t\"deadTime\":0,\n\t\t\t\t\t\"expression\":\"a > 5\",\n"
              "\t\t\t\t\t\"expressionType\":\"SQL92\",\n\t\t\t\t\t\"topic\":\"topic\"\n\t\t\t\t}\n\t\t\t},\n\t\t\t\"topic\":\"topic\"\n"
              "\t\t}\n\t}\n}");
}

TEST_F(FiltersTest, TheNewestVersionCounts) {
    start();
    heartbeat("G", {sql("T", "a > 5", 7)});
    heartbeat("G", {sql("T", "a > 6", 6)});
    heartbeat("G", {sql("T", "a > 8", 7)});
    context_.advance(10s);
    EXPECT_EQ(field("expression"), "a > 5");
    heartbeat("G", {sql("T", "a > 6", 8)});
    context_.advance(10s);
    EXPECT_EQ(field("expression"), "a > 6");
    EXPECT_EQ(field("clientVersion"), "8");
}

TEST_F(FiltersTest, ABadExpressionIsNotRegistered) {
    start();
    heartbeat("G", {sql("T", "a >", 7)});
    context_.advance(10s);
    EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(FiltersTest, ATopicThatIsNoLongerSubscribedIsDeadAndComesBack) {
    start();
    heartbeat("G", {sql("T", "a > 5", 7)});
    SubscriptionData tags;
    tags.topic = "U";
    heartbeat("G", {tags});
    context_.advance(10s);
    EXPECT_EQ(field("dead"), "true");
    heartbeat("G", {sql("T", "a > 5", 7)});
    context_.advance(10s);
    EXPECT_EQ(field("dead"), "false");
    EXPECT_EQ(field("deadTime"), "0");
}

TEST_F(FiltersTest, AGroupThatFallsSilentIsDeadAndForgottenADayLater) {
    start();
    heartbeat("G", {sql("T", "a > 5", 7)});
    const auto seen = std::to_string(context_.clock().wallMs());
    context_.advance(110s);
    EXPECT_EQ(field("dead"), "false");
    context_.advance(20s);
    EXPECT_EQ(field("dead"), "true");
    EXPECT_EQ(field("deadTime"), seen);
    context_.advance(24h);
    EXPECT_EQ(field("expression"), "none");
}

TEST_F(FiltersTest, ARestartKnowsTheFile) {
    start();
    heartbeat("G", {sql("T", "a > 5", 7)});
    stop();
    start();
    heartbeat("G", {sql("T", "a > 6", 6)});
    context_.advance(10s);
    EXPECT_EQ(field("expression"), "a > 5") << "an older version than that of the file";
}

TEST_F(FiltersTest, ADamagedFileIsReplacedByItsBackup) {
    start();
    heartbeat("G", {sql("T", "a > 5", 7)});
    context_.advance(10s);
    heartbeat("G", {sql("T", "a > 6", 8)});
    stop();
    std::ofstream(path(), std::ios::trunc) << "{\"filterDataByTopic\":{\"T\":";
    start();
    heartbeat("G", {sql("T", "a > 9", 6)});
    context_.advance(10s);
    EXPECT_EQ(field("expression"), "a > 5");
}

TEST_F(FiltersTest, WithBothFilesDamagedItDoesNotStartAndKeepsThem) {
    std::filesystem::create_directories(dir_.path() + "/config");
    std::ofstream(path()) << "{";
    std::ofstream(path() + ".bak") << "[]";
    EXPECT_FALSE(tryStart());
    stop();
    EXPECT_EQ(read(path() + ".bak"), "[]");
}

}  // namespace
}  // namespace patchbay::plugins::filter
