// Proved: every query of docs/storage-sqlite-schema.md answers what the page says, while the store writes; backlogs and configuration files are
// copied, and forgotten when they go. How: the page's own text, on a read-only connection beside an open store.
// Left to others: the columns' details (Schema_test.cpp).
#include "Fixture.h"

#include "ConfigCopy.h"
#include "SqlitePlugin.h"

#include "patchbay/testkit/PluginRunner.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

namespace patchbay::plugins::sqlite {
namespace {

using testkit::appendOne;
using testkit::TestBatch;

std::vector<std::string> queriesOfThePage() {
    std::ifstream page(PATCHBAY_SOURCE_DIR "/docs/storage-sqlite-schema.md");
    std::vector<std::string> queries;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line == "```sql") {
            queries.emplace_back();
            inside = true;
        } else if (line == "```") {
            inside = false;
        } else if (inside) {
            queries.back() += line + "\n";
        }
    }
    return queries;
}

class QueriesTest : public StoreTest {
protected:
    void append(const testkit::TestMessage& message, std::string_view more = {}, std::int64_t bornBefore = 0, std::int32_t reconsumed = 0) {
        TestBatch batch;
        auto& item = batch.add(message);
        item.brokerProperties = more;
        item.bornTimestamp = clock.wallMs() - bornBefore;
        item.reconsumeTimes = reconsumed;
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
        ASSERT_EQ(batch.items[0].status, service::AppendStatus::PutOk) << batch.failure.toString();
    }
    /// Rows by newline, columns by |.
    std::string rows(const std::string& sql) {
        auto database = Database::openToRead(path(), std::chrono::milliseconds(0));
        EXPECT_TRUE(database);
        auto statement = database->prepare(sql);
        EXPECT_TRUE(statement) << statement.error().toString();
        if (!statement) return {};
        std::string all;
        int code = SQLITE_ROW;
        while ((code = statement->step()) == SQLITE_ROW) {
            for (int column = 0; column < statement->columns(); ++column) all += (column == 0 ? "" : "|") + std::string(statement->bytes(column));
            all += "\n";
        }
        EXPECT_EQ(code, SQLITE_DONE) << sql;
        return all;
    }
};

TEST_F(QueriesTest, TheTenQueriesOfThePageAnswerWhatItSays) {
    clock.setWallMs(1'700'000'000'000);  // 2023-11-14 22:13:20
    append({.topic = "orders", .body = "one", .tags = "paid", .keys = "order-7 c-1"}, "region\x01" "eu\x02", 10);
    append({.topic = "orders", .queueId = 1, .body = "two"}, "region\x01us\x02", 20);
    clock.advance(std::chrono::minutes(1));
    append({.topic = "orders", .body = "three", .keys = "order-7"}, "region\x01" "eu\x02");
    append({.topic = "%DLQ%billing", .body = "dead"}, "RETRY_TOPIC\x01orders\x02", 0, 16);
    ConfigSnapshot snapshot;
    snapshot.allOffsets = true;
    snapshot.offsets = {{"billing", "orders", 0, 1}, {"audit", "orders", 0, 0}, {"audit", "orders", 1, 0}};
    ASSERT_TRUE(store().keepConfig(snapshot));

    const auto queries = queriesOfThePage();
    ASSERT_EQ(queries.size(), 10U);
    EXPECT_EQ(rows(queries[0]), "1|2023-11-14 22:14:20.000||order-7|three\n0|2023-11-14 22:13:20.000|paid|order-7 c-1|one\n");
    EXPECT_EQ(rows(queries[1]), "orders|0|1|2023-11-14 22:14:20.000|three\norders|0|0|2023-11-14 22:13:20.000|one\n");
    EXPECT_EQ(rows(queries[2]), "0|0|eu\n0|1|eu\n");
    EXPECT_EQ(rows(queries[3]), "audit|orders|3\nbilling|orders|1\n");
    EXPECT_EQ(rows(queries[4]), "orders|2|3\n%DLQ%billing|1|1\n");
    const auto bytes = rows(queries[5]);
    EXPECT_EQ(bytes.substr(0, 7), "orders|") << bytes;
    EXPECT_EQ(rows(queries[6]), "orders|2023-11-14 22:13|2\n%DLQ%billing|2023-11-14 22:14|1\norders|2023-11-14 22:14|1\n");
    EXPECT_EQ(rows(queries[7]), "%DLQ%billing|0.0|0\norders|10.0|20\n");
    EXPECT_EQ(rows(queries[8]), "10.0.0.7|orders|3|2023-11-14 22:14:20.000\n10.0.0.7|%DLQ%billing|1|2023-11-14 22:14:20.000\n");
    EXPECT_EQ(rows(queries[9]), "billing|orders|16|2023-11-14 22:14:20.000|dead\n");
}

