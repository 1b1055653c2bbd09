// Proved: what was damaged or removed while the store was closed is noticed at the next start, named in one line and rebuilt from
// the log; what a cut takes from the log is named and saved. How: files of a disk in memory are changed between close and open.
// Left to others: what crashes leave (recovery_test.cpp), files of a Java broker (golden_test.cpp).
#include "Fixture.h"

#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/testkit/FaultyFiles.h"
#include "patchbay/testkit/TempDir.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <unistd.h>

namespace patchbay::mmapstore {

namespace {

using service::AppendStatus;
using service::ReadStatus;

class MmapDamage : public MmapStoreTest {
protected:
    void appendMany(int from, int to, const std::string& topic = "TopicTest") {
        for (int i = from; i < to; ++i) ASSERT_EQ(append("body-" + std::to_string(i), topic).queueOffset, i);
    }
    void expectBodies(int count, const std::string& topic = "TopicTest", int from = 0) {
        const std::vector<std::string> all = bodies(topic);
        ASSERT_EQ(all.size(), static_cast<std::size_t>(count - from));
        for (int i = from; i < count; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i - from)], "body-" + std::to_string(i));
    }
    int warnings(std::string_view part) {
        const auto lines = log.lines();
        return static_cast<int>(std::count_if(lines.begin(), lines.end(), [&](const testkit::FakeLogger::Line& line) {
            return line.level == plugin::LogLevel::Warn && line.text.find(part) != std::string::npos;
        }));
    }
    [[nodiscard]] std::string queueFile(std::int64_t start) const { return "/store/consumequeue/TopicTest/0/" + fileName(start); }
    const std::string firstSegment = "/store/commitlog/00000000000000000000";
    static constexpr const char* kChanged = "consume queues are not as the last stop left them";
};

TEST_F(MmapDamage, AChangedConsumeQueueIsRebuiltAfterACleanStop) {
    const std::vector<std::pair<const char*, std::function<void()>>> damages = {
        {"the topic removed", [&] { ASSERT_TRUE(removeTree(*disk, "/store/consumequeue/TopicTest")); }},
        {"the queue removed", [&] { ASSERT_TRUE(removeTree(*disk, "/store/consumequeue/TopicTest/0")); }},
        {"the first file removed", [&] { ASSERT_TRUE(disk->remove(queueFile(0))); }},
        {"a middle file removed", [&] { ASSERT_TRUE(disk->remove(queueFile(800))); }},
        {"the last file removed", [&] { ASSERT_TRUE(disk->remove(queueFile(2000))); }},
        {"a short file", [&] { resize(queueFile(400), 399); }},
        {"an empty last file", [&] { resize(queueFile(2000), 0); }},
        {"a short last file", [&] { resize(queueFile(2000), 60); }},
        {"zeros at the end", [&] { overwrite(queueFile(2000), 0, std::string(400, '\0')); }},
        {"another newest unit", [&] { overwrite(queueFile(2000), 4 * 20, std::string(20, '\x01')); }},
    };
    for (const auto& [name, damage] : damages) {
        SCOPED_TRACE(name);
        disk = std::make_unique<test::MemoryFiles>();
        open();
        appendMany(0, 105);
        appendMany(0, 30, "Other");
        close();
        damage();
        log.clear();
        open();
        EXPECT_EQ(warnings(kChanged), 1);
        EXPECT_TRUE(log.contains("/store/consumequeue/TopicTest/0"));
        expectBodies(105);
        expectBodies(30, "Other");
        appendMany(105, 110);
        close();
        log.clear();
        open();
        EXPECT_EQ(warnings(""), 0) << log.lines().front().text;
        expectBodies(110);
        close();
    }
}

