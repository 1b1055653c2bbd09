// Proved: offsets are committed, answered, persisted, clamped and reset by RocketMQ's rules, and cost nothing when idle.
// How: the plugin above the real topics plugin and a store in memory, with a temporary directory and a manual clock.
// Left to others: commits that pulls carry (pull), resets by administrators (admin).
#include "../Allocations.h"
#include "../PickyStore.h"
#include "../Recorded.h"

#include "OffsetsPlugin.h"
#include "TopicsPlugin.h"

#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/FaultyFiles.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace patchbay::plugins::consumer_offsets {
namespace {

using namespace std::chrono_literals;
using protocol::RequestCode;
using protocol::ResponseCode;
using testkit::Fields;

std::string recordedFile(const std::string& fixture) {
    return recorded::readText(std::string(PATCHBAY_TEST_DATA) + "/config/" + fixture + "/consumerOffset.json");
}

/// Has topics RwT and T, and groups RwG and G.
struct OffsetsBench {
    explicit OffsetsBench(testkit::Settings with = {}, bool withStore = true) : settings(std::move(with)) {
        context.brokerIdentity().storeRoot = directory.path();
        std::filesystem::create_directories(directory.path() + "/config");
        if (withStore) context.provide<service::MessageStore>(picky);
    }
    ~OffsetsBench() { stop(); }

    Status tryStart() {
        runner = std::make_unique<testkit::PluginRunner>(context);
        runner->add<topics::TopicsPlugin>();
        runner->add<OffsetsPlugin>(settings);
        if (Status started = runner->start(); !started) return started;
        for (const char* name : {"RwT", "T"}) {
            if (auto made = topics().createIfMissing(name, 4, 6, 0); !made) return made.error();
        }
        service::GroupFacts facts;
        for (const char* name : {"RwG", "G"}) EXPECT_TRUE(groups().findOrCreate(name, facts));
        return Status::ok();
    }
    void start() {
        const Status started = tryStart();
        ASSERT_TRUE(started) << started.toString();
    }
    void stop() {
        runner.reset();
        context.forgetPlugins();
    }
    void restart() {
        stop();
        start();
    }

    [[nodiscard]] service::ConsumerOffsets& offsets() { return recorded::provided<service::ConsumerOffsets>(context); }
    [[nodiscard]] service::TopicConfigs& topics() { return recorded::provided<service::TopicConfigs>(context); }
    [[nodiscard]] service::SubscriptionGroups& groups() { return recorded::provided<service::SubscriptionGroups>(context); }
    testkit::CallResult query(const std::string& group, const std::string& topic, int queue, const std::string& zero = "") {
        Fields fields{{"consumerGroup", group}, {"topic", topic}, {"queueId", std::to_string(queue)}};
        if (!zero.empty()) fields.emplace_back("setZeroIfNotFound", zero);
        return context.call(RequestCode::QueryConsumerOffset, fields);
    }
    testkit::CallResult commit(std::int64_t offset, const std::string& queue = "0", const std::string& topic = "T",
                               const std::string& group = "G") {
        return context.call(RequestCode::UpdateConsumerOffset, Fields{{"consumerGroup", group}, {"topic", topic}, {"queueId", queue},
                                                                      {"commitOffset", std::to_string(offset)}});
    }
    void append(const std::string& topic, int messages) {
        for (int i = 0; i < messages; ++i) {
            testkit::TestMessage message;
            message.topic = topic;
            ASSERT_EQ(testkit::appendOne(store, message).status, service::AppendStatus::PutOk);
        }
    }
    [[nodiscard]] std::string path() const { return directory.path() + "/config/consumerOffset.json"; }
    [[nodiscard]] std::string read() const { return recorded::readText(path()); }

