// Proves: levels by path, drop-oldest with a count, rate limiting, quoting, and that log.conf is checked.
// How: a file in a temporary folder, a clock of the test's own. Left to others: what spdlog itself does (rotation).
#include "log/LogSystem.h"
#include "log/RateLimit.h"
#include "log/StandardErrorSink.h"

#include "patchbay/base/FileSystem.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::kernel {
namespace {

using plugin::LogLevel;

class StillClock final : public Clock {
public:
    [[nodiscard]] MonotonicTime now() const noexcept override { return time; }
    [[nodiscard]] std::int64_t wallMs() const noexcept override { return 0; }
    MonotonicTime time{std::chrono::hours(1)};
};

class LogTest : public ::testing::Test {
protected:
    LogTest() : folder_(std::filesystem::temp_directory_path() / ("patchbay-log." + std::to_string(getpid()))) {
        std::filesystem::create_directories(folder_);
        settings_.file = (folder_ / "broker.log").string();
    }
    ~LogTest() override { std::filesystem::remove_all(folder_); }

    std::unique_ptr<LogSystem> open() {
        auto log = LogSystem::open(settings_, clock_);
        EXPECT_TRUE(log) << log.error().toString();
        return log ? std::move(*log) : nullptr;
    }
    [[nodiscard]] std::string text() const {
        std::ifstream file(settings_.file);
        std::ostringstream all;
        all << file.rdbuf();
        return all.str();
    }
    LogSettings readSettings(const std::string& content, Problems& problems) {
        const auto path = (folder_ / "log.conf").string();
        std::ofstream(path) << content;
        return LogSettings::read(systemFiles(), path, problems);
    }