TEST_F(MmapDamage, AFileThatBelongsToNoQueueIsSetAsideWhateverTheLastStopWas) {
    const std::string stray = "/store/consumequeue/TopicTest/0/notes.txt";
    for (const bool clean : {true, false}) {
        SCOPED_TRACE(clean);
        disk = std::make_unique<test::MemoryFiles>();
        open();
        appendMany(0, 105);
        ASSERT_TRUE(store().settle());
        clean ? close() : kill();
        resize(stray, 5);
        log.clear();
        open();
        expectBodies(105);
        EXPECT_EQ(warnings("a file that belongs to no consume queue was set aside"), 1);
        EXPECT_EQ(warnings(""), 1);
        EXPECT_FALSE(disk->exists(stray));
        EXPECT_EQ(file("/store/aside/consumequeue/TopicTest/0/notes.txt").size(), 5U);
        close();
        resize(stray, 7);
        open();
        expectBodies(105);
        EXPECT_EQ(file("/store/aside/consumequeue/TopicTest/0/notes.txt").size(), 5U) << "what is there already stays";
        EXPECT_EQ(file("/store/aside/consumequeue/TopicTest/0/notes.txt.1").size(), 7U);
        close();
    }
}

TEST_F(MmapDamage, AFileThatBelongsToNoQueueAndCannotBeSetAsideIsPassedOver) {
    const testkit::TempDir dir;
    options.root = dir.path() + "/store";
    const auto create = [](const std::string& path) { ASSERT_TRUE(systemFiles().open(path, OpenMode::Create)); };
    for (const bool clean : {true, false}) {
        SCOPED_TRACE(clean);
        {
            MmapStore store(systemFiles(), clock, log, options);
            ASSERT_TRUE(store.open());
            ASSERT_EQ(testkit::appendOne(store, {}).queueOffset, clean ? 0 : 1);
        }
        if (clean) {
            create(options.root + "/consumequeue/TopicTest/0/notes.txt");
            create(options.root + "/aside");  // so nothing can be put below it
        } else {
            create(options.root + "/abort");
        }
        log.clear();
        MmapStore store(systemFiles(), clock, log, options);
        const Status opened = store.open();
        ASSERT_TRUE(opened) << opened.toString();
        EXPECT_EQ(testkit::readAll(store, "TopicTest", 0).size(), clean ? 1U : 2U);
        EXPECT_EQ(warnings("a file that belongs to no consume queue cannot be set aside"), 1);
    }
}

TEST_F(MmapDamage, ARebuildRemovesNothingThatIsNoPartOfAQueue) {
    open();
    appendMany(0, 105);
    close();
    resize("/store/consumequeue/TopicTest/0/notes.txt", 5);
    ASSERT_TRUE(disk->remove(queueFile(800)));
    log.clear();
    open();
    expectBodies(105);
    EXPECT_EQ(warnings("the files of a consume queue are not those of one; they were set aside"), 1);
    close();
    open();
    EXPECT_EQ(file("/store/aside/consumequeue/TopicTest/0/notes.txt").size(), 5U);
}

TEST_F(MmapDamage, AfterACrashADamagedQueueIsRebuiltThoughNothingNewTellsOfIt) {
    static constexpr const char* kSetAside = "the files of a consume queue do not fit together; they were set aside";
    static constexpr const char* kLack = "consume queues lack messages; rebuilding them";
    const std::vector<std::tuple<const char*, const char*, std::function<void()>>> damages = {
        {"a short file", kSetAside, [&] { resize(queueFile(400), 399); }},
        {"a long file", kSetAside, [&] { resize(queueFile(400), 401); }},
        {"a name between two", kSetAside, [&] { resize(queueFile(401), 400); }},
        {"a hole", kLack, [&] { ASSERT_TRUE(disk->remove(queueFile(800))); }},
        {"an empty file in the middle", kLack, [&] { resize(queueFile(800), 0); }},
        {"a short last file", kLack, [&] { resize(queueFile(2000), 60); }},
        {"an empty last file", kLack, [&] { resize(queueFile(2000), 0); }},
    };
    for (const auto& [name, line, damage] : damages) {
        SCOPED_TRACE(name);
        disk = std::make_unique<test::MemoryFiles>();
        open();
        appendMany(0, 105);
        clock.advance(std::chrono::hours(1));
        appendMany(0, 1, "Other");
        ASSERT_TRUE(store().settle());
        kill();
        damage();
        const bool aside = line == kSetAside;
        for (int life = 0; life < 2; ++life) {
            // The second time the process is killed while nothing new was stored: a start leaves nothing half done.
            log.clear();
            open();
            EXPECT_EQ(warnings(line), life == 0 ? 1 : 0);
            EXPECT_TRUE(disk->exists("/store/checkpoint")) << "the next start need not look at everything";
            expectBodies(105);
            expectBodies(1, "Other");
            EXPECT_EQ(disk->exists("/store/aside/consumequeue/TopicTest/0/" + fileName(400)), aside);
            kill();
        }
        open();
        appendMany(105, 110);
        close();
        log.clear();
        open();
        EXPECT_EQ(warnings(""), 0);
        expectBodies(110);
        close();
    }
}

