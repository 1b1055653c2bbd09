// Proved: messageDelayLevel is read as RocketMQ reads it, and what is no level table is refused by name.
// How: texts that an operator could write.
// Left to others: what is done with the levels (rewrite_test, delivery_test).
#include "DelayConfig.h"

#include "patchbay/protocol/message/DelayLevels.h"

#include <gtest/gtest.h>

namespace patchbay::plugins::delay {
namespace {

using protocol::DelayLevels;

TEST(DelayLevels, AreCountedFromOneInTheOrderOfTheText) {
    const auto levels = DelayLevels::parse("1s 5s  10m 2h 1d");
    ASSERT_TRUE(levels) << levels.error().message();
    EXPECT_EQ(levels->max(), 5);
    EXPECT_EQ(levels->delayMs(1), 1000);
    EXPECT_EQ(levels->delayMs(3), 600'000);
    EXPECT_EQ(levels->delayMs(4), 7'200'000);
    EXPECT_EQ(levels->delayMs(5), 86'400'000);
    EXPECT_EQ(levels->delayMs(6), 86'400'000) << "beyond the last waits as long as the last";
}

TEST(DelayLevels, SayWhenAStoredMessageIsDue) {
    const auto levels = DelayLevels::parse("1s 5s");
    ASSERT_TRUE(levels);
    EXPECT_EQ(levels->dueMs("TAGS\1a\2DELAY\0012\2", 100), 5100);
    EXPECT_EQ(levels->dueMs("DELAY\0019\2", 100), 5100) << "there were more levels once";
    for (const std::string_view none : {"", "DELAY\1\2", "DELAY\0010\2", "DELAY\001-1\2", "TAGS\1a\2"}) EXPECT_FALSE(levels->dueMs(none, 100)) << none;
}

TEST(DelayLevels, TextsThatAreNoLevelsAreRefusedByName) {
    for (const char* text : {"", "  ", "1s x", "1s 5", "s", "0s", "-1s", "1.5s", "99999999999999d", "1s5s"}) {
        EXPECT_FALSE(DelayLevels::parse(text)) << text;
    }
    EXPECT_NE(DelayLevels::parse("1s 5 10s").error().message().find("\"5\""), std::string::npos);
}

TEST(DelayConfig, LevelsAreNotChangedWhileMessagesWaitByThem) {
    for (const auto& key : DelayConfig::keys()) EXPECT_EQ(key.flags & plugin::kReloadable, 0) << key.name;
}

}  // namespace
}  // namespace patchbay::plugins::delay
