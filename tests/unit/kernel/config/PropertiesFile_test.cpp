// Proves: properties files are read as java.util.Properties reads them, every entry knows its line, and what is not an entry is
// reported with its line. How: texts in memory. Left to others: which keys exist and what their values mean.
#include "config/PropertiesFile.h"

#include <gtest/gtest.h>

namespace patchbay::kernel {
namespace {

struct Parsed {
    PropertiesFile file;
    Problems problems;
};

Parsed parse(std::string_view text) {
    Parsed out;
    out.file = PropertiesFile::parse("b.conf", text, out.problems);
    return out;
}

void expectOne(std::string_view text, std::string_view key, std::string_view value, int line = 1) {
    const auto parsed = parse(text);
    EXPECT_TRUE(parsed.problems.empty()) << parsed.problems.toString();
    ASSERT_EQ(parsed.file.entries().size(), 1U) << text;
    EXPECT_EQ(parsed.file.entries()[0].key, key);
    EXPECT_EQ(parsed.file.entries()[0].value, value);
    EXPECT_EQ(parsed.file.entries()[0].line, line);
}

TEST(PropertiesFile, TakesAllThreeSeparatorsOfJava) {
    expectOne("brokerIP1=10.0.0.5", "brokerIP1", "10.0.0.5");
    expectOne("brokerIP1:10.0.0.5", "brokerIP1", "10.0.0.5");
    expectOne("brokerIP1 10.0.0.5", "brokerIP1", "10.0.0.5");
    expectOne("  brokerIP1 \t= \t10.0.0.5  \t", "brokerIP1", "10.0.0.5");
    expectOne("a==b", "a", "=b");
}

TEST(PropertiesFile, TakesCarriageReturnsAndAByteOrderMark) {
    expectOne("\xEF\xBB\xBF# first\r\nlistenPort = 1\r\n", "listenPort", "1", 2);
    expectOne("\r\n\rlistenPort=1", "listenPort", "1", 3);
}

TEST(PropertiesFile, SkipsCommentsAndEmptyLinesButCountsThem) {
    expectOne("# a\n! b\n\n   \n  # c = d\nkey = 1\n", "key", "1", 6);
}

TEST(PropertiesFile, JoinsContinuedLinesAtTheirFirstLine) {
    expectOne("\nlevels = 1s 5s \\\n    10s\n", "levels", "1s 5s 10s", 2);
    expectOne("a = b\\\\", "a", "b\\");
    expectOne("a = b\\", "a", "b");
}

TEST(PropertiesFile, UndoesEscapes) {
    expectOne("a\\ b\\=c = \\u00e9\\t\\#x\\:", "a b=c", "\xC3\xA9\t#x:");
    expectOne("p = C:\\\\store", "p", "C:\\store");
}

TEST(PropertiesFile, MarksACommentBehindAValue) {
    const auto parsed = parse("brokerIP1=10.0.0.5 #note\nb = x#y\nc = x \\#y\n");
    ASSERT_EQ(parsed.file.entries().size(), 3U);
    EXPECT_TRUE(parsed.file.entries()[0].trailingComment);
    EXPECT_FALSE(parsed.file.entries()[1].trailingComment);
    EXPECT_FALSE(parsed.file.entries()[2].trailingComment);
    EXPECT_EQ(parsed.file.entries()[2].value, "x #y");
}

TEST(PropertiesFile, KeepsAnEmptyValueAndBothOfTwoEqualKeys) {
    const auto parsed = parse("brokerIP1= \na=1\na=2\n");
    ASSERT_EQ(parsed.file.entries().size(), 3U);
    EXPECT_EQ(parsed.file.entries()[0].value, "");
    EXPECT_EQ(parsed.file.entries()[2].line, 3);
}

TEST(PropertiesFile, ReportsWhatIsNoEntryWithItsLineAndReadsOn) {
    const auto parsed = parse("one\n= two\nbad = \\u12\nnul = a\x01z\ngood = 1\n");
    ASSERT_EQ(parsed.problems.size(), 4U) << parsed.problems.toString();
    EXPECT_EQ(parsed.problems.list()[0].toString(), "PB-1201 b.conf:1: not of the form key = value: 'one'");
    EXPECT_EQ(parsed.problems.list()[1].where, "b.conf:2");
    EXPECT_EQ(parsed.problems.list()[2].where, "b.conf:3");
    EXPECT_EQ(parsed.problems.list()[3].where, "b.conf:4");
    ASSERT_EQ(parsed.file.entries().size(), 1U);
    EXPECT_EQ(parsed.file.entries()[0].key, "good");
}

TEST(PropertiesFile, ReadsBackWhatItEscapes) {
    for (const std::string text : {" a b ", "x = y : z", "#c", "!c", "back\\slash", "tab\tline\nend\r\f", "\xC3\xA9", "a #b"}) {
        const auto line = PropertiesFile::escape(text, true) + " = " + PropertiesFile::escape(text, false);
        expectOne(line, text, text);
        EXPECT_FALSE(parse(line).file.entries()[0].trailingComment) << line;
    }
}

}  // namespace
}  // namespace patchbay::kernel