TEST_F(MmapDamage, AQueueThatIsRebuiltAfterACrashGoesOnBehindMessagesThatAreGone) {
    open();
    appendMany(0, 105);
    appendMany(0, 400, "Other");
    ASSERT_TRUE(store().trim(store().stats().maxPhysicalOffset));
    EXPECT_EQ(bodies().size(), 0U);
    ASSERT_TRUE(store().settle());
    kill();
    resize(queueFile(2000), 420);
    log.clear();
    open();
    EXPECT_EQ(append("next").queueOffset, 105);
    EXPECT_EQ(bodies(), std::vector<std::string>{"next"});
    EXPECT_EQ(store().range("TopicTest", 0).min, 105);
}

TEST_F(MmapDamage, APowerCutBetweenSettingAQueueAsideAndItsRebuildLosesNothing) {
    open();
    appendMany(0, 105);
    clock.advance(std::chrono::hours(1));
    appendMany(0, 1, "Other");
    ASSERT_TRUE(store().settle());
    kill();
    resize(queueFile(400), 399);
    for (std::uint64_t after = 0; after < 60; ++after) {
        SCOPED_TRACE(after);
        auto left = disk->afterPowerCut(after);
        testkit::FaultyFiles faulty(*left);
        std::unique_ptr<test::MemoryFiles> cut;
        faulty.failWritesAfter(after, Status(StatusCode::Io, "no power"));
        {
            MmapStore store(faulty, clock, log, options);
            (void)store.open();
            cut = left->afterPowerCut(after);
        }
        MmapStore again(*cut, clock, log, options);
        ASSERT_TRUE(again.open());
        ASSERT_EQ(testkit::readAll(again, "TopicTest", 0).size(), 105U);
    }
}

TEST_F(MmapDamage, ACrashInTheMiddleOfARebuildAfterACrashLosesNothing) {
    struct Damage {
        const char* name;
        int messages;  // more than 1024: a rebuild writes some of them before it is through
        std::function<void()> make;
    };
    const std::vector<Damage> damages = {
        {"a hole", 105, [&] { ASSERT_TRUE(disk->remove(queueFile(800))); }},
        {"an empty file in the middle", 105, [&] { resize(queueFile(800), 0); }},
        {"a short last file", 105, [&] { resize(queueFile(2000), 60); }},
        {"an empty last file", 105, [&] { resize(queueFile(2000), 0); }},
        {"a short file", 105, [&] { resize(queueFile(400), 399); }},
        {"the first file removed", 1030, [&] { ASSERT_TRUE(disk->remove(queueFile(0))); }},
        {"all queues removed", 1030, [&] { ASSERT_TRUE(removeTree(*disk, "/store/consumequeue")); }},
    };
    for (const Damage& damage : damages) {
        disk = std::make_unique<test::MemoryFiles>();
        options.queueFileBytes = damage.messages > 1024 ? 20'000 : 400;
        open();
        appendMany(0, damage.messages);
        clock.advance(std::chrono::hours(1));
        appendMany(0, 1, "Other");
        ASSERT_TRUE(store().settle());
        kill();
        damage.make();
        bool crashed = true;
        for (std::uint64_t change = 1; crashed; ++change) {
            SCOPED_TRACE(std::string(damage.name) + ", before change " + std::to_string(change));
            ASSERT_LT(change, 2000U);
            for (const bool power : {false, true}) {
                const auto before = disk->afterKill();
                std::unique_ptr<test::MemoryFiles> left;
                before->beforeChange(change, [&] { left = power ? before->afterPowerCut(change) : before->afterKill(); });
                {
                    MmapStore store(*before, clock, log, options);
                    ASSERT_TRUE(store.open());
                }
                crashed = left != nullptr;
                if (!crashed) break;
                MmapStore again(*left, clock, log, options);
                ASSERT_TRUE(again.open());
                ASSERT_EQ(testkit::readAll(again, "TopicTest", 0).size(), static_cast<std::size_t>(damage.messages)) << "power " << power;
                ASSERT_EQ(testkit::readAll(again, "Other", 0).size(), 1U) << "power " << power;
            }
        }
    }
}

