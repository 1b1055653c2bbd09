// Proved: a store that is converted is the same store: Java's recorded directories go to SQLite and back and stay what their manifests say;
// batches come apart as consumers see them; queues that begin late or are empty keep their numbers; a copy that differs is noticed, and a
// conversion that fails leaves nothing. How: the recorded archives, and small stores made by the plugins. Left to others: the stores
// themselves (tests/contract), the command line.
#include "Database.h"
#include "MmapStore.h"
#include "SqliteStore.h"
#include "support/Sha256.h"

#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/PropertyNames.h"
#include "patchbay/protocol/message/SysFlag.h"
#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/protocol/util/Compression.h"
#include "patchbay/storetool/StoreConvert.h"
#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/ManualClock.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>

namespace patchbay::storetool {
namespace {

using testkit::appendOne;

std::string outputOf(const std::string& command) {
    std::string output;
    FILE* const pipe = ::popen(command.c_str(), "r");
    std::array<char, 65'536> buffer;
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), got);
    EXPECT_EQ(::pclose(pipe), 0) << command;
    return output;
}

class StoreConvertTest : public testing::Test {
protected:
    void openMmap(const std::string& root, bool keyIndex = false) {
        mmapstore::StoreOptions options;
        options.root = root;
        options.segmentBytes = 1'048'576;
        options.queueFileBytes = 20'000;
        options.keyIndex = keyIndex;
        options.hasBatchQueues = [](std::string_view topic) { return topic == "Batchy"; };
        auto opened = std::make_unique<mmapstore::MmapStore>(systemFiles(), systemClock(), log, options);
        // Whatever the age of the recorded messages and the level of this machine's disk.
        opened->tunables().reservedHours = 0;
        opened->tunables().cleanForcibly = 0;
        const Status status = opened->open();
        ASSERT_TRUE(status) << status.toString();
        store = std::move(opened);
    }
    void openSqlite(const std::string& directory, plugins::sqlite::StoreSettings settings = {}) {
        settings.directory = directory;
        auto opened = std::make_unique<plugins::sqlite::SqliteStore>(settings, systemFiles(), systemClock(), log);
        const Status status = opened->open();
        ASSERT_TRUE(status) << status.toString();
        store = std::move(opened);
    }
    [[nodiscard]] ConvertOptions options(const StorePlace& from, const StorePlace& to) const {
        ConvertOptions result;
        result.from = from;
        result.to = to;
        result.segmentBytes = 1'048'576;
        result.queueFileBytes = 20'000;
        return result;
    }
    ConvertReport convert(const StorePlace& from, const StorePlace& to) {
        const auto report = convertStore(options(from, to));
        EXPECT_TRUE(report) << report.error().toString();
        return report.value_or(ConvertReport());
    }

    testkit::TempDir dir;
    testkit::FakeLogger log;
    std::unique_ptr<service::MessageStore> store;
    const StorePlace mmap{StoreKind::Mmap, dir.path() + "/store", {}};
    const StorePlace sqlite{StoreKind::Sqlite, dir.path() + "/sqlite", {}};
    const StorePlace again{StoreKind::Mmap, dir.path() + "/again", {}};
};

class StoreConvertGolden : public StoreConvertTest, public testing::WithParamInterface<const char*> {
protected:
    StoreConvertGolden() {
        const std::string base = std::string(PATCHBAY_TEST_DATA) + "/golden/store/" + GetParam();
        outputOf("tar -xzf " + base + ".tar.gz -C " + dir.path());
        manifest = outputOf("gzip -dc " + base + ".manifest.json.gz");
    }

