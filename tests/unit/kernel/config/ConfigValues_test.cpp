// Proves: text becomes values by the rules of each type, the nearer source wins, and every wrong value is reported with place and
// value. How: small key tables. Left to others: reading files (PropertiesFile), unknown keys (KeyCheck).
#include "config/ConfigValues.h"

#include <gtest/gtest.h>

namespace patchbay::kernel {
namespace {

using plugin::ConfigKey;
using plugin::ConfigType;

constexpr ConfigKey kTable[] = {
    {"name", ConfigType::Text, "x", "A word."},
    {"mode", ConfigType::Text, "ASYNC", "A choice.", 0, 0, 0, "", "ASYNC SYNC"},
    {"on", ConfigType::Bool, "true", "A switch."},
    {"port", ConfigType::Int, "10", "A number.", 0, 1, 65535, "oldPort thePort"},
    {"ratio", ConfigType::Double, "0.5", "A ratio."},
    {"size", ConfigType::Bytes, "4M", "A size."},
    {"wait", ConfigType::Millis, "3000", "A time.", 0, 0, 60'000},
    {"dir", ConfigType::Path, "data", "A place."},
};

Assignment say(std::string key, std::string value, Origin origin = Origin::MainFile, std::string where = "b.conf:7") {
    return {std::move(key), std::move(value), std::move(where), "/etc/patchbay", origin, false};
}

ConfigValues resolve(std::vector<Assignment> assignments, Problems& problems) {
    return ConfigValues::resolve(kTable, assignments, "/store", "test", problems);
}

std::string problemOf(std::string key, std::string value) {
    Problems problems;
    (void)resolve({say(std::move(key), std::move(value))}, problems);
    return problems.size() == 1 ? problems.list()[0].toString() : "problems: " + problems.toString();
}

TEST(ConfigValues, HasDefaultsWhereNothingIsSet) {
    Problems problems;
    const auto values = resolve({}, problems);
    EXPECT_TRUE(problems.empty()) << problems.toString();
    EXPECT_EQ(values.text("name"), "x");
    EXPECT_TRUE(values.flag("on"));
    EXPECT_EQ(values.integer("size"), 4 << 20);
    EXPECT_EQ(values.millis("wait").count(), 3000);
    EXPECT_EQ(values.text("dir"), "/store/data");
    EXPECT_DOUBLE_EQ(values.number("ratio"), 0.5);
    EXPECT_FALSE(values.isSet("port"));
}

TEST(ConfigValues, ReadsUnitsSwitchesAndPaths) {
    Problems problems;
    const auto values = resolve({say("size", "2g"), say("wait", "30 s"), say("on", "FALSE"), say("dir", "../d"), say("port", "+80")}, problems);
    EXPECT_TRUE(problems.empty()) << problems.toString();
    EXPECT_EQ(values.integer("size"), std::int64_t{2} << 30);
    EXPECT_EQ(values.integer("wait"), 30'000);
    EXPECT_FALSE(values.flag("on"));
    EXPECT_EQ(values.text("dir"), "/etc/d");
    EXPECT_EQ(values.integer("port"), 80);
    EXPECT_TRUE(values.isSet("port"));
}

TEST(ConfigValues, ReportsPlaceKeyAndValue) {
    EXPECT_EQ(problemOf("port", "80x"), "PB-1205 b.conf:7: port: '80x' is not an integer");
    EXPECT_EQ(problemOf("port", ""), "PB-1205 b.conf:7: port: '' is not an integer");
    EXPECT_EQ(problemOf("port", "0"), "PB-1206 b.conf:7: port: '0' is out of range (1 to 65535)");
    EXPECT_EQ(problemOf("port", "99999999999999999999"), "PB-1205 b.conf:7: port: '99999999999999999999' is not an integer");
    EXPECT_EQ(problemOf("on", "yes"), "PB-1205 b.conf:7: on: 'yes' is neither true nor false");
    EXPECT_EQ(problemOf("mode", "sync"), "PB-1207 b.conf:7: mode: 'sync' is none of: ASYNC, SYNC");
    EXPECT_EQ(problemOf("ratio", "half"), "PB-1205 b.conf:7: ratio: 'half' is not a number");
    EXPECT_EQ(problemOf("wait", "2h"), "PB-1206 b.conf:7: wait: '2h' is out of range (0 to 60000)");
    EXPECT_NE(problemOf("size", "9999999999G").find("PB-1205"), std::string::npos);
    EXPECT_NE(problemOf("name", "a\nb").find("line breaks"), std::string::npos);
}

TEST(ConfigValues, TakesTheNearerSourceWhateverTheOrder) {
    Problems problems;
    const auto values = resolve({say("port", "5", Origin::CommandLine, "-D"), say("oldPort", "3", Origin::PluginFile, "30-p.conf:1"),
                                 say("port", "4", Origin::MainFile), say("thePort", "6", Origin::RunTime, "r")},
                                problems);
    EXPECT_TRUE(problems.empty()) << problems.toString();
    EXPECT_EQ(values.integer("port"), 5);
    EXPECT_EQ(values.find("oldPort")->value.where, "-D");
}

TEST(ConfigValues, SeesAnAliasAndItsNameInOneFileAsADuplicate) {
    Problems problems;
    (void)resolve({say("port", "5", Origin::MainFile, "b.conf:1"), say("oldPort", "6", Origin::MainFile, "b.conf:9")}, problems);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems.list()[0].toString(), "PB-1204 b.conf:9: oldPort sets port, which b.conf:1 sets already");
}

TEST(ConfigValues, ReportsATableThatContradictsItself) {
    constexpr ConfigKey table[] = {{"a", ConfigType::Int, "ten", "Bad default."}, {"b", ConfigType::Int, "1", ""}, {"b", ConfigType::Int, "1", ""}};
    Problems problems;
    (void)ConfigValues::resolve(table, {}, "/", "plugin p", problems);
    ASSERT_EQ(problems.size(), 2U) << problems.toString();
    EXPECT_EQ(problems.list()[0].number, ErrorNumber::PluginKeyTable);
    EXPECT_EQ(problems.list()[1].number, ErrorNumber::PluginKeyTable);
}

TEST(ConfigValuesDeathTest, AbortsForAKeyThatWasNotDeclared) {
    Problems problems;
    const auto values = resolve({}, problems);
    EXPECT_DEATH((void)values.text("nothing"), "did not declare");
    EXPECT_DEATH((void)values.integer("name"), "assertion failed");
}

}  // namespace
}  // namespace patchbay::kernel
