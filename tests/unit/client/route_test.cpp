// Proved: a topic's route becomes the queues that Java's client would use.
// How: routes made by hand.
// Left to others: asking for them (remoting_test, integration).
#include "patchbay/client/Message.h"
#include "route/NameServers.h"
#include "route/Route.h"

#include <gtest/gtest.h>

namespace patchbay::client {
namespace {

protocol::TopicRouteData twoBrokers() {
    protocol::TopicRouteData data;
    data.queueDatas = {{.brokerName = "b", .readQueueNums = 2, .writeQueueNums = 1, .perm = 6}, {.brokerName = "a", .readQueueNums = 1, .writeQueueNums = 2, .perm = 4},
                       {.brokerName = "c", .readQueueNums = 1, .writeQueueNums = 1, .perm = 6}};
    data.brokerDatas = {{.cluster = "C", .brokerName = "b", .brokerAddrs = {{0, "b0"}, {1, "b1"}}, .zoneName = {}},
                        {.cluster = "C", .brokerName = "a", .brokerAddrs = {{0, "a0"}}, .zoneName = {}},
                        {.cluster = "C", .brokerName = "c", .brokerAddrs = {{2, "c2"}}, .zoneName = {}}};
    return data;
}

TEST(ARoute, IsWrittenToMastersThatAllowIt) {
    const auto route = Route::from("T", twoBrokers());
    EXPECT_EQ(route->toWrite, (std::vector<MessageQueue>{{"T", "b", 0}}));
}

TEST(ARoute, IsReadFromAllThatAllowItInOrder) {
    const auto route = Route::from("T", twoBrokers());
    EXPECT_EQ(route->toRead, (std::vector<MessageQueue>{{"T", "a", 0}, {"T", "b", 0}, {"T", "b", 1}, {"T", "c", 0}}));
}

TEST(ARoute, KnowsAddresses) {
    const auto route = Route::from("T", twoBrokers());
    EXPECT_EQ(*route->addressOf("b", 1), "b1");
    EXPECT_EQ(*route->addressOf("b", 7), "b0");
    EXPECT_EQ(route->addressOf("b", 7, true), nullptr);
    EXPECT_EQ(*route->addressOf("c", 0), "c2");
    EXPECT_EQ(route->masterOf("c"), nullptr);
    EXPECT_EQ(route->addressOf("x", 0), nullptr);
}

TEST(ARoute, OfAnOrderedTopicHasExactlyItsQueues) {
    auto data = twoBrokers();
    data.orderTopicConf = "b:2;a:1";
    const auto route = Route::from("T", data);
    EXPECT_TRUE(route->ordered);
    EXPECT_EQ(route->toWrite, (std::vector<MessageQueue>{{"T", "b", 0}, {"T", "b", 1}, {"T", "a", 0}}));
}

TEST(ARoute, WithMoreQueuesThanATopicMayHaveIsRefused) {
    auto data = twoBrokers();
    EXPECT_TRUE(Route::check("T", data));
    data.queueDatas[0].readQueueNums = 65'536;
    EXPECT_TRUE(Route::check("T", data));
    data.queueDatas[0].writeQueueNums = 2'000'000'000;
    const auto refused = Route::check("T", data);
    EXPECT_EQ(refused.code(), StatusCode::Corrupt);
    EXPECT_NE(refused.message().find("2000000000 queues on broker 'b'"), std::string::npos) << refused.message();
    data.queueDatas[0].writeQueueNums = -1;
    data.orderTopicConf = "b:4;a:2147483647";
    EXPECT_EQ(Route::check("T", data).code(), StatusCode::Corrupt);
    data.orderTopicConf = "b:4;a:9223372036854775807";
    EXPECT_EQ(Route::check("T", data).code(), StatusCode::Corrupt);
    data.orderTopicConf = "b:4;a:99999999999999999999";  // no number that fits anywhere: no queues
    EXPECT_TRUE(Route::check("T", data));
    data.queueDatas.resize(17, data.queueDatas[0]);
    for (auto& queues : data.queueDatas) queues.readQueueNums = 65'536;
    EXPECT_EQ(Route::check("T", data).code(), StatusCode::Corrupt) << "1114112 in all";
}

TEST(NameServerLists, AreSplitAtSemicolonsAndCommas) {
    EXPECT_EQ(splitAddresses(" a:1; b:2,,c:3\n"), (std::vector<std::string>{"a:1", "b:2", "c:3"}));
    EXPECT_TRUE(splitAddresses("").empty());
}

}  // namespace
}  // namespace patchbay::client