TEST_F(MmapDamage, ManyQueuesAreLookedAtByManyThreadsWithTheSameResult) {
    static constexpr int kQueues = 400;
    open();
    for (int round = 0; round < 3; ++round) {
        for (int queue = 0; queue < kQueues; ++queue) {
            ASSERT_EQ(append("body-" + std::to_string(round), "TopicTest", queue).queueOffset, round);
        }
    }
    close();
    for (const int queue : {7, 250, 399}) ASSERT_TRUE(removeTree(*disk, "/store/consumequeue/TopicTest/" + std::to_string(queue)));
    for (const bool clean : {true, false}) {
        SCOPED_TRACE(clean);
        log.clear();
        open();
        EXPECT_EQ(warnings(kChanged), clean ? 1 : 0);
        EXPECT_EQ(log.contains("queues=3"), clean);
        for (int queue = 0; queue < kQueues; ++queue) {
            ASSERT_EQ(bodies("TopicTest", queue), (std::vector<std::string>{"body-0", "body-1", "body-2"})) << queue;
        }
        kill();
    }
}

TEST_F(MmapDamage, ARebuildIsWholeBeforeAnythingElseIsStored) {
    open();
    for (int i = 0; i < 40; ++i) append("body", "Topic" + std::to_string(i));
    ASSERT_TRUE(store().settle());
    close();
    ASSERT_TRUE(removeTree(*disk, "/store/consumequeue"));
    open();
    append("body", "Topic7");
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        auto left = disk->afterPowerCut(seed);
        MmapStore again(*left, clock, log, options);
        ASSERT_TRUE(again.open());
        for (int i = 0; i < 40; ++i) ASSERT_GE(again.range("Topic" + std::to_string(i), 0).max, 1) << i;
    }
}

TEST_F(MmapDamage, ARebuiltQueueDoesNotGiveOutNumbersOfRemovedMessagesAgain) {
    open();
    appendMany(0, 50);
    appendMany(0, 400, "Other");
    ASSERT_TRUE(store().trim(store().stats().maxPhysicalOffset));
    EXPECT_EQ(bodies().size(), 0U);
    close();
    ASSERT_TRUE(removeTree(*disk, "/store/consumequeue/TopicTest"));
    open();
    EXPECT_EQ(append("next").queueOffset, 50);
    EXPECT_EQ(bodies(), std::vector<std::string>{"next"});
    EXPECT_EQ(store().range("TopicTest", 0).min, 50);
}

TEST_F(MmapDamage, DeletedTopicsAreNotTakenForLostOnes) {
    open();
    appendMany(0, 20);
    appendMany(0, 5, "Other");
    ASSERT_TRUE(store().deleteTopic("TopicTest"));
    close();
    log.clear();
    open();
    EXPECT_EQ(warnings(kChanged), 0);
    EXPECT_FALSE(store().range("TopicTest", 0).exists);
    close();
    // A Java broker leaves a file behind that it was here: what it removed was meant to go.
    resize("/store/abort.bak", 0);
    ASSERT_TRUE(removeTree(*disk, "/store/consumequeue/Other"));
    open();
    EXPECT_EQ(warnings(kChanged), 0);
}

