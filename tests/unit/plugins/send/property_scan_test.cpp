// Proves: what one pass over a message's properties finds, and when the text has to be rebuilt.
// How: texts as clients write them, good and bad.
// Left to others: what becomes of a message (send_test), the property text itself (protocol tests).
#include "PropertyScan.h"

#include <gtest/gtest.h>

namespace patchbay::plugins::send {
namespace {

using namespace std::string_literals;

TEST(PropertyScan, FindsWhatTheSendPathAsksFor) {
    const std::string text = "UNIQ_KEY\1AB\2WAIT\1false\2TAGS\1a || b\2KEYS\1k1 k2\2DELAY\0013\2TRAN_MSG\1true\2"s;
    const auto scan = PropertyScan::of(text);
    EXPECT_EQ(scan.uniqueKey, "AB");
    EXPECT_EQ(scan.tags, "a || b");
    EXPECT_EQ(scan.keys, "k1 k2");
    EXPECT_EQ(scan.delayLevel, "3");
    EXPECT_EQ(scan.transaction, "true");
    EXPECT_FALSE(scan.waitStored);
    EXPECT_FALSE(scan.timer);
    EXPECT_FALSE(scan.needsRebuild);
}

TEST(PropertyScan, TakesAMissingLastSeparator) {
    EXPECT_FALSE(PropertyScan::of("TAGS\1a\2KEYS\1k"s).needsRebuild);
    EXPECT_FALSE(PropertyScan::of("").needsRebuild);
}

TEST(PropertyScan, WantsARebuildForWhatTheBrokerSetsItself) {
    for (const auto name : {"MSG_REGION", "TRACE_ON", "CLUSTER", "POP_CK"}) {
        EXPECT_TRUE(PropertyScan::of(name + "\1x\2"s).needsRebuild) << name;
    }
}

TEST(PropertyScan, WantsARebuildForEntriesThatReadersDoNotSee) {
    EXPECT_TRUE(PropertyScan::of("TAGS\1\2KEYS\1k\2"s).needsRebuild);
    EXPECT_TRUE(PropertyScan::of("junk\2KEYS\1k\2"s).needsRebuild);
    EXPECT_TRUE(PropertyScan::of("KEYS\1k\2\2"s).needsRebuild);
}

TEST(PropertyScan, RebuildKeepsTheRest) {
    EXPECT_EQ(cleanProperties("CLUSTER\1c\2TAGS\1a\2POP_CK\1p\2name\1v"s), "TAGS\1a\2name\1v\2"s);
}

TEST(PropertyScan, SeesEveryKindOfTimer) {
    for (const auto name : {"TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS", "TIMER_DEL_UNIQKEY"}) {
        EXPECT_TRUE(PropertyScan::of(name + "\0011\2"s).timer) << name;
    }
}

}  // namespace
}  // namespace patchbay::plugins::send