    testkit::TempDir directory;
    testkit::FaultyFiles files{systemFiles()};
    testkit::FakeContext context{files};
    PickyStore picky{context.clock()};
    testkit::MemoryStore& store = picky.below;
    testkit::Settings settings;
    std::unique_ptr<testkit::PluginRunner> runner;
};

TEST(Offsets, RequestsAreAnsweredAsRecorded) {
    OffsetsBench bench;
    bench.start();
    bench.append("RwT", 18);
    std::size_t replayed = 0;
    for (const auto& pair : recorded::pairs("raw-offsets")) {
        if (pair.request.code != 14 && pair.request.code != 15) continue;
        recorded::expectSameAnswer(bench.context, pair);
        ++replayed;
    }
    EXPECT_EQ(replayed, 10U);
    EXPECT_EQ(bench.offsets().query("RwG", "RwT", 9), 1) << "a queue the topic does not have is accepted, as in RocketMQ";
}

TEST(Offsets, AFreshGroupStartsAtZeroOnlyWhileTheFirstMessageIsInMemory) {
    OffsetsBench bench;
    bench.start();
    EXPECT_EQ(bench.query("G", "T", 0).code(), ResponseCode::QueryNotFound) << "nothing in the queue";
    bench.append("T", 3);
    auto young = bench.query("G", "T", 0);
    EXPECT_EQ(young.code(), ResponseCode::Success);
    EXPECT_EQ(young.field("offset"), "0");
    EXPECT_EQ(bench.query("G", "T", 1).code(), ResponseCode::QueryNotFound) << "another queue";
    EXPECT_EQ(bench.query("G", "T", 0, "true").field("offset"), "0");
    auto refused = bench.query("G", "T", 0, "false");
    EXPECT_EQ(refused.code(), ResponseCode::QueryNotFound);
    EXPECT_EQ(refused.remark(), "Not found, do not set to zero, maybe this group boot first");

    bench.store.setResident(false);
    auto history = bench.query("G", "T", 0);
    EXPECT_EQ(history.code(), ResponseCode::QueryNotFound);
    EXPECT_EQ(history.remark(), "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first");
    bench.store.setResident(true);

    ASSERT_TRUE(bench.store.trim(bench.store.stats().maxPhysicalOffset));
    EXPECT_EQ(bench.query("G", "T", 0).code(), ResponseCode::QueryNotFound) << "offset 0 was deleted";
    EXPECT_EQ(bench.commit(2).code(), ResponseCode::Success);
    EXPECT_EQ(bench.query("G", "T", 0).field("offset"), "2") << "what is committed needs no rule";
    EXPECT_EQ(bench.query("G", "T", 0, "false").field("offset"), "2");
}

TEST(Offsets, AFreshGroupOfAQueueThatWasNotLookedAtIsAnsweredOnTheExecutor) {
    OffsetsBench bench;
    bench.start();
    bench.append("T", 3);
    bench.store.setLoaded(false);
    auto early = bench.query("G", "T", 0);
    bench.context.pump();
    ASSERT_TRUE(early.answered());
    EXPECT_EQ(early.rounds(), 2);
    ASSERT_NE(bench.context.binding(RequestCode::QueryConsumerOffset), nullptr);
    EXPECT_EQ(bench.context.binding(RequestCode::QueryConsumerOffset)->executor.name, "consumer-offsets");
    bench.store.setLoaded(true);
    auto later = bench.query("G", "T", 0);
    EXPECT_EQ(later.rounds(), 1);
    EXPECT_EQ(later.field("offset"), "0");
}

TEST(Offsets, WithoutAStoreAFreshGroupIsNotFound) {
    OffsetsBench bench({}, false);
    bench.start();
    EXPECT_EQ(bench.query("G", "T", 0).code(), ResponseCode::QueryNotFound);
    EXPECT_EQ(bench.commit(5).code(), ResponseCode::Success);
    EXPECT_EQ(bench.query("G", "T", 0).field("offset"), "5");
}

TEST(Offsets, ACommitNeedsAGroupATopicAndBothNumbers) {
    OffsetsBench bench;
    bench.start();
    EXPECT_EQ(bench.commit(1, "0", "T", "NoG").code(), ResponseCode::SubscriptionGroupNotExist);
    EXPECT_EQ(bench.commit(1, "0", "NoT").code(), ResponseCode::TopicNotExist);
    const Fields both{{"consumerGroup", "G"}, {"topic", "T"}};
    auto queue = both;
    queue.emplace_back("queueId", "0");
    auto offset = both;
    offset.emplace_back("commitOffset", "1");
    EXPECT_EQ(bench.context.call(RequestCode::UpdateConsumerOffset, queue).code(), ResponseCode::InvalidParameter);
    EXPECT_EQ(bench.context.call(RequestCode::UpdateConsumerOffset, offset).code(), ResponseCode::InvalidParameter);
    EXPECT_EQ(bench.commit(1, "-1").code(), ResponseCode::InvalidParameter);
    EXPECT_EQ(bench.commit(1, "2147483647").code(), ResponseCode::InvalidParameter);
    EXPECT_EQ(bench.commit(1, "abc").code(), ResponseCode::SystemError);
    service::GroupFacts facts;
    EXPECT_FALSE(bench.groups().find("NoG", facts)) << "asking creates nothing";
    EXPECT_TRUE(bench.offsets().topicsOf("G").empty());
}

TEST(Offsets, AMoveBackwardsIsDoneCountedAndLogged) {
    OffsetsBench bench;
    bench.start();
    bench.commit(10);
    EXPECT_EQ(bench.context.metrics().value("consumer_offset_moved_back_total"), 0U);
    bench.commit(10);
    bench.commit(4);
    EXPECT_EQ(bench.offsets().query("G", "T", 0), 4);
    EXPECT_EQ(bench.context.metrics().value("consumer_offset_moved_back_total"), 1U);
    EXPECT_TRUE(bench.context.log().contains("a consumer offset moved back"));
    bench.offsets().commit("a pull", "G", "T", 0, 3);
    EXPECT_EQ(bench.context.metrics().value("consumer_offset_moved_back_total"), 2U);
}

TEST(Offsets, AMoveBackwardsByACloneOrABroadcastingClientIsCountedAndLoggedToo) {
    OffsetsBench bench;
    bench.start();
    bench.commit(5, "0", "T", "G");
    bench.commit(9, "0", "T", "RwG");
    bench.offsets().clone("G", "RwG", "T");
    EXPECT_EQ(bench.offsets().query("RwG", "T", 0), 5);
    EXPECT_EQ(bench.context.metrics().value("consumer_offset_moved_back_total"), 1U);
    EXPECT_TRUE(bench.context.log().contains("a clone of G"));

    bench.offsets().noteBroadcast({"G", "T", "a", 0, 8, false}, 8);
    bench.context.advance(5s);
    EXPECT_EQ(bench.context.metrics().value("consumer_offset_moved_back_total"), 1U);
    bench.offsets().noteBroadcast({"G", "T", "b", 0, 2, false}, 2);
    bench.context.advance(5s);
    EXPECT_EQ(bench.offsets().query("G@broadcast", "T", 0), 2);
    EXPECT_EQ(bench.context.metrics().value("consumer_offset_moved_back_total"), 2U);
    bench.context.advance(5s);
    EXPECT_EQ(bench.context.metrics().value("consumer_offset_moved_back_total"), 2U) << "once";
}

TEST(Offsets, ChangesArePersistedEveryFiveSecondsAfterTheFirstTen) {
    OffsetsBench bench;
    bench.start();
    bench.commit(1);
    bench.context.advance(9999ms);
    EXPECT_FALSE(std::filesystem::exists(bench.path()));
    bench.context.advance(1ms);
    EXPECT_NE(bench.read().find("\"T@G\":{0:1"), std::string::npos) << bench.read();
    bench.commit(2);
    bench.context.advance(4999ms);
    EXPECT_NE(bench.read().find("\"T@G\":{0:1"), std::string::npos);
    bench.context.advance(1ms);
    EXPECT_NE(bench.read().find("\"T@G\":{0:2"), std::string::npos);
    EXPECT_NE(recorded::readText(bench.path() + ".bak").find("\"T@G\":{0:1"), std::string::npos);
}

TEST(Offsets, ThePeriodsAreKeys) {
    OffsetsBench bench({{"flushConsumerOffsetInterval", "1s"}, {"flushConsumerOffsetInitialDelay", "2s"}});
    bench.start();
    bench.commit(1);
    bench.context.advance(2s);
    EXPECT_TRUE(std::filesystem::exists(bench.path()));
    bench.commit(2);
    bench.context.advance(1s);
    EXPECT_NE(bench.read().find("0:2"), std::string::npos);
}

TEST(Offsets, NothingIsWrittenWhenNothingChanged) {
    OffsetsBench bench;
    bench.start();
    bench.commit(1);
    bench.context.advance(10min);
    const std::uint64_t syncs = bench.files.syncs();
    bench.commit(1);
    bench.context.advance(10min);
    EXPECT_EQ(bench.files.syncs(), syncs) << "the same offset again is no change";
    bench.offsets().notePull("G", "T", 0, {.nextOffset = 77, .outcome = service::PullOutcome::Held});
    bench.context.advance(10min);
    EXPECT_EQ(bench.files.syncs(), syncs) << "pull offsets are not kept";
    EXPECT_EQ(bench.offsets().queryPull("G", "T", 0), 77);
}

TEST(Offsets, OffsetsSurviveAStopAndAFailedWriteIsRepeated) {
    OffsetsBench bench;
    bench.start();
    bench.append("T", 50);
    bench.commit(42);
    bench.restart();
    EXPECT_EQ(bench.offsets().query("G", "T", 0), 42);
    bench.commit(43);
    bench.files.failWrites({StatusCode::Full, "no space left"});
    bench.context.advance(30s);
    EXPECT_TRUE(bench.context.log().contains("cannot be written"));
    bench.files.clear();
    bench.context.advance(5s);
    EXPECT_NE(bench.read().find("0:43"), std::string::npos);
}

TEST(Offsets, AFileOfRocketMqIsReadAndWrittenBackLineByLine) {
    const auto normalized = [](const std::string& text) {
        std::vector<std::string> lines;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with("\t\"checksum\":")) continue;  // ours alone
            if (!line.empty() && line.back() == ',') line.pop_back();
            lines.push_back(line);
        }
        std::sort(lines.begin(), lines.end());
        return lines;
    };
    for (const char* fixture : {"a-simple", "c-complex", "d-names"}) {
        SCOPED_TRACE(fixture);
        OffsetsBench bench({}, false);
        recorded::writeText(bench.path(), recordedFile(fixture));
        bench.start();
        bench.commit(1);
        bench.offsets().removeGroup("G");
        bench.stop();
        EXPECT_EQ(normalized(bench.read()), normalized(recordedFile(fixture)));
    }
}