TEST_F(MmapDamage, ChangedIndexFilesAreBuiltAgainAfterACleanStop) {
    options.indexEntries = 51;
    const auto find = [&](int i) {
        const auto hits = store().findByKey({.topic = "TopicTest", .key = "key-" + std::to_string(i), .endMs = INT64_MAX});
        return hits ? hits->hits.size() : 99;
    };
    const auto indexFiles = [&] {
        std::vector<std::string> names;
        const Result<std::vector<FileInfo>> listed = disk->list("/store/index");
        for (const FileInfo& info : *listed) names.push_back("/store/index/" + info.name);
        return names;
    };
    const std::vector<std::function<void(const std::vector<std::string>&)>> damages = {
        [&](const auto& names) { ASSERT_TRUE(disk->remove(names[1])); },
        [&](const auto& names) { for (const auto& name : names) ASSERT_TRUE(disk->remove(name)); },
        [&](const auto& names) { resize(names.back(), 100); },
        [&](const auto& names) { overwrite(names.back(), 0, std::string(40, '\0')); },
    };
    for (const auto& damage : damages) {
        disk = std::make_unique<test::MemoryFiles>();
        open();
        for (int i = 0; i < 130; ++i) {
            testkit::appendOne(store(), {.body = "b", .keys = "key-" + std::to_string(i)});
            clock.advance(std::chrono::milliseconds(1));
        }
        ASSERT_EQ(find(120), 1U);
        close();
        damage(indexFiles());
        log.clear();
        open();
        EXPECT_EQ(warnings("key-index files are not as the last stop left them"), 1);
        for (const int i : {0, 49, 50, 51, 75, 99, 100, 129}) EXPECT_EQ(find(i), 1U) << i;
        close();
    }
}

