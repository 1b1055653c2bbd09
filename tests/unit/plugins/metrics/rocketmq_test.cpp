// Proves: a broker is told in RocketMQ 5's names, labels and units, within the limits that its keys set.
// How: the real tables of topics, groups, clients, offsets and traffic above a store in memory; counts of requests of the test's own.
// Left to others: that traffic is counted right (statistics), the text format (metrics_test).
#include "../Recorded.h"

#include "ClientsPlugin.h"
#include "MetricsPlugin.h"
#include "OffsetsPlugin.h"
#include "RocketmqMetrics.h"
#include "StatisticsPlugin.h"
#include "TopicsPlugin.h"

#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"
#include "support/FakeObservation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace patchbay::plugins::metrics {
namespace {

using protocol::RequestCode;
using std::chrono::seconds;

class RocketmqMetrics : public ::testing::Test {
protected:
    void SetUp() override {
        auto& identity = context_.brokerIdentity();
        identity.storeRoot = dir_.path();
        identity.clusterName = "C";
        identity.brokerName = "b";
        context_.provide<service::MessageStore>(store_);
        runner_.add<topics::TopicsPlugin>();
        runner_.add<clients::ClientsPlugin>();
        runner_.add<consumer_offsets::OffsetsPlugin>();
        runner_.add<statistics::StatisticsPlugin>();
        const auto started = runner_.start();
        ASSERT_TRUE(started) << started.message();
        makeTopic("T", "FIFO");
        protocol::SubscriptionGroupConfig group;
        group.groupName = "G";
        ASSERT_TRUE(recorded::provided<service::SubscriptionGroups>(context_).put(group));
        sources_.want(context_.services());
    }
    void TearDown() override { sources_ = {}; }
    void makeTopic(const std::string& name, const std::string& type = {}) {
        protocol::TopicConfig config;
        config.topicName = name;
        config.readQueueNums = config.writeQueueNums = 2;
        if (!type.empty()) config.attributes["+message.type"] = type;
        ASSERT_TRUE(recorded::provided<service::TopicConfigs>(context_).put(config));
    }
    void append(const std::string& topic, int count, std::size_t bytes = 10) {
        for (int i = 0; i < count; ++i) testkit::appendOne(store_, {.topic = topic, .body = std::string(bytes, 'b')});
    }
    void connect() {
        protocol::HeartbeatData beat;
        beat.clientId = "c1";
        beat.producerGroups = {"P"};
        protocol::ConsumerData consumer;
        consumer.groupName = "G";
        consumer.consumeType = protocol::ConsumeType::Passively;
        consumer.messageModel = protocol::MessageModel::Clustering;
        consumer.consumeFromWhere = protocol::ConsumeFromWhere::FirstOffset;
        consumer.subscriptionDataSet.push_back(*protocol::SubscriptionData::build("T", "*"));
        consumer.subscriptionDataSet.push_back(*protocol::SubscriptionData::build("%RETRY%G", "*"));
        beat.consumerDataSet.push_back(consumer);
        peer_ = context_.peer("127.0.0.1:50001");
        testkit::CallOptions options;
        options.peer = peer_;
        options.version = 479;
        ASSERT_EQ(context_.call(RequestCode::HeartBeat, testkit::Fields{}, beat.toJson(), options).code(), protocol::ResponseCode::Success);
    }
    std::string text() {
        return rocketmqExposition(wanted_, sources_, observation_, store_, {context_.identity(), 6, context_.clock().wallMs()});
    }
    static void expect(const std::string& all, const std::string& line) { EXPECT_NE(all.find(line + "\n"), std::string::npos) << line << "\nin:\n" << all; }
    /// Labels behind those of the broker.
    static std::string of(const std::string& labels) { return R"({cluster="C",node_type="broker",node_id="b",)" + labels + "}"; }

