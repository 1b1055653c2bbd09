// Proved: timer log and wheel are RocketMQ's byte for byte, across the ends of files; torn tails, lost wheels and changed precisions lose
// and repeat nothing; a slot that was delivered by half is left as that; old files go.
// How: files that RocketMQ 5.3.3 wrote, read and written again; the plugin on a fake kernel whose files are damaged between its lives.
// Left to others: that RocketMQ goes on with what is left here (interop).
#include "Bench.h"

#include "TimerFiles.h"

#include "patchbay/base/FileSystem.h"
#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/util/BigEndian.h"

#include <cstdlib>
#include <utility>

namespace patchbay::plugins::timer {
namespace {

using Bodies = std::vector<std::string>;
using protocol::loadI32;
using protocol::loadI64;

constexpr std::size_t kWheelBytes = 38'707'200;

/// The store "c-complex" of the recordings.
class TimerGoldenTest : public ::testing::Test {
protected:
    TimerGoldenTest() {
        const std::string command = "tar -xzf " PATCHBAY_TEST_DATA "/golden/store/c-complex.tar.gz -C " + dir_.path();
        EXPECT_EQ(std::system(command.c_str()), 0);
    }
    static std::string content(const std::string& path) {
        const auto text = systemFiles().readAll(path, 1U << 30);
        EXPECT_TRUE(text) << path;
        return text ? *text : std::string();
    }

