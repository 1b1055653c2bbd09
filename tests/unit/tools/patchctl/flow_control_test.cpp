// Proves: what members say of their caches is read as they mean it, with the limits by which they stop pulling.
// How: answers as Java's clients give them, with queues as keys. Left to others: that they are asked (e2e/patchctl).
#include "commands/FlowControl.h"

#include <gtest/gtest.h>

namespace patchbay::patchctl {
namespace {

std::string queue(int id, const std::string& state) { return R"({"brokerName":"b","queueId":)" + std::to_string(id) + R"(,"topic":"T"}:{)" + state + "}"; }

std::vector<CachedQueue> read(const std::string& queues, const std::string& properties) {
    const std::string text = R"({"mqPopTable":{},"mqTable":{)" + queues + R"(},"properties":{)" + properties + "}}";
    const auto document = json::Document::parse(text);
    EXPECT_TRUE(document) << text;
    return cachedQueues(document->root());
}

constexpr const char* kLimits = R"("pullThresholdForQueue":"1000","pullThresholdSizeForQueue":"100","consumeConcurrentlyMaxSpan":"2000")";

TEST(FlowControl, NamesTheLimitThatIsExceeded) {
    const auto found = read(queue(0, R"("cachedMsgCount":1001,"cachedMsgSizeInMiB":3,"lastConsumeTimestamp":77)") + "," +
                            queue(1, R"("cachedMsgCount":10,"cachedMsgSizeInMiB":101)") + "," +
                            queue(2, R"("cachedMsgCount":10,"cachedMsgSizeInMiB":1,"cachedMsgMinOffset":5,"cachedMsgMaxOffset":2006)") + "," +
                            queue(3, R"("cachedMsgCount":1000,"cachedMsgSizeInMiB":100,"cachedMsgMinOffset":5,"cachedMsgMaxOffset":2005)") + "," +
                            queue(4, R"("cachedMsgCount":0)") + "," + queue(5, R"("cachedMsgCount":5000,"droped":true)"), kLimits);
    ASSERT_EQ(found.size(), 4U) << "queues that hold something and are the member's";
    EXPECT_EQ(found[0].broker, "b");
    EXPECT_EQ(found[0].topic, "T");
    EXPECT_EQ(found[0].lastConsumeMs, 77);
    EXPECT_EQ(found[0].limit, "1001 messages are in its cache, pullThresholdForQueue is 1000");
    EXPECT_EQ(found[1].limit, "101 MiB are in its cache, pullThresholdSizeForQueue is 100");
    EXPECT_EQ(found[2].limit, "2001 offsets lie between the oldest and the newest in its cache, consumeConcurrentlyMaxSpan is 2000");
    EXPECT_EQ(found[3].limit, "") << "at its limits it pulls";
}

TEST(FlowControl, TakesTheMembersOwnLimitsAndElseTheDefaults) {
    const std::string cached = queue(0, R"("cachedMsgCount":50,"cachedMsgMinOffset":0,"cachedMsgMaxOffset":3000)");
    EXPECT_EQ(read(cached, R"("pullThresholdForQueue":"40")").at(0).limit, "50 messages are in its cache, pullThresholdForQueue is 40");
    EXPECT_NE(read(cached, "").at(0).limit.find("consumeConcurrentlyMaxSpan is 2000"), std::string::npos);
    EXPECT_EQ(read(cached, R"("PROP_CONSUMEORDERLY":"true")").at(0).limit, "") << "who consumes in order has no span";
    EXPECT_TRUE(cachedQueues(json::Value()).empty());
}

}  // namespace
}  // namespace patchbay::patchctl