    const std::filesystem::path folder_;
    LogSettings settings_;
    StillClock clock_;
};

TEST_F(LogTest, WritesLevelPathAndPairsOnOneLine) {
    auto log = open();
    log->logger("plugin.pull").warn("a message", {{"topic", "t 1"}, {"bytes", 12}});
    log->flush();
    const auto all = text();
    EXPECT_NE(all.find(" W plugin.pull a message topic=\"t 1\" bytes=12\n"), std::string::npos) << all;
}

TEST_F(LogTest, WritesToAFileOfItsNameAgainAfterItWasMovedAway) {
    auto log = open();
    auto& logger = log->logger("kernel.app");
    logger.info("before");
    log->flush();
    std::filesystem::rename(settings_.file, settings_.file + ".1");
    log->reopen();
    logger.info("after");
    log->flush();
    EXPECT_EQ(text().find("before"), std::string::npos) << text();
    EXPECT_NE(text().find("after"), std::string::npos) << text();
    // Nothing is lost where it cannot be opened.
    std::filesystem::remove(settings_.file);
    std::filesystem::create_directory(settings_.file);
    log->reopen();
    logger.info("still there");
    log->flush();
}

TEST_F(LogTest, DecidesLevelsByTheLongestPath) {
    settings_.levels = {{"kernel", LogLevel::Warn}, {"kernel.net", LogLevel::Debug}};
    auto log = open();
    EXPECT_FALSE(log->logger("kernel.plugin").enabled(LogLevel::Info));
    EXPECT_TRUE(log->logger("kernel.net.tls").enabled(LogLevel::Debug));
    EXPECT_FALSE(log->logger("kernel.network").enabled(LogLevel::Info));
    EXPECT_TRUE(log->logger("plugin.send").enabled(LogLevel::Info));
    EXPECT_FALSE(log->logger("plugin.send").enabled(LogLevel::Debug));
}

TEST_F(LogTest, ChangesLevelsOfLoggersThatExist) {
    auto log = open();
    auto& logger = log->logger("plugin.send");
    LogSettings next = settings_;
    next.levels["plugin"] = LogLevel::Trace;
    log->setLevels(next);
    EXPECT_TRUE(logger.enabled(LogLevel::Trace));
}

TEST_F(LogTest, WritesWhatIsQueuedBeforeItEnds) {
    auto log = open();
    for (int i = 0; i < 500; ++i) log->logger("a").info("line", {{"i", i}});
    log.reset();
    EXPECT_NE(text().find("line i=499\n"), std::string::npos);
}

TEST_F(LogTest, DropsTheOldestLinesAndSaysHowMany) {
    settings_.queueLines = 16;
    auto log = open();
    auto& logger = log->logger("a");
    for (int round = 0; round < 200 && log->dropped() == 0; ++round) {
        for (int i = 0; i < 5'000; ++i) logger.info("line");
    }
    ASSERT_GT(log->dropped(), 0U);
    logger.info("the last line");
    log->flush();
    log.reset();
    const auto all = text();
    EXPECT_NE(all.find("the last line\n"), std::string::npos);
    EXPECT_NE(all.find("W kernel.log log lines were dropped count="), std::string::npos);
}

TEST_F(LogTest, DropsTheOldestLinesWhenTheyAreTooLongTogether) {
    settings_.queueBytes = 64U << 10;
    auto log = open();
    auto& logger = log->logger("a");
    const std::string text(8'000, 'x');
    for (int round = 0; round < 2'000 && log->dropped() == 0; ++round) {
        for (int i = 0; i < 100; ++i) logger.info(text);
    }
    EXPECT_GT(log->dropped(), 0U);
}

/// A pipe whose ends close with it.
struct Pipe {
    Pipe() { EXPECT_EQ(pipe(ends), 0); }
    ~Pipe() {
        close(ends[0]);
        close(ends[1]);
    }
    int ends[2] = {-1, -1};
};

spdlog::details::log_msg lineOf(const std::string& text) {
    return {spdlog::string_view_t("a"), spdlog::level::info, spdlog::string_view_t(text.data(), text.size())};
}

TEST(StandardErrorSink, LosesLinesThatNobodyReadsInsteadOfWaiting) {
    Pipe pipe;
    StandardErrorSink sink(pipe.ends[1]);
    sink.set_pattern("%v");
    sink.hurry();
    const std::string text(1'000, 'x');
    for (int i = 0; i < 200; ++i) sink.log(lineOf(text));
    const auto lost = sink.lost();
    EXPECT_GT(lost, 100U) << "a pipe holds 64 KB";
    std::string all(1U << 20, '\0');
    const auto count = read(pipe.ends[0], all.data(), all.size());
    ASSERT_GT(count, 0);
    sink.log(lineOf("afterwards"));
    EXPECT_EQ(sink.lost(), lost) << "there is room again";
    all.resize(static_cast<std::size_t>(read(pipe.ends[0], all.data(), all.size())));
    EXPECT_NE(all.find("afterwards\n"), std::string::npos);
}

TEST(LogFieldTest, LetsNoControlCharacterOfAPeerThrough) {
    const auto written = [](std::string_view value) {
        std::string out;
        plugin::LogField("k", value).appendTo(out);
        return out;
    };
    EXPECT_EQ(written("plain"), " k=plain");
    EXPECT_EQ(written("a\nb"), " k=\"a\\x0ab\"");
    EXPECT_EQ(written("\x7F"), " k=\"\\x7f\"");
    EXPECT_EQ(written("\xC2\x9B" "1m"), " k=\"\\xc2\\x9b1m\"") << "U+009B begins an escape sequence";
    EXPECT_EQ(written("\xC3\x9B"), " k=\xC3\x9B") << "a letter";
}

TEST(LogFieldTest, LetsNothingThroughThatIsNoUtf8) {
    const auto shown = [](std::string_view text) {
        std::string out;
        plugin::LogField("k", text).appendTo(out);
        return out;
    };
    EXPECT_EQ(shown("größe"), " k=größe");
    EXPECT_EQ(shown("\xF0\x9F\x93\xA6"), " k=\xF0\x9F\x93\xA6") << "a character of four bytes";
    EXPECT_EQ(shown("a\xFF\xFE"), " k=\"a\\xff\\xfe\"");
    EXPECT_EQ(shown("\xC3"), " k=\"\\xc3\"") << "half a character";
    EXPECT_EQ(shown("\xC3(ö"), " k=\"\\xc3(ö\"") << "what follows it is not lost";
    EXPECT_EQ(shown("\xC0\xAF"), " k=\"\\xc0\\xaf\"") << "overlong";
    EXPECT_EQ(shown("\xE0\x80\xAF"), " k=\"\\xe0\\x80\\xaf\"") << "overlong";
    EXPECT_EQ(shown("\xED\xA0\x80"), " k=\"\\xed\\xa0\\x80\"") << "half of a pair";
    EXPECT_EQ(shown("\xF4\x90\x80\x80"), " k=\"\\xf4\\x90\\x80\\x80\"") << "beyond the last character";
    EXPECT_EQ(shown("\xC2\x9B"), " k=\"\\xc2\\x9b\"") << "a control";
    // A text that is cut is cut between characters.
    std::string large(1023, 'x');
    large += "ö and more";
    EXPECT_EQ(shown(large), " k=" + std::string(1023, 'x') + "…(" + std::to_string(large.size()) + " bytes)");
    EXPECT_EQ(shown(std::string(1022, 'x') + "ö!"), " k=" + std::string(1022, 'x') + "ö…(1025 bytes)");
    EXPECT_EQ(shown(std::string(1025, '\xBF')).substr(0, 8), " k=\"\\xbf");
}

TEST_F(LogTest, EscapesWhatIsNoTextInMessagesToo) {
    auto log = open();
    log->logger("kernel.net").warn("a client \xFF sent\n[error] nonsense", {});
    log->flush();
    EXPECT_NE(text().find("a client \\xff sent\\x0a[error] nonsense\n"), std::string::npos) << text();
}

TEST_F(LogTest, LimitsRepeatedLinesAndCountsThoseItHid) {
    auto log = open();
    auto& logger = log->logger("kernel.net");
    for (int i = 0; i < 5; ++i) logger.limited(LogLevel::Warn, "bad frame", {{"peer", i}});
    clock_.time += std::chrono::seconds(10);
    logger.limited(LogLevel::Warn, "bad frame", {{"peer", 9}});
    log->flush();
    const auto all = text();
    EXPECT_NE(all.find("bad frame peer=0\n"), std::string::npos);
    EXPECT_EQ(all.find("peer=1"), std::string::npos);
    EXPECT_NE(all.find("bad frame peer=9 hidden=4\n"), std::string::npos) << all;
}

TEST_F(LogTest, RefusesAFileThatCannotBeOpened) {
    settings_.file = (folder_ / "missing").string();
    std::filesystem::create_directories(settings_.file);
    EXPECT_FALSE(LogSystem::open(settings_, clock_));
}

TEST_F(LogTest, DoesNotWaitForAReaderOfAPipe) {
    ASSERT_EQ(::mkfifo(settings_.file.c_str(), 0600), 0);
    const auto log = LogSystem::open(settings_, clock_);
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().message(), "log file " + settings_.file + ": it is a pipe that nobody reads");
}

TEST_F(LogTest, ReadsLogConf) {
    Problems problems;
    const auto read = readSettings("level = warn\nlevel.plugin.pull = debug\nfile = logs/a.log\nfileBytesMax = 1M\n", problems);
    EXPECT_TRUE(problems.empty()) << problems.toString();
    EXPECT_EQ(read.level, LogLevel::Warn);
    EXPECT_EQ(read.levelOf("plugin.pull.hold"), LogLevel::Debug);
    EXPECT_EQ(read.file, (folder_ / "logs/a.log").string());
    EXPECT_EQ(read.fileBytesMax, 1U << 20);
}

TEST_F(LogTest, RefusesAWrongLogConfWithItsLines) {
    Problems problems;
    (void)readSettings("level = loud\nlevel.x = quiet\nfiel = a\nfileCount = -1\nfileCount = 2\n", problems);
    ASSERT_EQ(problems.size(), 5U) << problems.toString();
    for (const auto& problem : problems.list()) EXPECT_NE(problem.where.find("log.conf:"), std::string::npos) << problem.toString();
}

TEST(RateLimit, ForgetsTheQuietestTextWhenThereAreTooMany) {
    RateLimit limit;
    MonotonicTime now{std::chrono::hours(1)};
    std::uint64_t hidden = 0;
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(limit.admit("text " + std::to_string(i), now, hidden)) << i;
        now += std::chrono::milliseconds(1);
    }
    EXPECT_FALSE(limit.admit("text 99", now, hidden));
    EXPECT_TRUE(limit.admit("text 0", now, hidden));
}

}  // namespace
}  // namespace patchbay::kernel