    testkit::TempDir dir_;
    const std::string root_ = dir_.path() + "/store";
    const std::string copy_ = dir_.path() + "/copy";
};

TEST_F(TimerGoldenTest, TheLogIsReadAndWrittenAsRocketMqWritesIt) {
    TimerLog from(systemFiles(), root_ + "/timerlog", 1);
    ASSERT_TRUE(from.open());
    EXPECT_EQ(from.fileBytes(), 520'000) << "the size of its files counts";
    TimerLog to(systemFiles(), copy_ + "/timerlog", from.fileBytes());
    ASSERT_TRUE(to.open());
    ASSERT_TRUE(from.scan(0, [&to](std::int64_t position, const TimerUnit& unit) { EXPECT_EQ(to.add(unit), position); }));
    EXPECT_EQ(from.end(), 884) << "as its timercheck says";
    ASSERT_TRUE(to.write());
    EXPECT_EQ(content(copy_ + "/timerlog/00000000000000000000"), content(root_ + "/timerlog/00000000000000000000"));
}

TEST_F(TimerGoldenTest, TheWheelIsReadAndWrittenAsRocketMqWritesIt) {
    TimerWheel from(systemFiles(), root_ + "/timerwheel", 1000);
    ASSERT_TRUE(from.load(1'795'973'733'000));
    EXPECT_EQ(from.slots().size(), 11U);
    ASSERT_FALSE(from.slots().empty());
    std::filesystem::create_directories(copy_);
    TimerWheel to(systemFiles(), copy_ + "/timerwheel", 1000);
    for (const auto& [slotMs, slot] : from.slots()) to.put(slotMs, slot);
    ASSERT_TRUE(to.write());
    EXPECT_TRUE(content(copy_ + "/timerwheel") == content(root_ + "/timerwheel"));
}

class TimerLogTest : public ::testing::Test {
protected:
    static TimerUnit unit(std::int64_t number, std::int64_t previous = -1) {
        return {previous, kUnitPlain, 1'000'000, 1'005'000, number * 100, 100, 7};
    }
    std::vector<std::int64_t> scanned(TimerLog& log, std::int64_t from = 0) {
        std::vector<std::int64_t> numbers;
        const Status done = log.scan(from, [&numbers](std::int64_t, const TimerUnit& each) { numbers.push_back(each.physicalOffset / 100); });
        EXPECT_TRUE(done) << done.toString();
        return numbers;
    }
    TimerLog make(std::int64_t fileBytes) { return {systemFiles(), dir_.path() + "/timerlog", fileBytes}; }

    testkit::TempDir dir_;
};

TEST_F(TimerLogTest, AFileEndsWithABlankAsRocketMqs) {
    // 200 bytes: two units, then 96 left; a third leaves 44, too few for a unit and a blank.
    TimerLog log = make(200);
    ASSERT_TRUE(log.open());
    std::vector<std::int64_t> positions;
    for (int i = 0; i < 7; ++i) positions.push_back(log.add(unit(i, positions.empty() ? -1 : positions.back())));
    EXPECT_EQ(positions, (std::vector<std::int64_t>{0, 52, 104, 200, 252, 304, 400}));
    ASSERT_TRUE(log.write());
    ASSERT_TRUE(log.sync());
    const auto first = *systemFiles().readAll(dir_.path() + "/timerlog/00000000000000000000");
    ASSERT_EQ(first.size(), 200U);
    EXPECT_EQ(loadI32(first.data() + 156), 44) << "what is left";
    EXPECT_EQ(static_cast<std::uint32_t>(loadI32(first.data() + 156 + 12)), 0xCBD43194U);

    TimerLog again = make(999);
    ASSERT_TRUE(again.open());
    EXPECT_EQ(scanned(again), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(again.end(), 452);
    const auto chain = again.chain(400);
    ASSERT_TRUE(chain);
    EXPECT_EQ(chain->size(), 7U);
    EXPECT_EQ(chain->front().physicalOffset, 0);
    EXPECT_EQ(scanned(again, 399), (std::vector<std::int64_t>{3, 4, 5, 6})) << "from the file on that it lies in";
}

TEST_F(TimerLogTest, WhatLiesBehindTheEndIsGoneWithTheNextUnit) {
    TimerLog log = make(200);
    ASSERT_TRUE(log.open());
    for (int i = 0; i < 7; ++i) log.add(unit(i));
    ASSERT_TRUE(log.write());
    auto file = systemFiles().open(dir_.path() + "/timerlog/00000000000000000000", OpenMode::ReadWrite);
    ASSERT_TRUE((*file)->writeAt(std::string(4, 'x'), 52));
    TimerLog torn = make(200);
    ASSERT_TRUE(torn.open());
    EXPECT_EQ(scanned(torn), std::vector<std::int64_t>{0});
    EXPECT_EQ(torn.add(unit(8)), 52);
    ASSERT_TRUE(torn.write());
    TimerLog again = make(200);
    ASSERT_TRUE(again.open());
    EXPECT_EQ(scanned(again), (std::vector<std::int64_t>{0, 8}));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path() + "/timerlog"), {}), 1);
}

TEST_F(TimerLogTest, FilesGoWhenAllTheirMessagesAreGone) {
    TimerLog log = make(200);
    ASSERT_TRUE(log.open());
    for (const int number : {1, 9, 2, 3, 4, 5, 6}) log.add(unit(number));
    ASSERT_TRUE(log.write());
    ASSERT_TRUE(log.removeBelow(800));
    EXPECT_EQ(log.begin(), 0) << "one in its middle is still there";
    ASSERT_TRUE(log.removeBelow(901));
    EXPECT_EQ(log.begin(), 400) << "the last file stays";
    const auto chain = log.chain(400);
    ASSERT_TRUE(chain);
    EXPECT_EQ(chain->size(), 1U);
}

class TimerFilesTest : public TimerBench {
protected:
    TimerFilesTest() { store_.commitLog = true; }

