// Proved: the administrator's questions are understood by a broker and name server, and their answers by us.
// How: against a running process with each store, or any cluster named by the environment (see ClientFixture).
// Left to others: messages and offsets, which need a producer (producer_test).
#include "ClientFixture.h"

#include <algorithm>

namespace patchbay::test {
namespace {

using client::AdminClient;

class Admin : public ClientFixture {};

TEST_P(Admin, SeesTheClusterAndItsBrokers) {
    auto tool = admin();
    const auto cluster = tool.cluster();
    ASSERT_TRUE(cluster) << cluster.error().toString();
    ASSERT_EQ(cluster->clusterAddrTable.size(), 1U);
    const auto masters = tool.masters();
    ASSERT_TRUE(masters);
    ASSERT_EQ(masters->size(), 1U);
    const auto name = cluster->brokerAddrTable.begin()->first;
    EXPECT_EQ(tool.masterOf(name).value_or(""), masters->front());
    EXPECT_EQ(tool.masters("NoSuchCluster").error().code(), StatusCode::NotFound);
    const auto info = tool.runtimeInfo(masters->front());
    ASSERT_TRUE(info) << info.error().toString();
    EXPECT_TRUE(info->contains("bootTimestamp"));
    const auto config = tool.brokerConfig(masters->front());
    ASSERT_TRUE(config) << config.error().toString();
    EXPECT_EQ(config->at("brokerName"), name);
}

TEST_P(Admin, CreatesChangesAndDeletesATopic) {
    const auto topic = fresh("AdminTopic");
    createTopic(topic, 3);
    auto tool = admin();
    const auto address = tool.masters()->front();
    const auto config = tool.topicConfig(address, topic);
    ASSERT_TRUE(config) << config.error().toString();
    EXPECT_EQ(config->writeQueueNums, 3);
    const auto route = tool.route(topic);
    ASSERT_TRUE(route) << route.error().toString();
    EXPECT_EQ(route->queueDatas.front().readQueueNums, 3);
    const auto stats = tool.topicStats(topic);
    ASSERT_TRUE(stats) << stats.error().toString();
    EXPECT_EQ(stats->offsetTable.size(), 3U);
    const auto topics = tool.topics();
    ASSERT_TRUE(topics);
    EXPECT_NE(std::find(topics->begin(), topics->end(), topic), topics->end());

    ASSERT_TRUE(tool.deleteTopic(topic));
    EXPECT_EQ(tool.route(topic).error().code(), StatusCode::NotFound);
    EXPECT_EQ(tool.topicConfig(address, topic).error().code(), StatusCode::NotFound);
}

TEST_P(Admin, KeepsAGroupAndItsOffsets) {
    const auto topic = fresh("AdminOffsets");
    const auto group = fresh("AdminGroup");
    createTopic(topic, 2);
    auto tool = admin();
    const auto address = tool.masters()->front();
    protocol::SubscriptionGroupConfig config;
    config.groupName = group;
    config.retryMaxTimes = 5;
    ASSERT_TRUE(tool.createGroup(address, config));
    const auto read = tool.groupConfig(address, group);
    ASSERT_TRUE(read) << read.error().toString();
    EXPECT_EQ(read->retryMaxTimes, 5);

    const client::MessageQueue queue{topic, tool.cluster()->brokerAddrTable.begin()->first, 1};
    EXPECT_EQ(tool.consumerOffset(group, queue).error().code(), StatusCode::NotFound);
    ASSERT_TRUE(tool.updateConsumerOffset(group, queue, 0));
    EXPECT_EQ(tool.consumerOffset(group, queue).value_or(-1), 0);
    EXPECT_EQ(tool.maxOffset(queue).value_or(-1), 0);
    EXPECT_EQ(tool.minOffset(queue).value_or(-1), 0);
    EXPECT_EQ(tool.consumers(group).error().code(), StatusCode::NotFound);
    ASSERT_TRUE(tool.deleteGroup(address, group, true));
}

TEST_P(Admin, WritesReadsAndDeletesKeys) {
    auto tool = admin();
    const auto space = fresh("Space");
    ASSERT_TRUE(tool.putKeyValue(space, "a", "1"));
    EXPECT_EQ(tool.keyValue(space, "a").value_or(""), "1");
    EXPECT_EQ(tool.keyValues(space)->at("a"), "1");
    ASSERT_TRUE(tool.deleteKeyValue(space, "a"));
    EXPECT_EQ(tool.keyValue(space, "a").error().code(), StatusCode::NotFound);
}

TEST_P(Admin, SaysWhoDidNotAnswer) {
    auto silent = options();
    silent.nameServers = "127.0.0.1:1";
    auto tool = AdminClient::create(silent);
    ASSERT_TRUE(tool);
    const auto refused = tool->topics();
    EXPECT_EQ(refused.error().code(), StatusCode::Unavailable);
    EXPECT_NE(refused.error().message().find("127.0.0.1:1"), std::string::npos) << refused.error().toString();
}

TEST_P(Admin, AsksTheNextNameServerWhenOneIsDown) {
    auto half = options();
    half.nameServers = "127.0.0.1:1;" + half.nameServers;
    auto tool = AdminClient::create(half);
    ASSERT_TRUE(tool);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(tool->topics());
}

TEST_P(Admin, AnUnknownCodeIsAnAnswer) {
    auto tool = admin();
    auto command = protocol::RemotingCommand();
    command.code = 9999;
    const auto answer = tool.invoke(tool.masters()->front(), std::move(command));
    ASSERT_TRUE(answer) << answer.error().toString();
    EXPECT_EQ(answer->code, 3);
}

PATCHBAY_ON_EACH_STORE(Admin);

}  // namespace
}  // namespace patchbay::test
