// Proves: command lines mean what the table says, and what is wrong with one is said in a sentence; times of people are understood.
// How: words in, Arguments or a Status out. Left to others: help and completion (help_test), what commands do (e2e).
#include "command/Arguments.h"
#include "commands/Session.h"

#include <gtest/gtest.h>

namespace patchbay::patchctl {
namespace {

Result<Arguments> parse(std::vector<std::string> words) { return Arguments::parse(words); }
std::string mistake(std::vector<std::string> words) {
    const auto parsed = parse(std::move(words));
    return parsed ? "(none)" : parsed.error().message();
}

TEST(Arguments, OptionsMayStandAnywhereAndBeSpelledEitherWay) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"topic", "create", "T", "--queues", "4", "--namesrv", "h:1"},
                                                                   {"--namesrv=h:1", "topic", "create", "--queues=4", "T"},
                                                                   {"-n", "h:1", "topic", "-q4", "create", "T"}}) {
        const auto parsed = parse(words);
        ASSERT_TRUE(parsed) << parsed.error().message();
        EXPECT_EQ(parsed->command().words, "topic create");
        EXPECT_EQ(parsed->at(0), "T");
        EXPECT_EQ(parsed->number("queues"), 4);
        EXPECT_EQ(parsed->text("namesrv"), "h:1");
    }
}

TEST(Arguments, WhatIsNotGivenHasItsDefault) {
    const auto parsed = parse({"topic", "create", "T"});
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->number("queues"), 8);
    EXPECT_FALSE(parsed->has("queues"));
    EXPECT_EQ(parsed->text("namesrv"), "127.0.0.1:9876");
    EXPECT_FALSE(parsed->dryRun());
}

TEST(Arguments, TheLastOfEqualOptionsCountsAndAllAreKept) {
    const auto parsed = parse({"--namesrv", "environment:1", "message", "send", "T", "-n", "mine:1", "-P", "a=1", "--property=b=2"});
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->text("namesrv"), "mine:1");
    EXPECT_EQ(parsed->all("property"), (std::vector<std::string>{"a=1", "b=2"}));
}

TEST(Arguments, TwoDashesEndTheOptions) {
    const auto parsed = parse({"config", "set", "--", "key", "--value"});
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->at(1), "--value");
}

TEST(Arguments, ANumberBelowNoughtIsAValue) {
    const auto parsed = parse({"config", "set", "-n", "h:1", "fileReservedTime", "-1"});
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(parsed->at(1), "-1");
}

TEST(Arguments, MistakesAreNamed) {
    EXPECT_EQ(mistake({}), "no command; 'patchctl help' lists them");
    EXPECT_EQ(mistake({"topics"}), "there is no command 'topics'; did you mean topic? 'patchctl help' lists them");
    EXPECT_EQ(mistake({"gibberish"}), "there is no command 'gibberish'; 'patchctl help' lists them");
    EXPECT_EQ(mistake({"topic", "lsit"}), "there is no command 'topic lsit'; did you mean list? 'patchctl help topic' lists them");
    EXPECT_EQ(mistake({"topic", "gibberish"}), "there is no command 'topic gibberish'; 'patchctl help topic' lists them");
    EXPECT_EQ(mistake({"topic"}), "'topic' needs one more word; 'patchctl help topic' lists them");
    EXPECT_EQ(mistake({"topic", "show"}), "TOPIC is missing: name of the topic");
    EXPECT_EQ(mistake({"topic", "show", "A", "B"}), "'topic show' takes fewer arguments, what is 'B'?");
    EXPECT_EQ(mistake({"topic", "list", "A"}), "'topic list' takes no arguments, what is 'A'?");
    EXPECT_EQ(mistake({"topic", "list", "--al"}), "'topic list' has no option --al; --help lists them");
    EXPECT_EQ(mistake({"topic", "create", "T", "--queues"}), "--queues needs a value: N");
    EXPECT_EQ(mistake({"topic", "create", "T", "--queues", "four"}), "--queues: 'four' is not a whole number");
    EXPECT_EQ(mistake({"topic", "create", "T", "--queues", "70000"}), "--queues: 70000 is outside 1 to 65536");
    EXPECT_EQ(mistake({"topic", "create", "T", "--type", "ODD"}), "--type: 'ODD' is none of: NORMAL FIFO DELAY TRANSACTION");
    EXPECT_EQ(mistake({"topic", "list", "--all=yes"}), "--all takes no value");
}

TEST(Arguments, OnlyWhatDestroysCanBeTriedDry) {
    EXPECT_TRUE(parse({"topic", "delete", "T", "--dry-run"})->dryRun());
    EXPECT_NE(mistake({"topic", "create", "T", "--dry-run"}), "(none)");
}

TEST(Arguments, WhatAsksTheWholeClusterIsNotLimited) {
    EXPECT_EQ(mistake({"route", "T", "-b", "broker-a"}), "'route' cannot be limited by --broker");
    EXPECT_EQ(mistake({"broker", "fence", "broker-a", "--cluster", "c"}), "'broker fence' cannot be limited by --cluster");
    EXPECT_NE(mistake({"group", "client", "G", "C", "-b", "broker-a"}), "(none)");
    EXPECT_EQ(mistake({"topic", "delete", "T", "-b", "broker-a"}), "(none)");
}

TEST(Arguments, HelpNeedsNoArguments) {
    const auto parsed = parse({"topic", "show", "--help"});
    ASSERT_TRUE(parsed);
    EXPECT_TRUE(parsed->helpAsked());
}

TEST(Times, OfPeopleAreUnderstood) {
    const std::int64_t now = 1'795'973'367'025;
    EXPECT_EQ(*parseTime("now", now), now);
    EXPECT_EQ(*parseTime("-10m", now), now - 600'000);
    EXPECT_EQ(*parseTime("-2d", now), now - 172'800'000);
    EXPECT_EQ(*parseTime("1795973367025", 0), now);
    EXPECT_EQ(timeText(*parseTime("2026-11-29 17:29:27", now)), "2026-11-29 17:29:27.000");
    EXPECT_EQ(timeText(*parseTime("2026-11-29T17:29", now)), "2026-11-29 17:29:00.000");
    EXPECT_EQ(timeText(*parseTime("2026-11-29", now)), "2026-11-29 00:00:00.000");
    EXPECT_EQ(timeText(*parseTime("2026-11-29 17:29:27.515", now)), "2026-11-29 17:29:27.515") << "as it is printed";
    EXPECT_EQ(timeText(*parseTime("2026-11-29T17:29:27.5", now)), "2026-11-29 17:29:27.500");
    for (const char* text : {"2026-11-31", "2026-02-29 10:00", "2026-11-29 17:29:27.", "2026-11-29 17:29:27.5150", "2026-11-29 17:29:27.x", "", "yesterday", "-10", "-10x", "2026-13-01", "2026-11-29 17", "-99999999999d", "12h"}) {
        EXPECT_FALSE(parseTime(text, now)) << text;
    }
}

TEST(Exits, TellScriptsWhatHappened) {
    EXPECT_EQ(exitOf(Status::ok()), Exit::Done);
    EXPECT_EQ(exitOf({StatusCode::NotFound, ""}), Exit::NotFound);
    EXPECT_EQ(exitOf({StatusCode::Unavailable, ""}), Exit::NoAnswer);
    EXPECT_EQ(exitOf({StatusCode::DeadlineExceeded, ""}), Exit::NoAnswer);
    EXPECT_EQ(exitOf({StatusCode::Denied, ""}), Exit::Failed);
}

}  // namespace
}  // namespace patchbay::patchctl