TEST_F(QueriesTest, LookingForAPlaceOrAKeyReadsNoOtherMessages) {
    append({});
    const auto queries = queriesOfThePage();
    for (const std::size_t query : {0U, 1U}) {
        const auto plan = rows("EXPLAIN QUERY PLAN " + queries.at(query));
        EXPECT_EQ(plan.find("SCAN m"), std::string::npos) << plan;
        EXPECT_EQ(plan.find("SCAN message"), std::string::npos) << plan;
    }
}

TEST_F(QueriesTest, BacklogCountsOnlyWhatIsThere) {
    for (int i = 0; i < 9; ++i) append({.topic = "t"});
    const auto cut = appendOne(store(), {.topic = "t"}).physicalOffset;
    ASSERT_TRUE(store().trim(cut));
    ConfigSnapshot snapshot;
    snapshot.allOffsets = true;
    snapshot.offsets = {{"behind", "t", 0, 2}, {"ahead", "t", 0, 99}, {"elsewhere", "unknown", 0, 5}};
    ASSERT_TRUE(store().keepConfig(snapshot));
    EXPECT_EQ(rows("SELECT group_name, next_offset, min_offset, max_offset, messages FROM backlog ORDER BY 1"), "ahead|99|9|10|0\nbehind|2|9|10|1\n");
    snapshot.offsets.resize(1);
    ASSERT_TRUE(store().keepConfig(snapshot));
    EXPECT_EQ(rows("SELECT group_name FROM backlog"), "behind\n");
}

class ConfigCopyTest : public QueriesTest {
protected:
    void write(const std::string& name, const std::string& text) const { std::ofstream(config.file(name)) << text; }
    testkit::TempDir config;
    ConfigCopy copy{systemFiles(), config.path(), log};
};

TEST_F(ConfigCopyTest, OnlyWhatChangedIsTakenAndWhatWentIsForgotten) {
    write("topics.json", "{}");
    write("topics.json.bak", "{}");
    write("consumerOffset.json", R"({"offsetTable":{"orders@billing":{0:5,3:7},"nobody":{0:1}}})");
    auto found = copy.look();
    EXPECT_TRUE(found.allOffsets);
    ASSERT_EQ(found.files.size(), 2U);
    ASSERT_EQ(found.offsets.size(), 2U);
    EXPECT_EQ(found.offsets[1].group + found.offsets[1].topic + std::to_string(found.offsets[1].queueId) + std::to_string(found.offsets[1].next), "billingorders37");
    ASSERT_TRUE(store().keepConfig(found));
    EXPECT_TRUE(copy.look().empty());
    write("topics.json", "{\"x\":1}");
    std::filesystem::remove(config.file("consumerOffset.json"));
    found = copy.look();
    EXPECT_TRUE(found.offsets.empty() && !found.allOffsets);
    EXPECT_EQ(found.goneFiles, std::vector<std::string>{"consumerOffset.json"});
    ASSERT_TRUE(store().keepConfig(found));
    EXPECT_EQ(rows("SELECT name, saved_time_utc, text FROM config_files"), "topics.json|2023-11-14 22:13:20.000|{\"x\":1}\n");
    copy.forget();
    EXPECT_EQ(copy.look().files.size(), 1U);
    std::filesystem::remove(config.file("topics.json"));
    std::filesystem::remove(config.file("topics.json.bak"));
    EXPECT_TRUE(copy.look().empty()) << "an empty directory was lost, not given up";
}

TEST_F(ConfigCopyTest, OfOffsetsOnlyWhatChangedIsTaken) {
    write("consumerOffset.json", R"({"offsetTable":{"a@g":{0:1,1:1},"b@g":{0:1},"c@g":{0:1}}})");
    ASSERT_TRUE(store().keepConfig(copy.look()));
    write("consumerOffset.json", R"({"offsetTable":{"a@g":{0:1,1:1},"b@g":{0:2},"d@g":{0:1}}})");
    auto found = copy.look();
    EXPECT_FALSE(found.allOffsets);
    EXPECT_EQ(found.offsets.size(), 2U);
    ASSERT_TRUE(store().keepConfig(found));
    EXPECT_EQ(rows("SELECT topic, queue_id, next_offset FROM consumer_offset"), "a|0|1\na|1|1\nb|0|2\nd|0|1\n");
    copy.forget();
    found = copy.look();
    EXPECT_TRUE(found.allOffsets);
    EXPECT_EQ(found.offsets.size(), 4U);
}