TEST_F(MmapDamage, ADamagedRecordInTheMiddleIsNamedAndWhatFollowsIsSaved) {
    open();
    appendMany(0, 400);
    ASSERT_GT(store().stats().maxPhysicalOffset, 32'768);
    const std::int64_t bad = testkit::readAll(store(), "TopicTest", 0).at(100).physicalOffset;
    kill();
    // The checkpoint says nothing: everything is looked at.
    if (disk->exists("/store/checkpoint")) {
        ASSERT_TRUE(disk->remove("/store/checkpoint"));
    }
    const std::string before = file(firstSegment);
    ASSERT_LT(bad, 16'384);
    overwrite(firstSegment, static_cast<std::uint64_t>(bad + 88), "\xff");
    log.clear();
    open();
    expectBodies(100);
    EXPECT_EQ(warnings("the commit log is damaged; it is cut off there, and what follows was saved"), 1);
    for (const std::string& part : {"file=" + firstSegment, "offset=" + std::to_string(bad), std::string("bytes="), std::string("nextWholeRecord=")}) {
        EXPECT_TRUE(log.contains(part)) << part;
    }
    const std::string saved = file("/store/commitlog/aside/" + fileName(bad) + ".cut");
    EXPECT_EQ(saved.substr(100), before.substr(static_cast<std::size_t>(bad) + 100, saved.size() - 100));
    EXPECT_EQ(warnings("was set aside"), 2);
    EXPECT_TRUE(disk->exists("/store/commitlog/aside/" + fileName(16'384)));
    EXPECT_TRUE(disk->exists("/store/commitlog/aside/" + fileName(32'768)));
    appendMany(100, 150);
    kill();
    log.clear();
    open();
    expectBodies(150);
    EXPECT_EQ(warnings(""), 0);
}

TEST_F(MmapDamage, WhatIsBehindADamagedRecordIsKeptWhateverWasSetAsideBeforeAndHoweverItBegins) {
    options.segmentBytes = 131'072;
    const std::string later = fileName(options.segmentBytes);
    std::vector<std::string> lost;
    std::vector<std::string> saved;
    for (int life = 0; life < 2; ++life) {
        SCOPED_TRACE(life);
        open();
        while (store().stats().maxPhysicalOffset < options.segmentBytes + 70'000) append("body-" + std::to_string(life) + std::string(900, 'x'));
        ASSERT_TRUE(store().flush());
        const std::int64_t bad = testkit::readAll(store(), "TopicTest", 0).at(10).physicalOffset;
        kill();
        if (disk->exists("/store/checkpoint")) {
            ASSERT_TRUE(disk->remove("/store/checkpoint"));
        }
        // The pages that are missing at the beginning do not make it one that was never written.
        if (life == 1) overwrite("/store/commitlog/" + later, 0, std::string(65'536, '\0'));
        lost.push_back(file("/store/commitlog/" + later));
        overwrite(firstSegment, static_cast<std::uint64_t>(bad + 88), "\xff");
        saved.push_back("/store/commitlog/aside/" + fileName(bad) + ".cut");
        open();
        ASSERT_EQ(bodies().size(), 10U);
        close();
    }
    ASSERT_EQ(saved[0], saved[1]);
    EXPECT_TRUE(file("/store/commitlog/aside/" + later) == lost[0]);
    EXPECT_TRUE(file("/store/commitlog/aside/" + later + ".1") == lost[1]);
    EXPECT_NE(file(saved[0]).find("body-0"), std::string::npos);
    EXPECT_NE(file(saved[1] + ".1").find("body-1"), std::string::npos);
}

TEST_F(MmapDamage, ALogFileThatACrashLeftWithoutBytesEndsTheLogUnlessItWasDurable) {
    const std::string middle = "/store/commitlog/" + fileName(16'384);
    for (const bool durable : {false, true}) {
        SCOPED_TRACE(durable);
        disk = std::make_unique<test::MemoryFiles>();
        open();
        int sent = 0;
        for (; store().stats().maxPhysicalOffset < 32'768 + 1000; ++sent) append("body-" + std::to_string(sent));
        if (durable) {
            ASSERT_TRUE(store().settle());
        }
        kill();
        if (!durable && disk->exists("/store/checkpoint")) {
            ASSERT_TRUE(disk->remove("/store/checkpoint"));
        }
        const std::string last = file("/store/commitlog/" + fileName(32'768));
        resize(middle, 0);
        log.clear();
        const Status opened = tryOpen();
        EXPECT_EQ(opened.isOk(), !durable) << opened.toString();
        if (durable) {
            EXPECT_NE(opened.message().find(middle + " has 0 bytes"), std::string::npos) << opened.message();
            continue;
        }
        EXPECT_EQ(warnings("a crash left a commit-log file without its bytes; the log ends before it"), 1);
        EXPECT_EQ(file("/store/commitlog/aside/" + fileName(32'768)), last) << "what was behind it is kept";
        const auto left = static_cast<int>(bodies().size());
        EXPECT_GT(left, 10);
        EXPECT_LE(store().stats().maxPhysicalOffset, 16'384);
        expectBodies(left);
        appendMany(left, left + 150);
        close();
        log.clear();
        open();
        EXPECT_EQ(warnings(""), 0);
        expectBodies(left + 150);
        close();
    }
}

TEST_F(MmapDamage, ATornEndIsNamedAndAFileThatWasOnlyPreparedIsNot) {
    open();
    appendMany(0, 10);
    kill();
    log.clear();
    open();
    EXPECT_EQ(warnings(""), 0);
    const auto last = append("body-10");
    kill();
    resize("/store/commitlog/" + fileName(16'384), 16'384);
    overwrite(firstSegment, static_cast<std::uint64_t>(last.physicalOffset + 60), std::string(40, '\0'));
    log.clear();
    open();
    EXPECT_EQ(warnings("the commit log ends with a record that is not whole; it is cut off"), 1);
    EXPECT_TRUE(log.contains("position=" + std::to_string(last.physicalOffset)));
    EXPECT_EQ(warnings(""), 1);
    EXPECT_FALSE(disk->exists("/store/commitlog/aside"));
    expectBodies(10);
}

TEST_F(MmapDamage, AfterACrashOnlyWhatCameAfterTheCheckpointIsLookedAtWhateverTheClockSaid) {
    open();
    appendMany(0, 300);
    clock.advance(std::chrono::hours(1));
    ASSERT_TRUE(store().settle());
    clock.setWallMs(clock.wallMs() - 24 * 3'600'000);
    appendMany(300, 320);
    kill();
    log.clear();
    open();
    expectBodies(320);
    EXPECT_TRUE(log.contains("records=21 ")) << log.lines().back().text;
}

TEST_F(MmapDamage, ACheckpointThatNamesWhatWasCutOffIsNotBelievedWhenSomethingElseLiesThere) {
    open();
    appendMany(0, 100);
    ASSERT_TRUE(store().settle());
    const std::int64_t cutAt = testkit::readAll(store(), "TopicTest", 0).at(50).physicalOffset;
    kill();
    overwrite(firstSegment, static_cast<std::uint64_t>(cutAt), std::string(16'384 - static_cast<std::size_t>(cutAt), '\0'));
    open();
    // As long as those that were there, so that a record begins where the checkpoint says.
    appendMany(50, 100);
    kill();
    open();
    expectBodies(100);
}

TEST_F(MmapDamage, StepsOfTheClockRefuseNothingAndKeepTheOrder) {
    open();
    int sent = 0;
    for (const std::int64_t step : {5'000, -5'000, 3'600'000, -7'200'000, 0}) {
        clock.setWallMs(clock.wallMs() + step);
        for (int i = 0; i < 20; ++i, ++sent) {
            const auto item = append("body-" + std::to_string(sent));
            ASSERT_EQ(item.status, AppendStatus::PutOk) << step;
            ASSERT_EQ(item.queueOffset, sent);
            ASSERT_EQ(item.storeTimestamp, clock.wallMs());
        }
        ASSERT_TRUE(store().settle());
    }
    EXPECT_TRUE(store().stats().writable);
    kill();
    open();
    expectBodies(100);
}

TEST_F(MmapDamage, TheAppendLockIsHeldFromWhenAnAppendGotItAndNotFromWhenTheAppendBegan) {
    open();
    appendMany(0, 3);
    append("the queue of the newest message is loaded by the start", "Other");
    close();
    resize("/store/consumequeue/TopicTest/0/notes.txt", 5);
    options.loadQueues = false;
    open();
    const auto lockedMs = [](const service::StoreStats& stats) {
        const auto found = std::find_if(stats.runtimeInfo.begin(), stats.runtimeInfo.end(),
                                        [](const auto& entry) { return entry.first == "pageCacheLockTimeMills"; });
        return found == stats.runtimeInfo.end() ? std::string("none") : found->second;
    };
    service::StoreStats writing;
    // Setting the file aside, before the lock, takes 700 ms; writing the message 50 ms.
    disk->beforeChange(1, [&] {
        clock.advance(std::chrono::milliseconds(700));
        disk->beforeChange(1, [&] {
            clock.advance(std::chrono::milliseconds(50));
            writing = store().stats();
        });
    });
    append("body-3");
    EXPECT_EQ(writing.oldestAppendMs, 750);
    EXPECT_EQ(lockedMs(writing), "50");
    EXPECT_EQ(lockedMs(store().stats()), "0");
    expectBodies(4);
}

TEST_F(MmapDamage, FilesOfADeletedTopicGoWhileAReaderHoldsItsMessages) {
    open();
    appendMany(0, 60);
    ASSERT_TRUE(store().settle());
    service::ReadResult held;
    store().read("TopicTest", 0, 10, {.messagesMax = 5}, nullptr, held);
    ASSERT_TRUE(store().deleteTopic("TopicTest"));
    EXPECT_FALSE(disk->exists("/store/consumequeue/TopicTest"));
    const Result<std::vector<FileInfo>> left = disk->list("/store/discarded");
    EXPECT_TRUE(!left || left->empty());
    const auto messages = testkit::messagesOf(held);
    ASSERT_EQ(messages.size(), 5U);
    EXPECT_EQ(messages.front().body, "body-10");
}

TEST_F(MmapDamage, AUnitThatPointsElsewhereIsPassedOverAndNamed) {
    open();
    appendMany(0, 105);
    close();
    overwrite(queueFile(400), 3 * 20 + 7, "\x01");
    open();
    service::ReadResult result;
    store().read("TopicTest", 0, 23, {}, nullptr, result);
    const auto messages = testkit::messagesOf(result);
    ASSERT_FALSE(messages.empty());
    EXPECT_EQ(messages.front().body, "body-24");
    EXPECT_EQ(warnings("a message is passed over"), 1);
    overwrite(queueFile(400), 10 * 20, std::string(20, '\0'));
    store().read("TopicTest", 0, 30, {}, nullptr, result);
    EXPECT_EQ(testkit::messagesOf(result).front().body, "body-31");
    EXPECT_EQ(warnings("a message is passed over"), 2) << "nothing is a unit that points elsewhere, too";
}

/// Every look at it takes a while.
class SlowClock final : public Clock {
public:
    [[nodiscard]] MonotonicTime now() const noexcept override {
        return MonotonicTime(std::chrono::milliseconds(ms_.fetch_add(400)));
    }
    [[nodiscard]] std::int64_t wallMs() const noexcept override { return 1'700'000'000'000; }

private:
    mutable std::atomic<std::int64_t> ms_{1};
};

TEST_F(MmapDamage, ALongRecoverySaysHowFarItIs) {
    open();
    appendMany(0, 600);
    kill();
    ASSERT_TRUE(removeTree(*disk, "/store/consumequeue/TopicTest"));
    log.clear();
    SlowClock slow;
    MmapStore store(*disk, slow, log, options);
    ASSERT_TRUE(store.open());
    EXPECT_TRUE(log.contains("looking for the end of the commit log"));
    EXPECT_TRUE(log.contains("building consume queues from the commit log"));
    EXPECT_TRUE(log.contains("percent="));
    EXPECT_TRUE(log.contains("secondsLeftAbout="));
}

TEST_F(MmapDamage, AMarkOfACrashThatCannotBeLookedAtIsNoCleanStop) {
    const testkit::TempDir dir;
    options.root = dir.path();
    {
        MmapStore store(systemFiles(), clock, log, options);
        ASSERT_TRUE(store.open());
        testkit::appendOne(store, {});
    }
    const std::string abort = dir.file("abort");
    ASSERT_EQ(::symlink(abort.c_str(), abort.c_str()), 0);
    ASSERT_FALSE(systemFiles().exists(abort)) << "it leads to itself: the disk does not say whether there is something";
    log.clear();
    MmapStore store(systemFiles(), clock, log, options);
    const Status opened = store.open();
    EXPECT_EQ(opened.code(), StatusCode::Io) << opened.toString();
    EXPECT_FALSE(log.contains("commit log recovered")) << "before anything is decided";
}

TEST_F(MmapDamage, AQueueThatCannotBeReadNowIsNotTakenForAMissingOne) {
    open();
    appendMany(0, 105);
    append("the last one is looked at by every start", "Other");
    close();
    options.loadQueues = false;
    testkit::FaultyFiles faulty(*disk);
    MmapStore store(faulty, clock, log, options);
    ASSERT_TRUE(store.open());
    faulty.failReads(Status(StatusCode::Io, "cannot read: input/output error"));
    service::ReadResult result;
    store.read("TopicTest", 0, 7, {}, nullptr, result);
    EXPECT_EQ(result.status, ReadStatus::Failed);
    EXPECT_EQ(result.nextOffset, 7);
    EXPECT_FALSE(store.offsetAt("TopicTest", 0, 0, service::Bound::Lower));
    EXPECT_EQ(store.storeTimeAt("TopicTest", 0, 3).error().code(), StatusCode::Io);
    EXPECT_EQ(testkit::appendOne(store, {.body = "x"}).status, AppendStatus::Failed);
    EXPECT_TRUE(log.contains("a consume queue cannot be read"));
    faulty.clear();
    store.read("TopicTest", 0, 7, {}, nullptr, result);
    EXPECT_EQ(result.status, ReadStatus::Found);
    EXPECT_EQ(testkit::appendOne(store, {.body = "x"}).queueOffset, 105);
}

TEST_F(MmapDamage, FlushingForOneWhoAsksSyncsTheLogAndNoQueue) {
    testkit::FaultyFiles counting(*disk);
    MmapStore store(counting, clock, log, options);
    ASSERT_TRUE(store.open());
    for (int queue = 0; queue < 40; ++queue) testkit::appendOne(store, {.queueId = queue, .body = "x"});
    const std::uint64_t before = counting.syncs();
    ASSERT_TRUE(store.flush());
    EXPECT_LE(counting.syncs() - before, 1U);
    EXPECT_EQ(store.stats().behindFlushBytes, 0);
    ASSERT_TRUE(store.flush()) << "nothing is left to do";
    EXPECT_LE(counting.syncs() - before, 1U);
}

}  // namespace

}  // namespace patchbay::mmapstore