TEST(Offsets, KeysThatAreNoTopicAndGroupAreKept) {
    OffsetsBench bench({}, false);
    recorded::writeText(bench.path(), R"({"dataVersion":{"counter":3,"stateVersion":0,"timestamp":9},"groupTopicMap":{},)"
                                      R"("offsetTable":{"strange":{0:5},"T@G@broadcast":{"1":6}}})");
    bench.start();
    EXPECT_EQ(bench.offsets().query("G@broadcast", "T", 1), 6) << "quoted numbers are numbers too";
    bench.commit(1);
    bench.restart();
    const auto file = protocol::ConsumerOffsets::fromJson(bench.read());
    ASSERT_TRUE(file);
    EXPECT_EQ(file->offsetTable.at("strange"), (OffsetTable::Queues{{0, 5}}));
    EXPECT_EQ(file->offsetTable.at("T@G@broadcast"), (OffsetTable::Queues{{1, 6}}));
    EXPECT_EQ(file->dataVersion.counter, 3);
}

TEST(Offsets, ADamagedFileIsReplacedByItsBackup) {
    for (const std::string& damage : {std::string(), std::string(300, '\0'), std::string("{\"offsetTable\":{\"T@G\":{0:"), std::string("junk")}) {
        SCOPED_TRACE(damage);
        OffsetsBench bench({}, false);
        bench.start();
        bench.commit(7);
        bench.context.advance(10s);
        bench.commit(8);
        bench.stop();
        recorded::writeText(bench.path(), damage);
        bench.start();
        EXPECT_EQ(bench.offsets().query("G", "T", 0), 7);
        EXPECT_TRUE(bench.context.log().contains("their backup is used"));
    }
}

