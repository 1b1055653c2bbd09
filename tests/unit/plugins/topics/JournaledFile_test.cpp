// Proved: changes survive kill -9, torn journals, damaged files and foreign writers; the cost of a change is its own size.
// How: the plugin on a temporary directory whose files the test copies, cuts and damages between starts; a faulty disk.
// Left to others: what the tables themselves accept (TopicTable_test, GroupTable_test).
#include "TopicsBench.h"

#include <fstream>

namespace patchbay::plugins::topics {
namespace {

using namespace std::chrono_literals;

/// Bytes that this process has handed to write calls.
std::uint64_t bytesWritten() {
    std::ifstream io("/proc/self/io");
    for (std::string word; io >> word;) {
        std::uint64_t value = 0;
        if (word == "wchar:" && io >> value) return value;
    }
    return 0;
}

TEST(JournaledFile, ACreatedTopicSurvivesAKilledProcess) {
    TopicsBench bench;
    bench.start();
    ASSERT_TRUE(bench.send("Kept"));
    ASSERT_TRUE(bench.send("Dropped"));
    ASSERT_TRUE(bench.topics().remove("Dropped"));
    const auto version = bench.topics().dataVersion();
    bench.killAndStart();
    EXPECT_TRUE(bench.has("Kept"));
    EXPECT_FALSE(bench.has("Dropped"));
    EXPECT_EQ(bench.topics().dataVersion(), version);
    ASSERT_TRUE(bench.send("Later"));
    bench.killAndStart();
    EXPECT_TRUE(bench.has("Kept"));
    EXPECT_TRUE(bench.has("Later"));
}

TEST(JournaledFile, ACleanStopLeavesEverythingInTheFileAndNoJournal) {
    TopicsBench bench;
    bench.start();
    ASSERT_TRUE(bench.send("Kept"));
    EXPECT_TRUE(bench.exists("topics.json.journal"));
    bench.stop();
    EXPECT_FALSE(bench.exists("topics.json.journal"));
    const auto file = protocol::TopicConfigs::fromJson(bench.read("topics.json"));
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->topicConfigTable.contains("Kept"));
    EXPECT_TRUE(file->topicConfigTable.contains("TBW102"));
    EXPECT_EQ(file->dataVersion.counter, 1);
}

TEST(JournaledFile, NothingIsWrittenWhenNothingChanges) {
    TopicsBench bench;
    bench.start();
    bench.context.advance(1h);
    bench.stop();
    EXPECT_FALSE(bench.exists("topics.json"));
    EXPECT_FALSE(bench.exists("topics.json.journal"));
}

TEST(JournaledFile, AJournalCutAtAnyByteKeepsAllWholeLines) {
    TopicsBench bench;
    bench.start();
    ASSERT_TRUE(bench.send("One"));
    const std::size_t whole = bench.read("topics.json.journal").size();
    ASSERT_TRUE(bench.send("Two"));
    const std::string journal = bench.read("topics.json.journal");
    bench.stop();
    for (std::size_t cut = whole; cut < journal.size(); ++cut) {
        SCOPED_TRACE(cut);
        std::filesystem::remove(bench.path("topics.json"));
        std::filesystem::remove(bench.path("topics.json.bak"));
        bench.write("topics.json.journal", journal.substr(0, cut));
        bench.start();
        ASSERT_TRUE(bench.has("One"));
        ASSERT_FALSE(bench.has("Two"));
        bench.stop();
    }
}

TEST(JournaledFile, AFlippedByteEndsTheJournalThere) {
    TopicsBench bench;
    bench.start();
    ASSERT_TRUE(bench.send("One"));
    const std::size_t whole = bench.read("topics.json.journal").size();
    ASSERT_TRUE(bench.send("Two"));
    std::string journal = bench.read("topics.json.journal");
    bench.stop();
    std::filesystem::remove(bench.path("topics.json"));
    std::filesystem::remove(bench.path("topics.json.bak"));
    journal[whole + 40] ^= 1;
    bench.write("topics.json.journal", journal);
    bench.start();
    EXPECT_TRUE(bench.has("One"));
    EXPECT_FALSE(bench.has("Two"));
    EXPECT_TRUE(bench.context.log().contains("never finished"));
}

TEST(JournaledFile, AJournalThatTheFileHasAlreadyTakenInIsNotAppliedAgain) {
    TopicsBench bench;
    bench.start();
    ASSERT_TRUE(bench.topics().put(topicNamed("T", 1)));
    ASSERT_TRUE(bench.topics().remove("T"));
    ASSERT_TRUE(bench.topics().put(topicNamed("U", 1)));
    const std::string journal = bench.read("topics.json.journal");
    const auto version = bench.topics().dataVersion();
    bench.stop();
    // A crash between writing the file and emptying the journal.
    bench.write("topics.json.journal", journal);
    bench.start();
    EXPECT_EQ(bench.topics().dataVersion(), version);
    EXPECT_FALSE(bench.has("T"));
    EXPECT_TRUE(bench.has("U"));
    EXPECT_FALSE(bench.context.log().contains("another broker"));
}

TEST(JournaledFile, ChangesBehindThoseThatTheFileHasAreApplied) {
    TopicsBench early;
    early.start();
    ASSERT_TRUE(early.send("One"));
    early.stop();
    TopicsBench late;
    late.start();
    ASSERT_TRUE(late.send("One"));
    ASSERT_TRUE(late.send("Two"));
    // Folding began before Two came and ended after it.
    late.write("topics.json", early.read("topics.json"));
    late.killAndStart();
    EXPECT_TRUE(late.has("One"));
    EXPECT_TRUE(late.has("Two"));
    EXPECT_EQ(late.topics().dataVersion().counter, 2);
}

TEST(JournaledFile, WhatAnotherBrokerWroteSinceIsNotOverwritten) {
    TopicsBench bench;
    bench.start();
    ASSERT_TRUE(bench.topics().put(topicNamed("Shared", 1)));
    ASSERT_TRUE(bench.topics().put(topicNamed("Ours", 1)));
    protocol::TopicConfigs foreign;
    foreign.dataVersion = {77, 0, 1'700'000'000'999};
    foreign.topicConfigTable.emplace("Shared", topicNamed("Shared", 9));
    foreign.topicConfigTable.emplace("Theirs", topicNamed("Theirs", 9));
    bench.write("topics.json", foreign.toJson(json::Dialect::Pretty));
    bench.killAndStart();
    EXPECT_EQ(bench.topics().get("Shared")->writeQueueNums, 9);
    EXPECT_TRUE(bench.has("Theirs"));
    EXPECT_TRUE(bench.has("Ours"));
    EXPECT_GT(bench.topics().dataVersion().counter, 77);
    EXPECT_TRUE(bench.context.log().contains("another broker"));
}

TEST(JournaledFile, ADamagedFileIsReplacedByItsBackupAndSetAside) {
    for (const std::string& damage : {std::string(), std::string(500, '\0'), std::string("{\"dataVersion\":{\"counter\":3"), std::string("junk")}) {
        SCOPED_TRACE(damage);
        TopicsBench bench;
        bench.start();
        ASSERT_TRUE(bench.send("One"));
        bench.stop();
        bench.start();
        ASSERT_TRUE(bench.send("Two"));
        bench.stop();
        ASSERT_TRUE(bench.exists("topics.json.bak"));
        bench.write("topics.json", damage);
        bench.start();
        EXPECT_TRUE(bench.has("One"));
        EXPECT_FALSE(bench.has("Two")) << "the backup is older";
        EXPECT_TRUE(bench.context.log().contains("its backup is used"));
        EXPECT_EQ(bench.exists("topics.json.damaged"), !damage.empty());
    }
}

TEST(JournaledFile, TheJournalOfAKilledBrokerContinuesItsBackupToo) {
    TopicsBench bench;
    bench.start();
    ASSERT_TRUE(bench.send("One"));
    bench.stop();
    bench.start();
    ASSERT_TRUE(bench.send("Two"));
    bench.stop();
    bench.start();
    ASSERT_TRUE(bench.send("Three"));
    bench.write("topics.json", "junk");
    bench.killAndStart();
    EXPECT_TRUE(bench.has("One"));
    EXPECT_TRUE(bench.has("Three"));
}

TEST(JournaledFile, AnEmptyFileWithoutABackupIsSaidToHaveLostEverything) {
    TopicsBench bench;
    bench.start();
    EXPECT_FALSE(bench.context.log().contains("is empty")) << "a new broker has no files";
    bench.stop();
    for (const char* name : {"topics.json", "subscriptionGroup.json"}) bench.write(name, "");
    bench.start();
    for (const char* name : {"topics.json", "subscriptionGroup.json"}) {
        EXPECT_TRUE(bench.context.log().contains(bench.directory.path() + "/config/" + name + " is empty and there is no backup beside it")) << name;
    }
    EXPECT_EQ(bench.context.log().count("configuration file damaged, starting without"), 2U);
}

TEST(JournaledFile, AFileThatIsNestedTooDeepStopsTheStartWithItsName) {
    TopicsBench bench;
    bench.write("topics.json", std::string(100'000, '['));
    const Status started = bench.tryStart();
    ASSERT_FALSE(started);
    EXPECT_NE(started.message().find(bench.directory.path() + "/config/topics.json cannot be read: JSON, byte "), std::string::npos) << started.message();
}

TEST(JournaledFile, TwoDamagedFilesStopTheStartWithTheirNames) {
    TopicsBench bench;
    bench.write("topics.json", "junk");
    bench.write("topics.json.bak", "more junk");
    const Status started = bench.tryStart();
    ASSERT_FALSE(started);
    EXPECT_NE(started.message().find("topics.json"), std::string::npos);
    EXPECT_NE(started.message().find(".bak"), std::string::npos);
    bench.stop();
    EXPECT_EQ(bench.read("topics.json"), "junk") << "nobody writes over what a person may yet repair";
}

TEST(JournaledFile, AChangeThatCannotBeWrittenDoesNotHappen) {
    TopicsBench bench;
    bench.start();
    ASSERT_TRUE(bench.send("Before"));
    bench.files.failWrites({StatusCode::Full, "no space left"});
    EXPECT_EQ(bench.send("During").error().code(), StatusCode::Full);
    EXPECT_EQ(bench.topics().put(topicNamed("Before", 9)).code(), StatusCode::Full);
    EXPECT_EQ(bench.topics().remove("Before").code(), StatusCode::Full);
    service::GroupFacts facts;
    EXPECT_FALSE(bench.groups().findOrCreate("During", facts));
    EXPECT_FALSE(bench.has("During"));
    EXPECT_EQ(bench.topics().get("Before")->writeQueueNums, 4);
    bench.files.clear();
    EXPECT_TRUE(bench.send("After"));
    bench.killAndStart();
    EXPECT_TRUE(bench.has("Before"));
    EXPECT_TRUE(bench.has("After"));
    EXPECT_FALSE(bench.has("During"));
}

TEST(JournaledFile, AFileThatCannotBeFoldedIsTriedAgain) {
    TopicsBench bench;
    bench.start();
    ASSERT_TRUE(bench.send("One"));
    bench.files.failWrites({StatusCode::Full, "no space left"});
    bench.context.advance(2min);
    EXPECT_FALSE(bench.exists("topics.json"));
    EXPECT_TRUE(bench.context.log().contains("changes stay in the journal"));
    bench.files.clear();
    bench.context.advance(2min);
    EXPECT_TRUE(protocol::TopicConfigs::fromJson(bench.read("topics.json"))->topicConfigTable.contains("One"));
}

TEST(JournaledFile, AfterAFailedSyncTheWholeTableIsWrittenAnewAtOnce) {
    TopicsBench bench;
    bench.start();
    ASSERT_TRUE(bench.send("One"));
    bench.files.failSyncs({StatusCode::Io, "input/output error"}, 1);
    bench.context.advance(1s);
    EXPECT_TRUE(bench.context.log().contains("a journal cannot be made durable"));
    ASSERT_TRUE(bench.exists("topics.json")) << "the journal's pages may be lost although the next sync succeeds";
    EXPECT_TRUE(protocol::TopicConfigs::fromJson(bench.read("topics.json"))->topicConfigTable.contains("One"));
}

TEST(JournaledFile, ChangesAreSyncedSoonAndFoldedWhenItIsQuiet) {
    TopicsBench bench;
    bench.start();
    ASSERT_TRUE(bench.send("One"));
    EXPECT_EQ(bench.files.syncs(), 0U) << "nobody waits for the disk to create a topic";
    bench.context.advance(999ms);
    EXPECT_EQ(bench.files.syncs(), 0U);
    bench.context.advance(1ms);
    EXPECT_EQ(bench.files.syncs(), 1U);
    bench.context.advance(40s);
    ASSERT_TRUE(bench.send("Two"));
    bench.context.advance(59s);
    EXPECT_FALSE(bench.exists("topics.json")) << "the last change is younger than a minute";
    bench.context.advance(1s);
    EXPECT_TRUE(bench.exists("topics.json"));
    EXPECT_EQ(bench.read("topics.json.journal"), "");
    const std::uint64_t syncs = bench.files.syncs();
    bench.context.advance(1h);
    EXPECT_EQ(bench.files.syncs(), syncs) << "no change, no work";
    EXPECT_EQ(bench.context.timers().count(), 0U);
}

TEST(JournaledFile, TenThousandTopicsOneByOneCostLessThanTwentyMegabytes) {
    TopicsBench bench;
    bench.start();
    const std::uint64_t before = bytesWritten();
    for (int i = 0; i < 10'000; ++i) {
        ASSERT_TRUE(bench.send("OneOfVeryManyTopics" + std::to_string(i)));
        bench.context.pump();
    }
    EXPECT_TRUE(bench.exists("topics.json")) << "a large journal is folded on the way";
    const std::uint64_t inJournal = bench.read("topics.json.journal").size();
    bench.stop();
    const std::uint64_t written = bytesWritten() - before;
    EXPECT_GT(written, 2'000'000U);
    EXPECT_LT(written, 20'000'000U);
    EXPECT_LT(inJournal, 3'000'000U);
    bench.start();
    EXPECT_TRUE(bench.has("OneOfVeryManyTopics9999"));
    EXPECT_EQ(bench.topics().dataVersion().counter, 10'000);
}

}  // namespace
}  // namespace patchbay::plugins::topics