    void expectMessage(const json::Value& message, const testkit::StoredMessage& stored, bool samePlaces) {
        EXPECT_EQ(stored.queueOffset, message["queueOffset"].integer());
        EXPECT_EQ(test::sha256(stored.body), message["bodySha256"].string());
        EXPECT_EQ(stored.storeTimestamp, message["storeTimestamp"].integer());
        if (!samePlaces) return;
        EXPECT_EQ(stored.physicalOffset, message["physicalOffset"].integer());
        const auto record = store->at(stored.physicalOffset);
        ASSERT_TRUE(record) << record.error().toString();
        EXPECT_EQ(test::sha256(record->bytes), message["recordSha256"].string());
    }
    void expectBrief(const json::Value& row, const testkit::StoredMessage& stored, bool samePlaces) {
        std::vector<json::Value> cells;
        for (const auto& item : row) cells.push_back(item.value);
        EXPECT_EQ(stored.queueOffset, cells.at(0).integer());
        EXPECT_TRUE(!samePlaces || stored.physicalOffset == cells.at(1).integer());
        EXPECT_EQ(test::sha256(stored.body).substr(0, 16), cells.at(3).string());
    }
    /// What Java tells of a batch is its record: the messages from `index` on, put together again. Returns their number.
    std::size_t expectBatch(const json::Value& batch, const std::vector<testkit::StoredMessage>& stored, std::size_t index, bool samePlaces) {
        const auto messages = static_cast<std::size_t>(std::stoi(std::string(batch["properties"]["INNER_NUM"].text().value_or("1"))));
        EXPECT_EQ(stored.at(index).queueOffset, batch["queueOffset"].integer());
        EXPECT_TRUE(!samePlaces || stored[index].physicalOffset == batch["physicalOffset"].integer());
        std::string body;
        for (std::size_t i = 0; i < messages; ++i) {
            const auto& message = stored.at(index + i);
            EXPECT_EQ(message.queueOffset, stored[index].queueOffset + static_cast<std::int64_t>(i));
            EXPECT_EQ(message.storeTimestamp, batch["storeTimestamp"].integer());
            const auto record = store->at(message.physicalOffset);
            protocol::RecordView view;
            EXPECT_TRUE(record && protocol::RecordView::parse(record->bytes, view) == protocol::RecordStatus::Message);
            EXPECT_EQ(view.sysFlag, 0) << "nothing is left to unwrap";
            protocol::appendBatchEntry(body, {view.flag, view.body, view.properties});
        }
        EXPECT_EQ(test::sha256(body), batch["bodySha256"].string());
        return messages;
    }
    /// Number of messages compared.
    std::int64_t expectTruth(const json::Value& truth, bool samePlaces) {
        std::int64_t read = 0;
        for (const auto& topic : truth["topics"]) {
            const std::string name(topic.key);
            if (name.empty()) continue;
            for (const auto& queue : topic.value) {
                const auto queueId = std::stoi(std::string(queue.key));
                SCOPED_TRACE(name + ":" + std::to_string(queueId));
                const auto range = store->range(name, queueId);
                EXPECT_EQ(range.min, queue.value["min"].integer());
                EXPECT_EQ(range.max, queue.value["max"].integer());
                if (range.max == 0) continue;
                const bool brief = queue.value["messagesBrief"].exists();
                const json::Value messages = queue.value[brief ? "messagesBrief" : "messages"];
                const auto stored = testkit::readAll(*store, name, queueId, range.min);
                EXPECT_EQ(static_cast<std::int64_t>(stored.size()), range.max - range.min);
                std::size_t index = 0;
                for (const auto& item : messages) {
                    if (index == stored.size()) break;
                    if (item.value["properties"]["INNER_NUM"].exists()) {
                        index += expectBatch(item.value, stored, index, samePlaces);
                        continue;
                    }
                    if (brief) {
                        expectBrief(item.value, stored[index], samePlaces);
                    } else {
                        expectMessage(item.value, stored[index], samePlaces);
                    }
                    ++index;
                }
                EXPECT_EQ(index, stored.size());
                read += static_cast<std::int64_t>(stored.size());
            }
        }
        return read;
    }

    std::string manifest;
};

TEST_P(StoreConvertGolden, JavasDirectoryIsTheSameInSqliteAndBack) {
    const auto document = json::Document::parse(manifest);
    ASSERT_TRUE(document) << document.error().toString();
    const json::Value truth = document->root()["truth"];
    const auto there = convert(mmap, sqlite);
    openSqlite(sqlite.directory);
    EXPECT_EQ(expectTruth(truth, true), there.messages);
    EXPECT_GE(std::to_string(store->stats().maxPhysicalOffset), truth["runtime"]["commitLogMaxOffset"].text());
    store.reset();
    const auto back = convert(sqlite, again);
    EXPECT_EQ(back.messages, there.messages);
    EXPECT_EQ(back.digest, there.digest);
    EXPECT_EQ(back.queues, there.queues);
    openMmap(again.directory);
    EXPECT_EQ(expectTruth(truth, false), there.messages);
}