TEST(Offsets, AnEmptyFileWithoutABackupIsSaidToHaveLostEverything) {
    OffsetsBench bench({}, false);
    recorded::writeText(bench.path(), "");
    bench.start();
    EXPECT_EQ(bench.context.log().count("consumer offsets damaged, starting without"), 1U);
    EXPECT_TRUE(bench.context.log().contains(bench.path() + " is empty and there is no backup beside it"));
}

TEST(Offsets, AnOffsetThatIsAnotherNumberThanWasWrittenIsDamageAndAFileWithoutChecksumIsTaken) {
    OffsetsBench bench({}, false);
    bench.start();
    bench.commit(7);
    bench.context.advance(10s);
    bench.commit(800);
    bench.stop();
    std::string text = bench.read();
    const auto digit = text.find("0:800");
    ASSERT_NE(digit, std::string::npos);
    text[digit + 2] = '9';
    recorded::writeText(bench.path(), text);
    bench.start();
    EXPECT_EQ(bench.offsets().query("G", "T", 0), 7) << "900 would have skipped a hundred messages";
    EXPECT_TRUE(bench.context.log().contains("checksum"));
    bench.stop();

    const auto line = text.find("\"checksum\"");
    text.erase(line, text.find('\n', line) - line);
    recorded::writeText(bench.path(), text);
    bench.start();
    EXPECT_EQ(bench.offsets().query("G", "T", 0), 900) << "an operator who takes the line out means it";
}

