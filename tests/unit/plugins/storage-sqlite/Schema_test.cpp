// Proved: which files the store takes, which it refuses and with what words; the views keep their promise.
// How: files made by hand and by SQLite itself; queries on a second connection while the store is open.
// Left to others: what the store does with messages (tests/contract/storage_sqlite_test.cpp).
#include "Fixture.h"

#include "Schema.h"

#include "patchbay/protocol/message/Properties.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace patchbay::plugins::sqlite {
namespace {

class SchemaTest : public StoreTest {
protected:
    void expectRefused(StatusCode code, std::string_view words) {
        const Status opened = tryOpen();
        EXPECT_EQ(opened.code(), code) << opened.toString();
        EXPECT_NE(opened.message().find(words), std::string::npos) << opened.message();
        EXPECT_NE(opened.message().find("messages.db"), std::string::npos) << opened.message();
    }
    void loadOlder(const std::string& name) {
        std::ifstream old(PATCHBAY_TEST_DATA "/storage-sqlite/" + name);
        std::stringstream sql;
        sql << old.rdbuf();
        ASSERT_TRUE(tool().execute(sql.str()));
    }
    void appendProperties(std::string_view properties) {
        testkit::TestBatch batch;
        batch.add({}).properties = properties;
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
        ASSERT_EQ(batch.items[0].status, service::AppendStatus::PutOk) << batch.failure.toString();
    }
};

TEST_F(SchemaTest, ANewFileSaysWhatItIs) {
    store();
    EXPECT_EQ(ask("PRAGMA application_id"), std::to_string(kApplicationId));
    EXPECT_EQ(ask("PRAGMA user_version"), std::to_string(kSchemaVersion));
    EXPECT_EQ(ask("PRAGMA journal_mode"), "wal");
    EXPECT_EQ(ask("PRAGMA auto_vacuum"), "2");
}

TEST_F(SchemaTest, ANewerSchemaIsRefusedAndLeftAlone) {
    testkit::appendOne(store(), {});
    close();
    EXPECT_TRUE(tool().execute("PRAGMA user_version = " + std::to_string(kSchemaVersion + 1)));
    expectRefused(StatusCode::Unsupported, "newer version");
    EXPECT_TRUE(tool().execute("PRAGMA user_version = " + std::to_string(kSchemaVersion)));
    EXPECT_EQ(store().range("TopicTest", 0).max, 1);
}

class OlderSchema : public SchemaTest, public testing::WithParamInterface<const char*> {};

TEST_P(OlderSchema, IsBroughtUpToDateWithItsMessages) {
    loadOlder(GetParam());
    const auto all = testkit::readAll(store(), "orders", 0);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].body, "three");
    EXPECT_EQ(store().range("orders", 1).min, 1);
    EXPECT_EQ(store().findByKey({.topic = "orders", .key = "k1", .endMs = clock.wallMs() + 1'000})->hits.size(), 2U);
    EXPECT_EQ(testkit::appendOne(store(), {.topic = "orders"}).queueOffset, 2);
    EXPECT_EQ(ask("PRAGMA user_version"), std::to_string(kSchemaVersion));
    EXPECT_EQ(ask("SELECT count(*) FROM backlog"), GetParam() == std::string_view("version-1.sql") ? "0" : "1");
    EXPECT_EQ(ask("SELECT group_concat(store_host || (properties ->> 'TAGS'), ';') FROM messages WHERE tags = 'paid'"),
              "10.0.0.1:10911paid;10.0.0.1:10911paid;10.0.0.1:10911paid");
    close();
    testkit::TempDir fresh;
    const std::string upgraded = ask("SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master ORDER BY name)");
    settings.directory = fresh.path();
    store();
    auto database = Database::openToRead(fresh.file("messages.db"), std::chrono::milliseconds(0));
    ASSERT_TRUE(database);
    EXPECT_EQ(upgraded, *database->text("SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master ORDER BY name)"));
}

INSTANTIATE_TEST_SUITE_P(Versions, OlderSchema, testing::Values("version-1.sql", "version-2.sql", "version-3.sql"),
                         [](const auto& one) { return "Version" + std::to_string(one.index + 1); });

TEST_F(SchemaTest, AFullDiskLeavesTheOlderSchemaAsItWas) {
    loadOlder("version-3.sql");
    const auto before = ask("SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master ORDER BY name)");
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    faults.failWrites(Status(StatusCode::Full, "no space left on device"));
    EXPECT_EQ(tryOpen().code(), StatusCode::Full);
    faults.clear();
    EXPECT_EQ(ask("PRAGMA user_version"), "3");
    EXPECT_EQ(ask("SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master ORDER BY name)"), before);
    EXPECT_EQ(ask("SELECT count(*) || (properties ->> 'TAGS') FROM messages"), "3paid");
    EXPECT_EQ(testkit::readAll(store(), "orders", 0).size(), 2U);
    EXPECT_EQ(ask("PRAGMA user_version"), std::to_string(kSchemaVersion));
    close();
}

TEST_F(SchemaTest, APowerCutOnTheWayToANewSchemaLeavesOneOrTheOther) {
    int cuts = 0;
    for (std::uint64_t change = 1; change < 200; ++change) {
        SCOPED_TRACE(change);
        const testkit::TempDir before;
        testkit::TempDir left;
        settings.directory = before.path();
        loadOlder("version-3.sql");
        test::PowerDisk disk;
        test::useFaultyVfs(nullptr, &disk);
        bool cut = false;
        disk.beforeChange(change, [&] {
            cut = true;
            disk.leaveTo(left.path(), change);
        });
        ASSERT_TRUE(tryOpen());
        test::useFaultyVfs(nullptr);
        if (!cut) break;
        ++cuts;
        settings.directory = left.path();
        const auto version = ask("PRAGMA user_version");
        ASSERT_TRUE(version == "3" || version == std::to_string(kSchemaVersion)) << version;
        ASSERT_EQ(ask("PRAGMA integrity_check"), "ok");
        ASSERT_EQ(testkit::readAll(store(), "orders", 0).size(), 2U);
        close();
    }
    EXPECT_GT(cuts, 5);
}

TEST_F(SchemaTest, PagesHaveTheSizeThatIsSetAndOldFilesKeepTheirs) {
    settings.pageBytes = 16'384;
    testkit::appendOne(store(), {});
    close();
    settings.pageBytes = 4'096;
    testkit::appendOne(store(), {});
    EXPECT_EQ(ask("PRAGMA page_size"), "16384");
    EXPECT_EQ(testkit::readAll(store(), "TopicTest", 0).size(), 2U);
}

TEST_F(SchemaTest, AnotherProgramsDatabaseIsRefused) {
    EXPECT_TRUE(tool().execute("CREATE TABLE accounts (id INTEGER)"));
    expectRefused(StatusCode::InvalidArgument, "another program");
    EXPECT_EQ(ask("SELECT count(*) FROM sqlite_master"), "1");
}

TEST_F(SchemaTest, AFileThatIsNoDatabaseIsRefused) {
    std::ofstream(path()) << std::string(10'000, 'x');
    expectRefused(StatusCode::Corrupt, "not a database");
}

TEST_F(SchemaTest, AnEmptiedDatabaseBesideItsLogIsRefusedInsteadOfForgotten) {
    const testkit::TempDir seen;
    testkit::appendOne(store(), {});
    std::filesystem::copy(dir.path(), seen.path(), std::filesystem::copy_options::recursive);
    close();
    ASSERT_GT(std::filesystem::file_size(seen.file("messages.db-wal")), 0U);
    std::filesystem::resize_file(seen.file("messages.db"), 0);
    settings.directory = seen.path();
    expectRefused(StatusCode::Corrupt, "backup");
    EXPECT_GT(std::filesystem::file_size(seen.file("messages.db-wal")), 0U);
}

TEST_F(SchemaTest, DamageIsFoundWhenItIsLookedFor) {
    for (int i = 0; i < 300; ++i) testkit::appendOne(store(), {.body = std::string(500, 'b'), .keys = "k" + std::to_string(i)});
    close();
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(settings.pageBytes * 5));
    file << std::string(settings.pageBytes, '\xff');
    file.close();
    settings.checkIntegrity = true;
    EXPECT_EQ(tryOpen().code(), StatusCode::Corrupt);
}

TEST_F(SchemaTest, MessagesCanBeQueriedWhileTheStoreIsOpen) {
    clock.setWallMs(1'700'000'000'123);
    testkit::appendOne(store(), {.topic = "orders", .queueId = 3, .body = "first", .tags = "paid", .keys = "o-1 c-7", .uniqueKey = "U1"});
    testkit::appendOne(store(), {.topic = "orders", .queueId = 3, .body = "second"});
    testkit::appendOne(store(), {.topic = "other"});
    EXPECT_EQ(ask("SELECT group_concat(topic || '|' || queue_id || '|' || queue_offset || '|' || store_time || '|' || coalesce(tags, '-') || '|' || "
                  "coalesce(keys, '-') || '|' || CAST(body AS TEXT), ';') FROM messages WHERE topic = 'orders'"),
              "orders|3|0|1700000000123|paid|o-1 c-7|first;orders|3|1|1700000000123|-|-|second");
    EXPECT_EQ(ask("SELECT store_time_utc FROM messages WHERE topic = 'other'"), "2023-11-14 22:13:20.123");
    EXPECT_EQ(ask("SELECT born_host FROM messages WHERE topic = 'other'"), "10.0.0.7:4711");
    EXPECT_EQ(ask("SELECT properties ->> 'UNIQ_KEY' FROM messages WHERE queue_offset = 0 AND topic = 'orders'"), "U1");
    EXPECT_EQ(ask("SELECT properties FROM messages WHERE queue_offset = 1"), "{}");
    EXPECT_EQ(ask("SELECT min_offset || '-' || max_offset FROM queues WHERE topic = 'orders'"), "0-2");
}

TEST_F(SchemaTest, PropertiesAreValidJsonWhateverTheyContain) {
    testkit::appendOne(store(), {.tags = "a\"b\\c", .keys = "{k}: [1, 2]"});
    EXPECT_EQ(ask("SELECT json_valid(properties) FROM messages"), "1");
    EXPECT_EQ(ask("SELECT properties ->> 'TAGS' FROM messages"), "a\"b\\c");
    EXPECT_EQ(ask("SELECT properties ->> 'KEYS' FROM messages"), "{k}: [1, 2]");
}

TEST_F(SchemaTest, PropertiesAreValidJsonWithEveryByteThatAProducerMaySend) {
    for (int byte = 1; byte < 128; ++byte) {
        if (byte == protocol::kPropertyNameEnd || byte == protocol::kPropertyEnd) continue;
        const std::string odd = "o" + std::string(1, static_cast<char>(byte)) + "d";
        appendProperties("before\x01" "1\x02" + odd + "\x01" + odd + odd + "\x02" "behind\x01" "2\x02");
        const std::string offset = std::to_string(store().range("TopicTest", 0).max - 1);
        SCOPED_TRACE(byte);
        ASSERT_EQ(ask("SELECT json_valid(properties) FROM messages WHERE queue_offset = " + offset), "1");
        ASSERT_EQ(ask("SELECT group_concat(key || '=' || value, '|') FROM (SELECT key, value FROM messages, json_each(properties) WHERE queue_offset = " +
                      offset + " ORDER BY key <> 'before', key = 'behind')"),
                  "before=1|" + odd + "=" + odd + odd + "|behind=2");
    }
    EXPECT_EQ(ask("SELECT count(*) FROM messages WHERE properties ->> 'behind' = '2'"), "125");
}

TEST_F(SchemaTest, WhatIsNoPropertyIsLeftOutOfTheJson) {
    const std::pair<std::string, std::string> all[] = {
        {"", "{}"},
        {"\x02", "{}"},
        {"nothing", "{}"},
        {"nothing\x02" "a\x01" "b\x02", R"({"a":"b"})"},
        {"a\x01" "b\x02\x02" "c\x01" "d", R"({"a":"b","c":"d"})"},
        {"a\x01" "b\x01" "c\x02" "d\x01\\\x02", R"({"a":"b\u0001c","d":"\\"})"},
        {"\x01" "b\x01" "c\x02" "d\x01" "e\x02", R"({"d":"e"})"},
        {"a\x01" "\\u0001s\x02", R"({"a":"\\u0001s"})"},
    };
    for (const auto& [properties, json] : all) {
        appendProperties(properties);
        EXPECT_EQ(ask("SELECT properties FROM messages ORDER BY physical_offset DESC LIMIT 1"), json);
    }
}

TEST_F(SchemaTest, ViewsShowNeitherTrimmedNorDeletedMessages) {
    for (int i = 0; i < 5; ++i) testkit::appendOne(store(), {});
    const auto cut = testkit::appendOne(store(), {}).physicalOffset;
    testkit::appendOne(store(), {.topic = "gone"});
    ASSERT_TRUE(store().trim(cut));
    ASSERT_TRUE(store().deleteTopic("gone"));
    EXPECT_EQ(ask("SELECT group_concat(topic || queue_offset) FROM messages"), "TopicTest5");
    EXPECT_EQ(ask("SELECT group_concat(topic || min_offset || '-' || max_offset) FROM queues"), "TopicTest5-6");
}

}  // namespace
}  // namespace patchbay::plugins::sqlite