TEST_F(ConfigCopyTest, ManyOffsetsAreKeptWhole) {
    ConfigSnapshot many;
    many.allOffsets = true;
    for (int i = 0; i < 12'001; ++i) many.offsets.push_back({"g", "t" + std::to_string(i), 0, i});
    many.files = {{"a.json", "{}"}, {"b.json", "[]"}};
    ASSERT_TRUE(store().keepConfig(many));
    EXPECT_EQ(rows("SELECT count(*), sum(next_offset) FROM consumer_offset"), "12001|72006000\n");
    EXPECT_EQ(rows("SELECT name || text FROM config_files"), "a.json{}\nb.json[]\n");
    many.offsets.resize(1);
    ASSERT_TRUE(store().keepConfig(many));
    EXPECT_EQ(rows("SELECT count(*) FROM consumer_offset"), "1\n");
}

TEST_F(ConfigCopyTest, AFileThatIsTooLargeIsNamedOnceAndItsLastCopyStays) {
    write("topics.json", "{}");
    ASSERT_TRUE(store().keepConfig(copy.look()));
    std::filesystem::resize_file(config.file("topics.json"), ConfigCopy::kFileBytesMax + 1);
    write("small.json", "{}");
    EXPECT_EQ(copy.look().files.size(), 1U);
    EXPECT_TRUE(log.contains("is not copied into the database"));
    EXPECT_TRUE(copy.look().empty());
    EXPECT_EQ(rows("SELECT name FROM config_files"), "topics.json\n");
}

TEST_F(ConfigCopyTest, OnlyWhatIsMissingIsPutBack) {
    const std::map<std::string, std::string> kept = {
        {"topics.json", "t"},         {"topics.json.journal", "tj"}, {"groups.json", "g"},  {"groups.json.journal", "gj"},
        {"backed.json", "b"},         {"here.json", "h"},            {"../outside", "o"},   {"timercheck", std::string("\0\1\2", 3)},
        {"whole.json.journal", "wj"}, {"left.json.tmp", "l"},
    };
    std::vector<std::string> names;
    for (const auto& [name, text] : kept) names.push_back(name);
    const auto textOf = [&](const std::string& name) -> Result<std::string> { return kept.at(name); };
    const auto read = [&](const std::string& name) { return systemFiles().readAll(config.file(name)).value_or("none"); };
    write("groups.json", "newer");
    write("backed.json.bak", "newer");
    write("here.json", "newer");
    const auto written = copy.putBack(names, textOf);
    ASSERT_TRUE(written) << written.error().toString();
    EXPECT_EQ(*written, (std::vector<std::string>{"topics.json.journal", "whole.json.journal", "timercheck", "topics.json"}));
    EXPECT_EQ(read("topics.json") + read("topics.json.journal"), "ttj");
    EXPECT_EQ(read("timercheck"), kept.at("timercheck"));
    EXPECT_EQ(read("groups.json") + read("here.json"), "newernewer");
    EXPECT_EQ(read("groups.json.journal") + read("backed.json"), "nonenone") << "it would continue another file";
    EXPECT_FALSE(std::filesystem::exists(config.file("../outside")));
    // What is there now is the truth; a file whose backup is there is not gone.
    const auto found = copy.look();
    EXPECT_EQ(found.goneFiles, (std::vector<std::string>{"../outside", "groups.json.journal", "left.json.tmp"}));
}

TEST_F(ConfigCopyTest, WhatIsEmptyIsPutBackAndDoesNotReplaceItsCopy) {
    write("topics.json", "t");
    write("runtime.properties", "r");
    ASSERT_TRUE(store().keepConfig(copy.look()));
    for (const char* name : {"topics.json", "topics.json.bak", "topics.json.journal", "backed.json", "runtime.properties"}) write(name, "");
    write("backed.json.bak", "newer");
    const auto found = copy.look();
    ASSERT_EQ(found.files.size(), 2U) << "the journal, and the file that may be empty";
    ASSERT_TRUE(found.goneFiles.empty());
    ASSERT_TRUE(store().keepConfig(found));
    EXPECT_EQ(rows("SELECT text FROM config_files WHERE name = 'topics.json'"), "t\n");
    ConfigCopy next(systemFiles(), config.path(), log);
    const auto written = next.putBack({"backed.json", "runtime.properties", "topics.json"}, [](const std::string& name) -> Result<std::string> { return "kept " + name; });
    ASSERT_TRUE(written) << written.error().toString();
    EXPECT_EQ(*written, std::vector<std::string>{"topics.json"});
    EXPECT_EQ(systemFiles().readAll(config.file("topics.json")).value_or(""), "kept topics.json");
}

TEST_F(ConfigCopyTest, WhatCannotBePutBackIsNamed) {
    ConfigCopy nowhere(systemFiles(), config.file("a-file/config"), log);
    write("a-file", "");
    const auto written = nowhere.putBack({"topics.json"}, [](const std::string&) -> Result<std::string> { return std::string("t"); });
    ASSERT_FALSE(written);
    const auto unreadable = copy.putBack({"topics.json"}, [](const std::string&) -> Result<std::string> { return Status(StatusCode::Corrupt, "a damaged page"); });
    EXPECT_EQ(unreadable.error().code(), StatusCode::Corrupt);
    EXPECT_NE(unreadable.error().message().find(config.file("topics.json")), std::string::npos);
    EXPECT_NE(unreadable.error().message().find("a damaged page"), std::string::npos);
}

TEST(SqlitePluginConfigTest, TheDatabaseKeepsTheConfigurationFilesAndTheLastOffsetsWhenItStops) {
    const testkit::TempDir dir;
    testkit::FakeContext context;
    context.brokerIdentity().storeRoot = dir.path();
    ASSERT_TRUE(systemFiles().makeDirectories(dir.file("config")));
    const auto writeOffset = [&](int offset) {
        std::ofstream(dir.file("config/consumerOffset.json")) << R"({"offsetTable":{"TopicTest@g":{0:)" << offset << "}}}";
    };
    const auto ask = [&] {
        auto database = Database::openToRead(dir.file("sqlite/messages.db"), std::chrono::milliseconds(0));
        return database ? database->text("SELECT group_concat(next_offset || '/' || messages) FROM backlog").value_or("") : "";
    };
    writeOffset(1);
    {
        testkit::PluginRunner runner(context);
        runner.add<SqlitePlugin>({});
        ASSERT_TRUE(runner.start());
        auto* store = context.services().find<service::MessageStore>();
        ASSERT_NE(store, nullptr);
        for (int i = 0; i < 3; ++i) appendOne(*store, {});
        context.advance(std::chrono::milliseconds(1));
        EXPECT_EQ(ask(), "1/2");
        writeOffset(2);
        context.advance(std::chrono::seconds(10));
        EXPECT_EQ(ask(), "2/1");
        writeOffset(3);
    }
    EXPECT_EQ(ask(), "3/0");
}

TEST(SqlitePluginConfigTest, AStartOnACopyOfTheDatabaseAlonePutsTheConfigurationBack) {
    const testkit::TempDir dir;
    testkit::FakeContext context;
    context.brokerIdentity().storeRoot = dir.file("first");
    ASSERT_TRUE(systemFiles().makeDirectories(dir.file("first/config")));
    const std::string topics(5U << 20, ' ');
    std::ofstream(dir.file("first/config/topics.json")) << topics;
    {
        testkit::PluginRunner runner(context);
        runner.add<SqlitePlugin>({});
        ASSERT_TRUE(runner.start());
        context.advance(std::chrono::seconds(10));
    }
    ASSERT_TRUE(systemFiles().makeDirectories(dir.file("second/sqlite")));
    std::filesystem::copy(dir.file("first/sqlite/messages.db"), dir.file("second/sqlite/messages.db"));
    testkit::FakeContext another;
    another.brokerIdentity().storeRoot = dir.file("second");
    for (int start = 0; start < 2; ++start) {
        testkit::PluginRunner runner(another);
        runner.add<SqlitePlugin>({});
        ASSERT_TRUE(runner.start());
        EXPECT_EQ(systemFiles().readAll(dir.file("second/config/topics.json")).value_or(""), topics);
        another.advance(std::chrono::seconds(10));
        std::filesystem::remove_all(dir.file("second/config"));
    }
    EXPECT_TRUE(another.log().contains("put back from the database"));
    // Who keeps no copy wants none.
    std::filesystem::remove_all(dir.file("second/config"));
    testkit::PluginRunner runner(another);
    runner.add<SqlitePlugin>({{"sqliteKeepConfig", "false"}});
    ASSERT_TRUE(runner.start());
    EXPECT_FALSE(std::filesystem::exists(dir.file("second/config")));
}

}  // namespace
}  // namespace patchbay::plugins::sqlite