TEST(Offsets, ACommitOfAConsumerDoesNotUndoAResetThatWaits) {
    OffsetsBench bench;
    bench.start();
    bench.commit(10);
    bench.offsets().assignReset("G", "T", 0, 4);
    EXPECT_EQ(bench.context.metrics().value("consumer_offset_moved_back_total"), 1U) << "a reset is a move like others";
    EXPECT_FALSE(bench.offsets().commitFrom(*bench.context.peer(), "G", "T", 0, 11)) << "with a pull";
    EXPECT_EQ(bench.commit(12).remark(), "Offset has been previously reset");
    EXPECT_EQ(bench.offsets().query("G", "T", 0), 4);
    EXPECT_EQ(bench.offsets().progress("G", "T").front().reset, 4);
    EXPECT_EQ(bench.offsets().takeReset("G", "T", 0), 4);
    EXPECT_TRUE(bench.offsets().commitFrom(*bench.context.peer(), "G", "T", 0, 5));
    EXPECT_EQ(bench.offsets().query("G", "T", 0), 5);
}

TEST(Offsets, ProgressSaysWhoPulledWhenAndWithWhatSuccess) {
    OffsetsBench bench;
    bench.start();
    const auto begin = bench.context.clock().now();
    bench.offsets().notePull("G", "T", 1, {.nextOffset = 3, .peer = 9, .delivered = 3, .outcome = service::PullOutcome::Delivered});
    bench.context.advance(2s);
    bench.offsets().notePull("G", "T", 1, {.nextOffset = 8, .peer = 5, .filtered = 5, .outcome = service::PullOutcome::Filtered});
    bench.commit(2, "1");
    const auto progress = bench.offsets().progress("G", "T");
    ASSERT_EQ(progress.size(), 1U);
    EXPECT_EQ(progress[0].queueId, 1);
    EXPECT_EQ(progress[0].committed, 2);
    EXPECT_EQ(progress[0].pull.peer, 5U);
    EXPECT_EQ(progress[0].pull.nextOffset, 8);
    EXPECT_EQ(progress[0].pull.delivered, 3);
    EXPECT_EQ(progress[0].pull.filtered, 5);
    EXPECT_EQ(progress[0].pull.outcome, service::PullOutcome::Filtered);
    EXPECT_EQ(progress[0].pulledAt - begin, 2s);
    EXPECT_EQ(progress[0].committedAt - begin, 2s);
    EXPECT_TRUE(bench.offsets().progress("G", "RwT").empty());
}

