// Proves that properties are read as Java reads them, also where the text is odd, and written as Java writes them.
// How: hand-made texts with missing, doubled and empty parts.
// Left to others: properties that Java wrote (GoldenRecords_test), arbitrary text (tests/fuzz/properties_fuzz.cpp).
#include "patchbay/protocol/message/Properties.h"

#include <gtest/gtest.h>

#include <string>

namespace patchbay::protocol {
namespace {

/// Writes | for the end of a name and ; for the end of a property.
std::string text(std::string readable) {
    for (char& c : readable) {
        if (c == '|') c = kPropertyNameEnd;
        if (c == ';') c = kPropertyEnd;
    }
    return readable;
}

std::string readBack(const std::string& readable) {
    const std::string properties = text(readable);
    PropertyReader reader(properties);
    std::string out;
    std::string_view name;
    std::string_view value;
    while (reader.next(name, value))
        out.append(name).append("=").append(value).append(" ");
    return out;
}

TEST(Properties, AreReadInOrder) {
    EXPECT_EQ(readBack("a|1;b|2;"), "a=1 b=2 ");
}
TEST(Properties, MayLackTheLastSeparator) {
    EXPECT_EQ(readBack("a|1;b|2"), "a=1 b=2 ");
}
TEST(Properties, WithoutAValueDoNotExist) {
    EXPECT_EQ(readBack("a|;b|2;"), "b=2 ");
}
TEST(Properties, WithoutANameDoNotExist) {
    EXPECT_EQ(readBack("|x;b|2;"), "b=2 ");
}
TEST(Properties, WithoutTheMarkDoNotExist) {
    EXPECT_EQ(readBack("abc;b|2;xyz"), "b=2 ");
}
TEST(Properties, AreDividedAtTheFirstMark) {
    EXPECT_EQ(readBack("a|1|2;"), text("a=1|2 "));
}
TEST(Properties, OfOnlySeparatorsAreNone) {
    EXPECT_EQ(readBack(";;;|;;"), "");
}
TEST(Properties, OfNothingAreNone) {
    EXPECT_EQ(readBack(""), "");
}

TEST(Properties, LastOfSeveralCounts) {
    EXPECT_EQ(findProperty(text("a|1;b|2;a|3;"), "a"), "3");
    EXPECT_EQ(findProperty(text("a|1;a|;"), "a"), "1") << "an empty value is none at all";
    EXPECT_EQ(findProperty(text("a|1;"), "A"), "");
}

TEST(Properties, AppendAddsTheSeparatorThatIsMissing) {
    std::string properties = text("a|1");
    appendProperty(properties, "b", "2");
    EXPECT_EQ(properties, text("a|1;b|2;"));
    appendProperty(properties, "c", "3");
    EXPECT_EQ(properties, text("a|1;b|2;c|3;"));
    std::string fresh;
    appendProperty(fresh, "b", "2");
    EXPECT_EQ(fresh.size(), propertyBytes("b", "2"));
}

TEST(Properties, RemovalLeavesTheRestAsItIs) {
    EXPECT_EQ(withoutProperty(text("a|1;WAIT|true;b|2"), "WAIT"), text("a|1;b|2"));
    EXPECT_EQ(withoutProperty(text("WAIT|true;a|1;WAIT|false;"), "WAIT"), text("a|1;"));
    EXPECT_EQ(withoutProperty(text("WAITS|1;x;a|WAIT|1;"), "WAIT"), text("WAITS|1;x;a|WAIT|1;"));
    EXPECT_EQ(withoutProperty(text("a|1;WAIT|true"), "WAIT"), text("a|1;"));
}

TEST(Properties, CanBeChangedAndWrittenAgain) {
    Properties properties(text("TAGS|a;KEYS|k;TAGS|b"));
    EXPECT_EQ(properties.get("TAGS"), "b");
    EXPECT_FALSE(properties.has("DELAY"));
    properties.set("DELAY", "3");
    properties.set("KEYS", "k2");
    properties.remove("TAGS");
    EXPECT_EQ(properties.encode(), text("KEYS|k2;DELAY|3;"));
    properties.set("KEYS", "");
    EXPECT_EQ(properties.encode(), text("DELAY|3;"));
}

}  // namespace
}  // namespace patchbay::protocol