INSTANTIATE_TEST_SUITE_P(Java, StoreConvertGolden,
                         testing::Values("a-simple", "b-killed", "b2-torn", "b3-cut", "c-complex", "d-names", "e-extended"),
                         [](const testing::TestParamInfo<const char*>& param) {
                             std::string name = param.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST_F(StoreConvertTest, QueuesThatBeginLateOrAreEmptyKeepTheirNumbersAcrossFiles) {
    openSqlite(sqlite.directory);
    appendOne(*store, {.topic = "emptied", .body = "gone"});
    for (int i = 0; i < 30; ++i) appendOne(*store, {.topic = "late", .queueId = i % 2, .body = std::to_string(i) + std::string(90'000, 'b'), .tags = "T"});
    const auto range = store->range("late", 0);
    ASSERT_EQ(range.max, 15);
    const auto cut = testkit::readAll(*store, "late", 0, 9, {}).at(0).physicalOffset;
    ASSERT_TRUE(store->trim(cut));
    ASSERT_EQ(store->range("late", 0).min, 9);
    store.reset();

    std::vector<ConvertProgress> seen;
    const auto report = convertStore(options(sqlite, mmap), [&](const ConvertProgress& progress) {
        seen.push_back(progress);
        return true;
    });
    ASSERT_TRUE(report) << report.error().toString();
    EXPECT_EQ(report->messages, 12);
    EXPECT_EQ(report->queues, 3);
    EXPECT_EQ(seen.back().phase, ConvertProgress::Phase::Verify);
    EXPECT_EQ(seen.back().messages, 12);
    EXPECT_EQ(seen.back().messagesTotal, 12);
    EXPECT_FALSE(std::filesystem::exists(mmap.directory + "/.converting"));

    openMmap(mmap.directory);
    EXPECT_EQ(store->range("late", 0).min, 9);
    EXPECT_EQ(store->range("late", 1).max, 15);
    EXPECT_EQ(store->range("emptied", 0).max, 1);
    EXPECT_EQ(testkit::readAll(*store, "late", 0, 9).at(0).body.substr(0, 2), "18");
    EXPECT_EQ(appendOne(*store, {.topic = "emptied"}).queueOffset, 1);
    EXPECT_EQ(appendOne(*store, {.topic = "late"}).queueOffset, 15);
    store.reset();

    const StorePlace second{StoreKind::Sqlite, dir.path() + "/second", {}};
    EXPECT_EQ(convert(mmap, second).messages, 14);
    openSqlite(second.directory);
    EXPECT_EQ(store->range("emptied", 0).min, 1);
    EXPECT_EQ(store->range("emptied", 0).max, 2);
    EXPECT_EQ(store->range("late", 0).min, 9);
    const auto last = appendOne(*store, {.topic = "late"});
    EXPECT_EQ(last.queueOffset, 16);
    EXPECT_GT(last.physicalOffset, 1'048'576);
}

TEST_F(StoreConvertTest, DelayedMessagesAreDueWhenTheLevelsOfTheBrokerSay) {
    openSqlite(sqlite.directory);
    std::int64_t stored = 0;
    {
        testkit::TestBatch batch;
        batch.add({.topic = std::string(protocol::kTopicSchedule)}).properties = "DELAY\x01" "2\x02";
        batch.appendTo(*store);
        ASSERT_TRUE(batch.wait());
        stored = batch.items[0].storeTimestamp;
    }
    store.reset();
    ConvertOptions converting = options(sqlite, mmap);
    converting.delayLevels = *protocol::DelayLevels::parse("1s 7s");
    const auto report = convertStore(converting);
    ASSERT_TRUE(report) << report.error().toString();
    const auto units = systemFiles().readAll(mmap.directory + "/consumequeue/" + std::string(protocol::kTopicSchedule) + "/0/00000000000000000000");
    ASSERT_TRUE(units) << units.error().toString();
    EXPECT_EQ(protocol::loadI64(units->data() + 12), stored + 7000) << "the last field of a unit";
}

TEST_F(StoreConvertTest, OldMessagesOfAFullDiskAreNotRemovedOnTheWay) {
    // Of the year 2001, in several files: a broker would remove all but the last.
    testkit::ManualClock past(1'000'000'000'000);
    plugins::sqlite::StoreSettings settings;
    settings.directory = sqlite.directory;
    auto old = std::make_unique<plugins::sqlite::SqliteStore>(settings, systemFiles(), past, log);
    ASSERT_TRUE(old->open());
    for (int i = 0; i < 40; ++i) appendOne(*old, {.body = std::string(90'000, 'b')});
    old.reset();
    EXPECT_EQ(convert(sqlite, mmap).messages, 40);
    EXPECT_EQ(convert(mmap, {StoreKind::Sqlite, dir.path() + "/second", {}}).messages, 40);
}

TEST_F(StoreConvertTest, WhatFailsOrIsGivenUpLeavesNothing) {
    openSqlite(sqlite.directory);
    appendOne(*store, {.keys = "k"});
    const auto busy = convertStore(options(sqlite, mmap));
    EXPECT_EQ(busy.error().code(), StatusCode::Busy) << busy.error().toString();
    EXPECT_EQ(checkConversion(options(sqlite, mmap)).code(), StatusCode::Busy);
    store.reset();
    EXPECT_EQ(convertStore(options(mmap, again)).error().code(), StatusCode::NotFound);
    EXPECT_EQ(convertStore(options(sqlite, sqlite)).error().code(), StatusCode::AlreadyExists);
    EXPECT_EQ(checkConversion(options(mmap, again)).code(), StatusCode::NotFound);
    EXPECT_EQ(checkConversion(options(sqlite, sqlite)).code(), StatusCode::AlreadyExists);
    EXPECT_TRUE(checkConversion(options(sqlite, mmap)));
    const auto given = convertStore(options(sqlite, mmap), [](const ConvertProgress& p) { return p.phase == ConvertProgress::Phase::Copy; });
    EXPECT_EQ(given.error().code(), StatusCode::Cancelled);
    EXPECT_TRUE(std::filesystem::is_empty(mmap.directory));
    EXPECT_EQ(convert(sqlite, mmap).messages, 1);
    EXPECT_EQ(convertStore(options(sqlite, mmap)).error().code(), StatusCode::AlreadyExists);
}

/// A record with these messages in it, as a broker makes it of a batch. `messages`: what the record says of their number.
void appendBatchRecord(service::MessageStore& store, const std::vector<std::string>& bodies, std::size_t messages, std::int32_t sysFlag) {
    std::string body;
    for (const auto& text : bodies) protocol::appendBatchEntry(body, {7, text, "KEYS\x01of-" + text + "\x02TAGS\x01inner\x02"});
    if ((sysFlag & protocol::kSysFlagCompressed) != 0) body = protocol::compress(protocol::CompressionType::Zlib, body).value();
    testkit::TestBatch batch;
    service::AppendItem& item = batch.add({.topic = "Batchy"});
    std::string properties = "TAGS\x01outer\x02";
    protocol::appendProperty(properties, protocol::kPropertyInnerNum, std::to_string(messages));
    item.body = body;
    item.properties = properties;
    item.sysFlag = sysFlag;
    batch.appendTo(store);
    ASSERT_TRUE(batch.wait());
    ASSERT_EQ(batch.items[0].status, service::AppendStatus::PutOk) << batch.failure.toString();
}

constexpr std::int32_t kUnwrapped = protocol::kSysFlagInnerBatch | protocol::kSysFlagNeedUnwrap;

TEST_F(StoreConvertTest, BatchesComeApartAndTheirTopicMayKeepBatchQueues) {
    openMmap(mmap.directory);
    appendOne(*store, {.topic = "Batchy", .body = "alone"});
    appendBatchRecord(*store, {"a", "b", "c"}, 3, kUnwrapped);
    appendBatchRecord(*store, {"d", "e"}, 2, kUnwrapped | protocol::kSysFlagCompressed | protocol::compressionFlag(protocol::CompressionType::Zlib));
    appendOne(*store, {.topic = "Batchy", .body = "last"});
    const auto first = testkit::readAll(*store, "Batchy", 0).at(1).physicalOffset;
    store.reset();

    const auto there = convert(mmap, sqlite);
    EXPECT_EQ(there.messages, 7);
    EXPECT_TRUE(there.leftOut.empty());
    openSqlite(sqlite.directory);
    const auto stored = testkit::readAll(*store, "Batchy", 0);
    std::string bodies;
    for (const auto& message : stored) bodies += message.body + " ";
    EXPECT_EQ(bodies, "alone a b c d e last ");
    EXPECT_EQ(stored.at(1).physicalOffset, first);
    EXPECT_EQ(stored.at(3).physicalOffset, first + 2);
    EXPECT_EQ(stored.at(3).properties, "KEYS\x01of-c\x02TAGS\x01inner\x02");
    EXPECT_EQ(store->findByKey({.topic = "Batchy", .key = "of-e", .endMs = INT64_MAX})->hits.size(), 1U);
    store.reset();

    auto options = this->options(sqlite, again);
    options.batchTopics = {"Batchy"};
    const auto back = convertStore(options);
    ASSERT_TRUE(back) << back.error().toString();
    EXPECT_EQ(back->digest, there.digest);
    EXPECT_FALSE(std::filesystem::exists(again.directory + "/consumequeue/Batchy"));
    openMmap(again.directory);
    EXPECT_EQ(testkit::readAll(*store, "Batchy", 0).size(), 7U);
    appendBatchRecord(*store, {"f", "g"}, 2, kUnwrapped);
    EXPECT_EQ(store->range("Batchy", 0).max, 9);
    store.reset();
    // A store of the same kind keeps the kind of the queues.
    const StorePlace third{StoreKind::Mmap, dir.path() + "/third", {}};
    EXPECT_EQ(convert(again, third).messages, 9);
    EXPECT_TRUE(std::filesystem::exists(third.directory + "/batchconsumequeue/Batchy"));
}

TEST_F(StoreConvertTest, ATopicThatCannotBeCarriedOverEndsTheConversionUnlessItIsLeftOut) {
    openMmap(mmap.directory);
    appendOne(*store, {.topic = "plain"});
    appendOne(*store, {.topic = "Batchy"});
    appendBatchRecord(*store, {"a", "b"}, 3, kUnwrapped);  // one offset is nobody's
    store.reset();
    auto options = this->options(mmap, sqlite);
    const auto refused = convertStore(options);
    EXPECT_EQ(refused.error().code(), StatusCode::Unsupported) << refused.error().toString();
    EXPECT_NE(refused.error().message().find("topic Batchy, queue 0, offset 1: "), std::string::npos) << refused.error().toString();
    EXPECT_TRUE(std::filesystem::is_empty(sqlite.directory));
    options.leaveOut = {"Batchy"};
    const auto report = convertStore(options);
    ASSERT_TRUE(report) << report.error().toString();
    EXPECT_EQ(report->messages, 1);
    EXPECT_EQ(report->leftOut, std::vector<std::string>{"Batchy/0"});
    openSqlite(sqlite.directory);
    EXPECT_FALSE(store->range("Batchy", 0).exists);
    store.reset();

    // Queues of both kinds: which of them are meant only the topic's attribute knows.
    std::filesystem::create_directories(mmap.directory + "/consumequeue/Batchy/0");
    const StorePlace second{StoreKind::Sqlite, dir.path() + "/second", {}};
    EXPECT_EQ(convertStore(this->options(mmap, second)).error().code(), StatusCode::Corrupt);

    // An empty batch queue has nothing that could hold its next offset.
    const StorePlace third{StoreKind::Sqlite, dir.path() + "/third", {}};
    openSqlite(third.directory);
    appendOne(*store, {.topic = "Batchy"});
    const auto cut = appendOne(*store, {.topic = "plain"}).physicalOffset;
    ASSERT_TRUE(store->trim(cut));
    store.reset();
    options = this->options(third, again);
    options.batchTopics = {"Batchy"};
    EXPECT_EQ(convertStore(options).error().code(), StatusCode::Unsupported);
    options.batchTopics.clear();
    EXPECT_TRUE(convertStore(options));
}

/// Does something to the copy when it is whole and not read yet.
ConvertWatcher between(const std::function<void()>& damage) {
    return [damage, done = false](const ConvertProgress& progress) mutable {
        if (progress.phase == ConvertProgress::Phase::Verify && !std::exchange(done, true)) damage();
        return true;
    };
}

TEST_F(StoreConvertTest, ACopyThatIsNotItsSourceIsRefused) {
    openSqlite(sqlite.directory);
    appendOne(*store, {.topic = "emptied"});
    const auto first = appendOne(*store, {.body = "body 0"});
    for (int i = 1; i < 5; ++i) appendOne(*store, {.body = "body " + std::to_string(i)});
    ASSERT_TRUE(store->trim(first.physicalOffset));
    store.reset();
    const std::string unfinished = "/.converting";
    const auto refuses = [&](const StorePlace& from, const StorePlace& to, const std::string& why, const std::function<void()>& damage) {
        const auto report = convertStore(options(from, to), between(damage));
        ASSERT_FALSE(report) << why;
        EXPECT_EQ(report.error().code(), StatusCode::Corrupt) << report.error().toString();
        EXPECT_NE(report.error().message().find(why), std::string::npos) << report.error().toString();
        EXPECT_TRUE(std::filesystem::is_empty(to.directory)) << why;
    };
    // Byte 19 of a record is the low end of its flag, which no checksum covers; 90 lies in the body.
    const auto inLog = [&](std::streamoff at) {
        return [this, at, unfinished] {
            std::fstream file(mmap.directory + unfinished + "/commitlog/00000000000000000000", std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(at);
            file.put('\x55');
            ASSERT_TRUE(file.good());
        };
    };
    refuses(sqlite, mmap, "but other ones", inLog(19));
    refuses(sqlite, mmap, "5 messages were copied, 0 are there", inLog(90));
    ASSERT_EQ(convert(sqlite, mmap).messages, 5);

    const StorePlace second{StoreKind::Sqlite, dir.path() + "/second", {}};
    const auto inDatabase = [&](const std::string& change) {
        return [&, change] {
            auto opened = plugins::sqlite::Database::open(second.directory + unfinished + "/messages.db", std::chrono::seconds(5));
            ASSERT_TRUE(opened) << opened.error().toString();
            const Status changed = opened->execute(change);
            ASSERT_TRUE(changed) << changed.toString();
        };
    };
    refuses(mmap, second, "but other ones", inDatabase("UPDATE message SET flag = 85 WHERE queue_offset = 3"));
    refuses(mmap, second, "5 messages were copied, 4 are there", inDatabase("DELETE FROM message WHERE queue_offset = 0;"
                                                                           "UPDATE queue SET min_offset = 1 WHERE topic = 'TopicTest'"));
    refuses(mmap, second, "queue 0 has other offsets in the copy", inDatabase("UPDATE queue SET min_offset = 3, next_offset = 3 WHERE topic = 'emptied'"));
    EXPECT_EQ(convert(mmap, second).messages, 5);
}

TEST_F(StoreConvertTest, KeysFindTheirMessagesInBothDirections) {
    openSqlite(sqlite.directory);
    for (int i = 0; i < 40; ++i) {
        appendOne(*store, {.body = std::to_string(i), .keys = "k" + std::to_string(i) + " all", .uniqueKey = "U" + std::to_string(i)});
    }
    store.reset();
    const auto expectKeys = [&] {
        for (const bool unique : {false, true}) {
            const auto hits = store->findByKey({.topic = "TopicTest", .key = unique ? "U7" : "k7", .endMs = INT64_MAX, .uniqueKey = unique});
            ASSERT_TRUE(hits) << hits.error().toString();
            ASSERT_EQ(hits->hits.size(), 1U);
            EXPECT_EQ(testkit::parseRecords(hits->hits[0].record.bytes).at(0).body, "7");
        }
        const auto all = store->findByKey({.topic = "TopicTest", .key = "all", .endMs = INT64_MAX, .messagesMax = 64});
        EXPECT_TRUE(all && all->hits.size() == 40U);
    };
    convert(sqlite, mmap);
    openMmap(mmap.directory, true);
    expectKeys();
    store.reset();
    const StorePlace second{StoreKind::Sqlite, dir.path() + "/second", {}};
    convert(mmap, second);
    openSqlite(second.directory);
    expectKeys();
}

TEST_F(StoreConvertTest, WhatADatabaseHasLostStopsTheConversion) {
    openSqlite(sqlite.directory);
    for (int i = 0; i < 9; ++i) appendOne(*store, {});
    store.reset();
    {
        auto database = plugins::sqlite::Database::open(sqlite.directory + "/messages.db", std::chrono::milliseconds(0));
        ASSERT_TRUE(database);
        ASSERT_TRUE(database->execute("DELETE FROM message WHERE queue_offset IN (3, 4)"));
    }
    const auto report = convertStore(options(sqlite, mmap));
    EXPECT_EQ(report.error().code(), StatusCode::Corrupt);
    EXPECT_NE(report.error().message().find("topic TopicTest, queue 0, offset 0: 2 of the messages"), std::string::npos) << report.error().message();
}

TEST_F(StoreConvertTest, ABackupIsOneMomentOfADatabaseThatIsWritten) {
    openSqlite(sqlite.directory);
    for (int i = 0; i < 400; ++i) appendOne(*store, {.body = std::string(20'000, 'b')});
    const std::string copy = dir.file("copy/messages.db");
    std::filesystem::create_directory(dir.file("copy"));
    std::int64_t steps = 0;
    const auto report = backupSqlite(sqlite.directory + "/messages.db", copy, [&](const BackupProgress& progress) {
        EXPECT_LE(progress.pages, progress.pagesTotal);
        appendOne(*store, {.body = "later"});
        ++steps;
        return true;
    });
    ASSERT_TRUE(report) << report.error().toString();
    EXPECT_GT(steps, 1);
    EXPECT_EQ(report->messages, 400);
    EXPECT_EQ(static_cast<std::uintmax_t>(report->bytes), std::filesystem::file_size(copy));
    EXPECT_EQ(store->range("TopicTest", 0).max, 400 + steps);
    EXPECT_EQ(backupSqlite(sqlite.directory + "/messages.db", copy).error().code(), StatusCode::AlreadyExists);
    EXPECT_EQ(backupSqlite(sqlite.directory + "/messages.db", dir.file("given-up"), [](const BackupProgress&) { return false; }).error().code(),
              StatusCode::Cancelled);
    EXPECT_FALSE(std::filesystem::exists(dir.file("given-up")));
    EXPECT_FALSE(std::filesystem::exists(dir.file("given-up.unfinished")));
    store.reset();
    openSqlite(dir.file("copy"));
    EXPECT_EQ(testkit::readAll(*store, "TopicTest", 0).size(), 400U);
}

TEST_F(StoreConvertTest, ABackupEndsBeforeTheBrokerWouldRefuseMessages) {
    plugins::sqlite::StoreSettings settings;
    settings.walBytesMax = 256 << 10;
    settings.walBytesLimit = 16 << 20;
    openSqlite(sqlite.directory, settings);
    for (int i = 0; i < 2'500; ++i) appendOne(*store, {.body = std::string(20'000, 'b')});
    const std::string database = sqlite.directory + "/messages.db";
    const std::string copy = dir.file("copy.db");
    const auto report = backupSqlite(database, copy, [&](const BackupProgress&) {
        for (int i = 0; i < 50; ++i) EXPECT_EQ(appendOne(*store, {.body = std::string(20'000, 'l')}).status, service::AppendStatus::PutOk);
        return true;
    });
    EXPECT_EQ(report.error().code(), StatusCode::Busy);
    for (const char* word : {"messages.db-wal", "sqliteWalBytesLimit", "16777216"}) EXPECT_NE(report.error().message().find(word), std::string::npos) << report.error().message();
    EXPECT_FALSE(std::filesystem::exists(copy));
    EXPECT_FALSE(std::filesystem::exists(copy + ".unfinished"));
    // With little to write it comes to its end, once the log was begun anew.
    for (int i = 0; i < 50; ++i) appendOne(*store, {.body = std::string(20'000, 'n')});
    const auto second = backupSqlite(database, copy, [&](const BackupProgress&) { return isStored(appendOne(*store, {}).status); });
    EXPECT_TRUE(second) << second.error().toString();
}

/// Counts how often a directory was synced while a name was in it.
class WatchedFiles final : public FileSystem {
public:
    explicit WatchedFiles(std::string of) : name_(std::move(of)) {}
    int syncedWith = 0;

    [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override { return below_.open(path, mode); }
    Status makeDirectories(const std::string& path) override { return below_.makeDirectories(path); }
    [[nodiscard]] Result<std::vector<FileInfo>> list(const std::string& path) const override { return below_.list(path); }
    [[nodiscard]] bool exists(const std::string& path) const noexcept override { return below_.exists(path); }
    Status rename(const std::string& from, const std::string& to) override { return below_.rename(from, to); }
    Status remove(const std::string& path) override { return below_.remove(path); }
    Status syncDirectory(const std::string& path) override {
        if (exists(path + "/" + name_)) ++syncedWith;
        return below_.syncDirectory(path);
    }
    Status syncAll(const std::string& path) override { return below_.syncAll(path); }
    [[nodiscard]] Result<DiskSpace> space(const std::string& path) const override { return below_.space(path); }
    [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path) override { return below_.lock(path); }

private:
    FileSystem& below_ = systemFiles();
    const std::string name_;
};

TEST_F(StoreConvertTest, TheNameOfABackupIsDurable) {
    openSqlite(sqlite.directory);
    appendOne(*store, {});
    WatchedFiles files("copy.db");
    ASSERT_TRUE(backupSqlite(sqlite.directory + "/messages.db", dir.file("copy.db"), {}, files));
    EXPECT_EQ(files.syncedWith, 1);
}

TEST_F(StoreConvertTest, ADirectoryIsNoDatabaseAndTheTextSaysWhatToDo) {
    openSqlite(sqlite.directory);
    store.reset();
    std::filesystem::create_directories(mmap.directory + "/commitlog");
    const std::pair<std::string, std::string> expected[] = {
        {sqlite.directory, "the database is " + sqlite.directory + "/messages.db"},
        {dir.path(), "the database is " + dir.path() + "/sqlite/messages.db"},
        {mmap.directory, "stop the broker and copy the directory"},
        {mmap.directory + "/commitlog", "holds no store"},
    };
    for (const auto& [path, part] : expected) {
        for (const Status& refused : {backupSqlite(path, dir.file("copy.db")).error(), checkSqlite(path).error()}) {
            EXPECT_EQ(refused.code(), StatusCode::InvalidArgument) << refused.toString();
            EXPECT_NE(refused.message().find(part), std::string::npos) << refused.message();
        }
    }
    EXPECT_FALSE(std::filesystem::exists(dir.file("copy.db")));
}

TEST_F(StoreConvertTest, ACheckFindsNothingInASoundDatabaseAndNamesDamage) {
    openSqlite(sqlite.directory);
    for (int i = 0; i < 300; ++i) appendOne(*store, {.body = std::string(500, 'b'), .keys = "k" + std::to_string(i)});
    const std::string path = sqlite.directory + "/messages.db";
    const auto sound = checkSqlite(path);
    ASSERT_TRUE(sound) << sound.error().toString();
    EXPECT_TRUE(sound->empty()) << sound->at(0);
    store.reset();
    FILE* file = std::fopen(path.c_str(), "r+b");
    ASSERT_NE(file, nullptr);
    std::fseek(file, 4096 * 12, SEEK_SET);
    std::fwrite(std::string(4096, '\xff').data(), 1, 4096, file);
    std::fclose(file);
    const auto damaged = checkSqlite(path);
    EXPECT_TRUE(!damaged || !damaged->empty());
    EXPECT_EQ(checkSqlite(dir.file("none")).error().code(), StatusCode::NotFound);
}

}  // namespace
}  // namespace patchbay::storetool