TEST(Offsets, TheLowestOffsetOfBroadcastingClientsIsTheirGroups) {
    OffsetsBench bench;
    bench.start();
    const auto pull = [](std::string_view client, std::int64_t asked, bool viaProxy = false) {
        return service::BroadcastPull{"G", "T", client, 0, asked, viaProxy};
    };
    bench.offsets().noteBroadcast(pull("a", 5), 5);
    bench.offsets().noteBroadcast(pull("b", 9), 9);
    bench.offsets().noteBroadcast(pull("b", 8), 8);
    bench.context.advance(5s);
    EXPECT_EQ(bench.offsets().query("G@broadcast", "T", 0), 5);

    // The same client through a proxy goes on where it was; one that stays on its way is believed.
    EXPECT_EQ(bench.offsets().broadcastStart(pull("b", 20)), -1);
    EXPECT_EQ(bench.offsets().broadcastStart(pull("b", 0, true)), 9) << "it never goes back";
    EXPECT_EQ(bench.offsets().broadcastStart(pull("new", -1, true)), 5) << "a new one begins at the lowest";
    EXPECT_EQ(bench.offsets().broadcastStart(pull("new", 3, true)), -1);

    bench.context.advance(60s);
    bench.offsets().noteBroadcast(pull("b", 12), 12);
    bench.context.advance(65s);
    EXPECT_EQ(bench.offsets().query("G@broadcast", "T", 0), 12) << "a is gone for two minutes";
    bench.restart();
    EXPECT_EQ(bench.offsets().query("G@broadcast", "T", 0), 0) << "clamped: the queue is empty; but it was kept";
}

TEST(Offsets, BroadcastOffsetsCanBeSwitchedOff) {
    OffsetsBench bench(testkit::Settings{{"enableBroadcastOffsetStore", "false"}});
    bench.start();
    bench.offsets().noteBroadcast({"G", "T", "a", 0, 5, false}, 5);
    bench.context.advance(10s);
    EXPECT_EQ(bench.offsets().query("G@broadcast", "T", 0), -1);
    EXPECT_EQ(bench.offsets().broadcastStart({"G", "T", "a", 0, -1, true}), -1);
}

TEST(Offsets, TwoDamagedFilesStopTheStartAndStayAsTheyAre) {
    OffsetsBench bench;
    recorded::writeText(bench.path(), "junk");
    recorded::writeText(bench.path() + ".bak", "more junk");
    const Status started = bench.tryStart();
    ASSERT_FALSE(started);
    EXPECT_NE(started.message().find("consumerOffset.json"), std::string::npos);
    bench.stop();
    EXPECT_EQ(bench.read(), "junk");
}

TEST(Offsets, OffsetsAheadOfTheStoreArePulledBackAtStart) {
    OffsetsBench bench;
    bench.start();
    bench.append("T", 3);
    bench.commit(3);
    bench.commit(9, "1");
    bench.offsets().commit("x", "G", "Elsewhere", 0, 100);
    bench.restart();
    EXPECT_EQ(bench.offsets().query("G", "T", 0), 3);
    EXPECT_EQ(bench.offsets().query("G", "T", 1), 0) << "the queue is empty: its next message has offset 0";
    EXPECT_EQ(bench.offsets().query("G", "Elsewhere", 0), 100) << "not a topic of this broker";
    EXPECT_TRUE(bench.context.log().contains("ahead of the store"));
    bench.context.advance(10s);
    EXPECT_NE(bench.read().find("1:0"), std::string::npos);
}

TEST(Offsets, OffsetsOfAQueueThatTheStoreCannotReadStay) {
    OffsetsBench bench;
    bench.start();
    bench.append("T", 3);
    bench.commit(3);
    bench.picky.unreadableTopic = "T";
    bench.restart();
    EXPECT_EQ(bench.offsets().query("G", "T", 0), 3);
}

TEST(Offsets, AWaitingResetIsAnsweredAndCommitsAreIgnoredUntilItIsTaken) {
    OffsetsBench bench;
    bench.start();
    bench.commit(50);
    EXPECT_FALSE(bench.offsets().takeReset("G", "T", 0));
    bench.offsets().assignReset("G", "T", 0, 20);
    bench.offsets().assignReset("G", "T", 1, -1);
    EXPECT_EQ(bench.query("G", "T", 0).field("offset"), "20");
    auto late = bench.commit(51);
    EXPECT_EQ(late.code(), ResponseCode::Success);
    EXPECT_EQ(late.remark(), "Offset has been previously reset");
    EXPECT_EQ(bench.offsets().query("G", "T", 0), 20);
    EXPECT_EQ(bench.offsets().takeReset("G", "T", 0), 20);
    EXPECT_FALSE(bench.offsets().takeReset("G", "T", 0));
    EXPECT_FALSE(bench.offsets().takeReset("G", "T", 1)) << "negative offsets reset nothing";
    EXPECT_EQ(bench.commit(21).remark(), "");
    EXPECT_EQ(bench.offsets().query("G", "T", 0), 21);

    bench.offsets().assignReset("G", "T", 0, 5);
    bench.offsets().removeGroup("G");
    EXPECT_FALSE(bench.offsets().takeReset("G", "T", 0));
}

