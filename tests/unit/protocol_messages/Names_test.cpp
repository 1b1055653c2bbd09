// Proves which names are refused and with which words, and which names belong to the system.
// How: names at and beyond each limit; the words are those of recorded answers.
// Left to others: at which requests names are checked (tests of the plugins).
#include "patchbay/protocol/message/Names.h"

#include <gtest/gtest.h>

namespace patchbay::protocol {
namespace {

TEST(Names, TopicsAreRefusedWithRocketMqsWords) {
    EXPECT_TRUE(validateTopicName("Orders_1-%|").isOk());
    EXPECT_TRUE(validateTopicName(std::string(127, 'a')).isOk());
    EXPECT_EQ(validateTopicName("").message(), "The specified topic is blank.");
    EXPECT_EQ(validateTopicName(" \t").message(), "The specified topic is blank.");
    EXPECT_EQ(validateTopicName("a b").message(),
              "The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$");
    EXPECT_EQ(validateTopicName("a+b").code(), StatusCode::InvalidArgument);
    EXPECT_EQ(validateTopicName("\xC3\xA4").code(), StatusCode::InvalidArgument);
    EXPECT_EQ(validateTopicName(std::string(128, 'a')).message(),
              "The specified topic is longer than topic max length.");
}

TEST(Names, GroupsMayBeLonger) {
    EXPECT_TRUE(validateGroupName(std::string(255, 'a')).isOk());
    EXPECT_EQ(validateGroupName(std::string(256, 'a')).message(),
              "The specified group is longer than group max length.");
    EXPECT_EQ(validateGroupName("").message(), "The specified group is blank.");
}

TEST(Names, SystemTopicsAreKnown) {
    for (const auto topic : {"TBW102", "SCHEDULE_TOPIC_XXXX", "BenchmarkTest", "rmq_sys_wheel_timer",
                             "RMQ_SYS_TRANS_HALF_TOPIC", "OFFSET_MOVED_EVENT", "CHECKPOINT_TOPIC"}) {
        EXPECT_TRUE(isSystemTopicName(topic)) << topic;
    }
    EXPECT_FALSE(isSystemTopicName("Orders"));
    EXPECT_FALSE(isSystemTopicName("%RETRY%g"));
}

TEST(Names, SomeSystemTopicsMayBeSentTo) {
    EXPECT_TRUE(isForbiddenToSend("SELF_TEST_TOPIC"));
    EXPECT_TRUE(isForbiddenToSend("SCHEDULE_TOPIC_XXXX"));
    EXPECT_FALSE(isForbiddenToSend("TBW102"));
    EXPECT_FALSE(isForbiddenToSend("BenchmarkTest"));
    EXPECT_FALSE(isForbiddenToSend("rmq_sys_wheel_timer"));
}

TEST(Names, SystemGroupsAreKnown) {
    EXPECT_TRUE(isSystemGroup("CID_RMQ_SYS_TRANS"));
    EXPECT_TRUE(isSystemGroup("TOOLS_CONSUMER"));
    EXPECT_FALSE(isSystemGroup("orders"));
}

TEST(Names, DerivedTopicsHaveTheirPrefix) {
    EXPECT_EQ(retryTopic("g"), "%RETRY%g");
    EXPECT_EQ(dlqTopic("g"), "%DLQ%g");
    EXPECT_EQ(replyTopic("c"), "c_REPLY_TOPIC");
    EXPECT_TRUE(isRetryTopic("%RETRY%g"));
    EXPECT_TRUE(isDlqTopic("%DLQ%g"));
}

TEST(Names, PermissionsArePrintedAsInAnswers) {
    EXPECT_EQ(permText(6), "RW-");
    EXPECT_EQ(permText(7), "RWX");
    EXPECT_EQ(permText(0), "---");
    EXPECT_EQ(permText(4), "R--");
}

}  // namespace
}  // namespace patchbay::protocol