    testkit::TempDir dir_;
    testkit::FakeContext context_;
    testkit::MemoryStore store_{context_.clock()};
    testkit::PluginRunner runner_{context_};
    Ref<testkit::FakePeer> peer_;
    test::FakeObservation observation_;
    RocketmqFamilies wanted_;
    BrokerSources sources_;
};

TEST_F(RocketmqMetrics, WhatGoesInHasItsTopicAndType) {
    append("T", 2);
    append("T", 1, 5'000);
    const auto all = text();
    const std::string labels = R"(topic="T",message_type="fifo",is_system="false")";
    expect(all, "rocketmq_messages_in_total" + of(labels) + " 3");
    expect(all, "# TYPE rocketmq_messages_in_total counter");
    expect(all, "rocketmq_message_size_bucket" + of(labels + R"(,le="1024")") + " 2");
    expect(all, "rocketmq_message_size_bucket" + of(labels + R"(,le="524288")") + " 3");
    expect(all, "rocketmq_message_size_count" + of(labels) + " 3");
    EXPECT_NE(all.find("rocketmq_throughput_in_total" + of(labels)), std::string::npos);
}

TEST_F(RocketmqMetrics, WhatGoesOutHasItsGroup) {
    append("T", 5);
    auto& offsets = recorded::provided<service::ConsumerOffsets>(context_);
    offsets.notePull("G", "T", 0, {.nextOffset = 3, .delivered = 3, .outcome = service::PullOutcome::Delivered, .bytes = 330});
    offsets.commit("c1", "G", "T", 0, 2);
    connect();
    context_.manualClock().advance(seconds(1));
    const auto all = text();
    const std::string labels = R"(consumer_group="G",topic="T",is_retry="false",is_system="false")";
    expect(all, "rocketmq_messages_out_total" + of(labels) + " 3");
    expect(all, "rocketmq_throughput_out_total" + of(labels) + " 330");
    expect(all, "rocketmq_consumer_lag_messages" + of(labels) + " 3");
    expect(all, "rocketmq_consumer_inflight_messages" + of(labels) + " 1");
    expect(all, "rocketmq_consumer_ready_messages" + of(labels) + " 2");
    expect(all, "rocketmq_consumer_lag_latency_milliseconds" + of(labels) + " 1000");
    expect(all, "rocketmq_consumer_queueing_latency_milliseconds" + of(labels) + " 1000");
}

TEST_F(RocketmqMetrics, ConnectionsAreCountedByLanguageAndVersion) {
    connect();
    const auto all = text();
    expect(all, "rocketmq_producer_connections" + of(R"(language="java",version="v5_3_3",protocol_type="remoting")") + " 1");
    expect(all, "rocketmq_consumer_connections" +
                    of(R"(consumer_group="G",language="java",version="v5_3_3",consume_mode="push",protocol_type="remoting",is_system="false")") + " 1");
}

TEST_F(RocketmqMetrics, TheNodeItsQueuesAndItsStoreAreTold) {
    append("%DLQ%G", 2);
    service::RequestStats send;
    send.listener = "broker";
    send.plugin = "send";
    send.code = 310;
    send.calls = 7;
    send.answered = 3;
    send.latency.counts[3] = 3;
    send.latency.sumUs = 2'500;
    observation_.requestStats = {send};
    service::ExecutorStats query;
    query.name = "query";
    query.queued = 9;
    observation_.executorStats = {query};
    context_.manualClock().advance(seconds(2));
    const auto all = text();
    expect(all, R"(rocketmq_broker_permission{cluster="C",node_type="broker",node_id="b"} 6)");
    expect(all, R"(rocketmq_consumer_group_number{cluster="C",node_type="broker",node_id="b"} )" +
                    std::to_string(recorded::provided<service::SubscriptionGroups>(context_).all().size()));
    expect(all, "rocketmq_processor_watermark" + of(R"(processor="send")") + " 4");
    expect(all, "rocketmq_processor_watermark" + of(R"(processor="query_message")") + " 9");
    expect(all, "rocketmq_processor_watermark" + of(R"(processor="ack")") + " 0");
    expect(all, "rocketmq_rpc_latency_milliseconds_sum" + of(R"(protocol_type="remoting",request_code="send_message_v2",plugin="send",listener="broker")") + " 2.5");
    expect(all, "rocketmq_send_to_dlq_messages_total" + of(R"(consumer_group="G",topic="%DLQ%G",is_system="false")") + " 2");
    expect(all, "rocketmq_storage_message_reserve_time_milliseconds" + of(R"(storage_type="local",storage_medium="disk")") + " 2000");
    expect(all, "patchbay_rocketmq_series_dropped 0");
}

TEST_F(RocketmqMetrics, SeriesAreLimitedAndLabelsAdded) {
    makeTopic("U");
    append("T", 1);
    append("U", 1);
    wanted_.seriesMax = 1;
    wanted_.labels = {{"zone", "z1"}};
    const auto all = text();
    expect(all, "patchbay_rocketmq_series_dropped 14");
    EXPECT_NE(all.find(R"(node_id="b",zone="z1")"), std::string::npos);
    wanted_ = {};
    wanted_.stats = wanted_.connections = wanted_.lag = wanted_.requests = wanted_.remoting = wanted_.store = false;
    EXPECT_EQ(text().find("rocketmq_messages_in_total"), std::string::npos);
}

TEST_F(RocketmqMetrics, EachKeyHasTheFamiliesThatItHasInRocketMq) {
    append("T", 1);
    auto& offsets = recorded::provided<service::ConsumerOffsets>(context_);
    offsets.notePull("G", "T", 0, {.nextOffset = 1, .delivered = 1, .outcome = service::PullOutcome::Delivered, .bytes = 110});
    const auto has = [this](const char* name) { return text().find("# TYPE rocketmq_" + std::string(name) + " ") != std::string::npos; };
    const std::vector<const char*> ofStats{"processor_watermark", "broker_permission", "topic_number", "consumer_group_number"};
    const std::vector<const char*> ofRequests{"messages_in_total", "messages_out_total", "throughput_in_total", "throughput_out_total", "message_size"};
    wanted_.stats = false;
    for (const char* name : ofStats) EXPECT_FALSE(has(name)) << name;
    for (const char* name : ofRequests) EXPECT_TRUE(has(name)) << name;
    wanted_ = {};
    wanted_.requests = false;
    for (const char* name : ofStats) EXPECT_TRUE(has(name)) << name;
    for (const char* name : ofRequests) EXPECT_FALSE(has(name)) << name;
}

TEST_F(RocketmqMetrics, RetryTopicsHaveNoLag) {
    append("T", 1);
    connect();
    const auto all = text();
    const auto subscriptions = recorded::provided<service::ClientRegistry>(context_).subscriptions("G");
    ASSERT_TRUE(std::ranges::any_of(subscriptions, [](const auto& one) { return one.topic == "%RETRY%G"; }));
    EXPECT_NE(all.find("rocketmq_consumer_lag_messages{"), std::string::npos);
    EXPECT_EQ(all.find(R"(topic="%RETRY%G")"), std::string::npos) << all;
}

TEST_F(RocketmqMetrics, KeysAreChecked) {
    MetricsPlugin plugin;
    const auto configure = [&](const std::string& label) {
        return plugin.configure(*testkit::FakeConfig::parse(plugin.configKeys(), {{"metricsLabel", label}}));
    };
    EXPECT_TRUE(configure("zone:z1,rack:7"));
    EXPECT_FALSE(configure("zone"));
    EXPECT_FALSE(configure("1zone:x"));
    EXPECT_FALSE(configure("zo ne:x"));
    const auto twice = configure("zone:z1,rack:7,zone:z2");
    EXPECT_EQ(twice.message(), "metricsLabel: 'zone' is named twice");
}

TEST_F(RocketmqMetrics, NoLabelOfASeriesMayBeNamedAgain) {
    append("T", 1);
    append("%DLQ%G", 1);
    auto& offsets = recorded::provided<service::ConsumerOffsets>(context_);
    offsets.notePull("G", "T", 0, {.nextOffset = 1, .delivered = 1, .outcome = service::PullOutcome::Delivered, .bytes = 110});
    connect();
    service::RequestStats send;
    send.listener = "broker";
    send.plugin = "send";
    send.code = 310;
    send.calls = send.answered = 1;
    observation_.requestStats = {send};
    const auto all = text();
    std::set<std::string> names{"__name__"};
    for (auto end = all.find("=\""); end != std::string::npos; end = all.find("=\"", end + 1)) {
        const auto begin = all.find_last_of("{,", end) + 1;
        names.insert(all.substr(begin, end - begin));
    }
    EXPECT_EQ(names.size(), 20U);
    MetricsPlugin plugin;
    for (const auto& name : names) {
        const auto status = plugin.configure(*testkit::FakeConfig::parse(plugin.configKeys(), {{"metricsLabel", name + ":x"}}));
        EXPECT_FALSE(status) << name;
        EXPECT_NE(status.message().find("'" + name + "'"), std::string::npos) << status.message();
    }
}

TEST(VersionText, IsThatOfRocketMq) {
    EXPECT_EQ(versionText(479), "V5_3_3");
    EXPECT_EQ(versionText(478), "V5_3_3_SNAPSHOT");
    EXPECT_EQ(versionText(317), "V4_5_2");
    EXPECT_EQ(versionText(213), "V4_0_0");
    EXPECT_EQ(versionText(211), "V3_9_9");
    EXPECT_EQ(versionText(143), "V3_6_2");
    EXPECT_EQ(versionText(121), "V3_4_9");
    EXPECT_EQ(versionText(79), "V3_2_6");
    EXPECT_EQ(versionText(62), "V3_1_8_SNAPSHOT");
    EXPECT_EQ(versionText(37), "V3_0_11");
    EXPECT_EQ(versionText(15), "V3_0_0_FINAL");
    EXPECT_EQ(versionText(611), "V5_9_9");
}

TEST(VersionText, IsOneOfFewNamesWhateverAClientSays) {
    for (const std::int32_t above : {612, 613, 999, std::numeric_limits<std::int32_t>::max()}) EXPECT_EQ(versionText(above), "HIGHER_VERSION") << above;
    for (const std::int32_t below : {0, -1, std::numeric_limits<std::int32_t>::min()}) EXPECT_EQ(versionText(below), "V3_0_0_SNAPSHOT") << below;
}

}  // namespace
}  // namespace patchbay::plugins::metrics