TEST(Offsets, WithoutServerSideResetCommitsAreNeverIgnored) {
    OffsetsBench bench(testkit::Settings{{"useServerSideResetOffset", "false"}});
    bench.start();
    bench.offsets().assignReset("G", "T", 0, 20);
    EXPECT_EQ(bench.commit(51).remark(), "");
    EXPECT_EQ(bench.query("G", "T", 0).field("offset"), "51");
}

TEST(Offsets, TheVersionGrowsOnceInManyCommits) {
    OffsetsBench bench(testkit::Settings{{"consumerOffsetUpdateVersionStep", "3"}});
    bench.start();
    const auto counter = [&] { return protocol::ConsumerOffsets::fromJson(bench.offsets().toJson())->dataVersion.counter; };
    bench.commit(1);
    bench.commit(2);
    EXPECT_EQ(counter(), 0);
    bench.commit(3);
    EXPECT_EQ(counter(), 1);
    for (int i = 0; i < 6; ++i) bench.commit(4 + i);
    EXPECT_EQ(counter(), 3);
}

TEST(Offsets, OffsetsOfARemovedTopicAreForgotten) {
    OffsetsBench bench;
    bench.start();
    bench.commit(5);
    bench.commit(6, "0", "RwT");
    ASSERT_TRUE(bench.topics().remove("T"));
    EXPECT_EQ(bench.offsets().query("G", "T", 0), -1);
    EXPECT_EQ(bench.offsets().topicsOf("G"), std::vector<std::string>{"RwT"});
    EXPECT_TRUE(bench.offsets().groupsOf("T").empty());
}

TEST(Offsets, AGroupIsListedClonedAndRemoved) {
    OffsetsBench bench;
    bench.start();
    bench.commit(5);
    bench.commit(6, "3");
    bench.commit(7, "0", "RwT");
    bench.offsets().clone("G", "Copy", "T");
    EXPECT_EQ(bench.offsets().queues("Copy", "T"), (std::map<std::int32_t, std::int64_t>{{0, 5}, {3, 6}}));
    EXPECT_EQ(bench.offsets().topicsOf("Copy"), std::vector<std::string>{"T"});
    EXPECT_EQ(bench.offsets().groupsOf("T"), (std::vector<std::string>{"Copy", "G"}));
    bench.offsets().removeGroup("G");
    EXPECT_TRUE(bench.offsets().topicsOf("G").empty());
    EXPECT_EQ(bench.offsets().query("Copy", "T", 3), 6);
    bench.restart();
    EXPECT_EQ(bench.offsets().groupsOf("T"), std::vector<std::string>{"Copy"});
}

TEST(Offsets, ARepeatedCommitAllocatesNothing) {
    OffsetsBench bench;
    bench.start();
    const std::string group(60, 'g');
    const std::string topic(60, 't');
    auto& offsets = bench.offsets();
    offsets.commit("client", group, topic, 3, 1);
    const std::size_t before = recorded::allocations.load();
    for (std::int64_t offset = 2; offset < 100; ++offset) {
        offsets.commit("client", group, topic, 3, offset);
        offsets.notePull(group, topic, 3, {.nextOffset = offset, .outcome = service::PullOutcome::Delivered});
        static_cast<void>(offsets.query(group, topic, 3));
        static_cast<void>(offsets.takeReset(group, topic, 3));
    }
    EXPECT_EQ(recorded::allocations.load(), before);
    EXPECT_EQ(offsets.query(group, topic, 3), 99);
}

}  // namespace
}  // namespace patchbay::plugins::consumer_offsets