    std::int64_t check(std::size_t index) {
        const std::string bytes = readText(path());
        return bytes.size() == 4096 ? loadI64(bytes.data() + 8 * index) : -1;
    }
    std::string file(const std::string& name) const { return dir_.path() + '/' + name; }
    /// The queue offset that RocketMQ would go on behind: that of the last unit's message.
    std::int64_t lastOffset() {
        TimerLog log(systemFiles(), file("timerlog"), 1);
        EXPECT_TRUE(log.open());
        std::int64_t last = -1;
        EXPECT_TRUE(log.scan(0, [&last](std::int64_t, const TimerUnit& unit) { last = unit.physicalOffset; }));
        for (const auto& message : stored(std::string(protocol::kTopicTimer), 0)) {
            if (message.physicalOffset == last) return message.queueOffset;
        }
        return -1;
    }
    /// What RocketMQ would deliver: the messages of all slots from the checkpoint's time on, as the log's units link them.
    Bodies left() {
        std::map<std::int64_t, std::int64_t> lasts;
        TimerLog log(systemFiles(), file("timerlog"), 1);
        EXPECT_TRUE(log.open());
        EXPECT_TRUE(log.scan(0, [&](std::int64_t position, const TimerUnit& unit) { lasts[unit.slotMs] = position; }));
        Bodies bodies;
        for (const auto& [slotMs, last] : lasts) {
            if (slotMs < check(0)) continue;
            const auto units = log.chain(last);
            EXPECT_TRUE(units);
            for (const auto& unit : *units) {
                for (const auto& message : stored(std::string(protocol::kTopicTimer), 0)) {
                    if (message.physicalOffset == unit.physicalOffset) bodies.push_back(message.body);
                }
            }
        }
        return bodies;
    }
};

TEST_F(TimerFilesTest, TheProgressNamesLogAndNextMessage) {
    start();
    sendIn(100, "a");
    sendIn(50'000, "b");
    advance(2000);
    EXPECT_EQ(check(1), 104) << "two units";
    EXPECT_EQ(check(2), 2) << "the next message";
    EXPECT_EQ(check(3), 2);
    EXPECT_EQ(check(0) % 1000, 0) << "a slot";
    EXPECT_LE(check(0), now());
    EXPECT_EQ(std::filesystem::file_size(file("timerwheel")), kWheelBytes);
}

TEST_F(TimerFilesTest, WhatWaitsLongIsNotInMemoryAndComesInTime) {
    settings_["timerPendingMax"] = "10";
    start();
    for (int i = 0; i < 100; ++i) sendIn(60'000 + i, std::to_string(i));
    EXPECT_EQ(delivered().size(), 0U);
    advance(60'000);
    EXPECT_EQ(delivered().size(), 1U);
    advance(100);
    EXPECT_EQ(delivered().size(), 100U);
    EXPECT_EQ(delivered().back(), "99");
}

TEST_F(TimerFilesTest, AStopInTheMiddleOfASlotLeavesTheRestOfIt) {
    start();
    advance(1000 - now() % 1000);
    for (const std::int64_t ms : {100, 200, 700, 800, 1500}) sendIn(ms, "m" + std::to_string(ms));
    advance(300);
    stop();
    EXPECT_EQ(delivered(), (Bodies{"m100", "m200"}));
    EXPECT_EQ(left(), (Bodies{"m700", "m800", "m1500"}));
    EXPECT_EQ(lastOffset(), 4);
    start();
    advance(500);
    stop();
    EXPECT_EQ(left(), Bodies{"m1500"});
    EXPECT_EQ(lastOffset(), 4);
    start();
    advance(5000);
    stop();
    EXPECT_EQ(left(), Bodies{});
    EXPECT_EQ(lastOffset(), 4);
    EXPECT_EQ(delivered().size(), 5U);
}

TEST_F(TimerFilesTest, ALostWheelIsMadeAnewFromTheLog) {
    for (const bool wrongSize : {false, true}) {
        start();
        const std::string body = wrongSize ? "b" : "a";
        sendIn(20'000, body);
        stop();
        std::filesystem::remove(file("timerwheel"));
        if (wrongSize) writeText(file("timerwheel"), "x");
        start();
        advance(20'000);
        EXPECT_EQ(delivered().back(), body);
        stop();
    }
    EXPECT_EQ(delivered().size(), 2U);
}

TEST_F(TimerFilesTest, ALostOrShortenedLogIsMadeAnewFromTheTopic) {
    start();
    sendIn(500, "done");
    sendIn(20'000, "a");
    sendIn(25'000, "b");
    advance(3000);
    stop();
    std::filesystem::remove_all(file("timerlog"));
    start();
    advance(17'000);
    EXPECT_EQ(delivered(), (Bodies{"done", "a"}));
    sendIn(20'000, "c");
    stop();
    // The last unit is torn, as after a power cut.
    auto log = systemFiles().open(file("timerlog/00000000000000000000"), OpenMode::ReadWrite);
    ASSERT_TRUE((*log)->writeAt(std::string(52, '\0'), static_cast<std::uint64_t>(check(1)) - 52));
    start();
    advance(20'000);
    EXPECT_EQ(delivered(), (Bodies{"done", "a", "b", "c"}));
}

TEST_F(TimerFilesTest, ThePrecisionMayChange) {
    start();
    sendIn(500, "done");
    sendIn(20'300, "a");
    sendIn(25'000, "b");
    advance(3000);
    stop();
    settings_["timerPrecisionMs"] = "100";
    start();
    sendIn(18'000, "c");
    advance(18'000);
    EXPECT_EQ(delivered(), (Bodies{"done", "a", "c"}));
    stop();
    settings_["timerPrecisionMs"] = "1000";
    start();
    advance(18'000);
    EXPECT_EQ(delivered(), (Bodies{"done", "a", "c", "b"}));
}

TEST_F(TimerFilesTest, AnotherStoreGoesOnFromTheTopicAndBack) {
    start();
    sendIn(500, "done");
    sendIn(20'000, "a");
    advance(3000);
    stop();
    store_.commitLog = false;
    start();
    sendIn(20'000, "b");
    advance(10'000);
    stop();
    store_.commitLog = true;
    start();
    advance(30'000);
    EXPECT_EQ(delivered(), (Bodies{"done", "a", "b"}));
}

TEST_F(TimerFilesTest, CountsWhatWaitsByTopic) {
    topics_.names.emplace_back("U");
    start();
    sendIn(500, "a");
    sendIn(30'000, "b");
    sendIn(31'000, "c");
    send("d", "TIMER_DELAY_SEC=40", "U");
    advance(2000);
    restart();
    const std::string text = readText(file("config/timermetrics"));
    const auto counts = json::Document::parse(text);
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->root()["timingCount"]["T"]["count"].integer(), 2);
    EXPECT_EQ(counts->root()["timingCount"]["U"]["count"].integer(), 1);
    EXPECT_GT(counts->root()["dataVersion"]["counter"].integer().value_or(0), 0);
    advance(60'000);
    stop();
    const std::string after = readText(file("config/timermetrics"));
    const auto done = json::Document::parse(after);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->root()["timingCount"]["T"]["count"].integer(), 0);
}

TEST_F(TimerFilesTest, CountsThatCannotBeWrittenHoldNothingUpAndAreWrittenLater) {
    start();
    sendIn(500, "a");
    sendIn(60'000, "b");
    // What no file can be renamed to.
    std::filesystem::remove(file("config/timermetrics"));
    std::filesystem::create_directories(file("config/timermetrics") + "/in-the-way");
    advance(30'000);
    EXPECT_EQ(delivered(), Bodies{"a"});
    EXPECT_TRUE(context_.log().contains("the counts of timed messages cannot be written"));
    EXPECT_FALSE(context_.log().contains("timer progress cannot be written"));
    std::filesystem::remove_all(file("config/timermetrics"));
    advance(12'000);
    const std::string text = readText(file("config/timermetrics"));
    const auto counts = json::Document::parse(text);
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->root()["timingCount"]["T"]["count"].integer(), 1);
}

}  // namespace
}  // namespace patchbay::plugins::timer
