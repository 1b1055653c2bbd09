// Proved: what is wrong with a selector is said with its place, whatever it is; limits hold; long and deep ones cost no thread's stack.
// How: the compiler alone.
// Left to others: what selectors mean (Recorded_test), arbitrary bytes (fuzz).
#include "Compiler.h"

#include <gtest/gtest.h>
#include <string>

namespace patchbay::plugins::filter {
namespace {

std::string problemOf(std::string_view selector) {
    const auto compiled = Compiler::compile(selector);
    return compiled ? std::string() : compiled.error().message();
}

bool matches(std::string_view selector, std::string_view properties) {
    const auto compiled = Compiler::compile(selector);
    EXPECT_TRUE(compiled) << selector;
    return compiled && compiled->program->matches(properties);
}

std::string repeated(std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

TEST(Compiler, NamesTheFaultAndItsPlace) {
    EXPECT_EQ(problemOf(""), "a property or a value is missing, at the end");
    EXPECT_EQ(problemOf("a > "), "a property or a value is missing, at the end");
    EXPECT_EQ(problemOf("a > AND"), "a property or a value is missing, at byte 5: AND");
    EXPECT_EQ(problemOf("(a > 5"), ") is missing, at the end");
    EXPECT_EQ(problemOf("a IN (5)"), "a text in single quotes is missing, at byte 7: 5");
    EXPECT_EQ(problemOf("a NOT = 5"), "after NOT there must be IN, BETWEEN, CONTAINS, STARTSWITH or ENDSWITH, at byte 7: =");
    EXPECT_EQ(problemOf("a = NULL"), "NULL cannot be compared; write IS NULL, at the end");
    EXPECT_EQ(problemOf("a > 'x'"), "only numbers and properties have an order, at the end");
    EXPECT_EQ(problemOf("a BETWEEN 5 AND 1"), "the bounds of BETWEEN are the wrong way round, at the end");
    EXPECT_EQ(problemOf("a = 0.0"), "the number is too small; write 0 instead of 0.0, at byte 5: 0.0");
    EXPECT_EQ(problemOf("a = 5 #"), "this means nothing, at byte 7");
    EXPECT_EQ(problemOf("5"), "what stands before this is no condition, at the end");
}

TEST(Compiler, AForeignByteIsNotPutIntoTheAnswer) {
    EXPECT_EQ(problemOf("\xFF = 5"), "a property or a value is missing, at byte 1");
    EXPECT_EQ(problemOf("a IN ('\xFF'\xFE"), "a comma or ) is missing, at byte 10");
}

TEST(Compiler, SaysWhatItIgnores) {
    const std::string selector = "a = 'x' LIKE 'y'";
    const auto compiled = Compiler::compile(selector);
    ASSERT_TRUE(compiled);
    EXPECT_EQ(compiled->ignored, "LIKE 'y'");
}

TEST(Compiler, LongChainsNeedNoDepth) {
    EXPECT_TRUE(matches("a = 'x'" + repeated(" AND a = 'x'", 5000), "a\1x\2"));
    EXPECT_FALSE(matches("a = 'y'" + repeated(" OR a = 'z'", 5000), "a\1x\2"));
    EXPECT_FALSE(matches("a" + repeated(" = a", 5000), "a\1x\2")) << "a text and a truth value";
}

TEST(Compiler, DepthIsBounded) {
    const int most = static_cast<int>(Compiler::kNestingMax) - 1;
    EXPECT_TRUE(matches(repeated("(", most) + "a = 'x'" + repeated(")", most), "a\1x\2"));
    EXPECT_EQ(problemOf(repeated("(", most + 1) + "a = 'x'" + repeated(")", most + 1)), "it is nested too deeply, at byte 201: a");
    EXPECT_NE(problemOf(repeated("NOT ", 100'000) + "a"), "");
    EXPECT_NE(problemOf("a = " + repeated("-", 100'000) + "1"), "");
    // Each bracket leaves three values waiting: a, its text, and what comes.
    EXPECT_NE(problemOf(repeated("TRUE OR a = 'x' AND b = (", 150) + "TRUE" + repeated(")", 150)), "");
}

TEST(Compiler, AnyNumberOfPropertiesIsServed) {
    std::string selector = "p0 = '0'";
    std::string properties;
    for (int i = 0; i < 40; ++i) {
        const std::string number = std::to_string(i);
        selector += " AND p" + number + " = '" + number + "'";
        properties += "p" + number + "\1" + number + "\2";
    }
    EXPECT_TRUE(matches(selector, properties));
    EXPECT_FALSE(matches(selector + " AND p39 = '38'", properties));
    EXPECT_FALSE(matches(selector + " AND p40 IS NOT NULL", properties));
}

TEST(Compiler, ReadsPropertiesAsEverybodyElse) {
    EXPECT_TRUE(matches("a = '2'", "a\1" "1\2a\1" "2\2")) << "the last one counts";
    EXPECT_TRUE(matches("a IS NULL", "a\1\2b\1a\1" "5\2aa\1" "1\2a")) << "entries without a value are none";
    EXPECT_TRUE(matches("a = '1'", "b\1" "2\2a\1" "1")) << "the last separator may be missing";
    EXPECT_TRUE(matches("a = 'x\1y'", "a\1x\1y\2")) << "a value may hold the separator of names";
    EXPECT_TRUE(matches("a IS NULL", ""));
}

}  // namespace
}  // namespace patchbay::plugins::filter
