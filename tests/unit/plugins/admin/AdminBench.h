// The admin plugin above the real topics, clients and offsets plugins and a store in memory, on a fake kernel.
#pragma once

#include "../PickyStore.h"
#include "../Recorded.h"

#include "ClientsPlugin.h"
#include "OffsetsPlugin.h"
#include "TopicsPlugin.h"

#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/service/ConsumerOffsets.h"
#include "patchbay/service/Registration.h"
#include "patchbay/service/TrafficStats.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

extern "C" patchbay::plugin::Plugin* patchbay_plugin_create() noexcept;

namespace patchbay::plugins::admin {

using protocol::RequestCode;
using protocol::ResponseCode;
using testkit::CallResult;
using testkit::Fields;

class FakeRegistration final : public service::Registration {
public:
    void registerSoon() noexcept override { ++asked; }
    void unregister() noexcept override {}
    int asked = 0;
};

/// The broker that the golden data was recorded from.
class AdminTest : public ::testing::Test {
protected:
    void begin(testkit::Settings settings = {}, testkit::Settings topicSettings = {}) {
        auto& identity = context_.brokerIdentity();
        identity.storeRoot = dir_.path();
        identity.brokerName = "gold-a";
        identity.clusterName = "GoldCluster";
        identity.brokerPort = 22211;
        identity.startedWallMs = context_.clock().wallMs();
        picky_.commitLog = true;
        context_.provide<service::MessageStore>(picky_);
        context_.provide<service::Registration>(registration_);
        context_.provide<service::TrafficStats>(traffic_);
        runner_.add<topics::TopicsPlugin>(std::move(topicSettings));
        runner_.add<clients::ClientsPlugin>();
        runner_.add<consumer_offsets::OffsetsPlugin>();
        runner_.add(std::unique_ptr<plugin::Plugin>(patchbay_plugin_create()), std::move(settings));
        const auto started = runner_.start();
        ASSERT_TRUE(started) << started.message();
    }

    /// What the statistics plugin would offer: a minute's rate for one name and key.
    class FakeTraffic final : public service::TrafficStats {
    public:
        [[nodiscard]] std::optional<Figures> find(std::string_view name, std::string_view key) const override {
            const auto at = rates.find(std::string(name) + " " + std::string(key));
            if (at == rates.end()) return std::nullopt;
            Figures figures;
            figures.minute.tps = at->second;
            return figures;
        }
        std::map<std::string, double> rates;
    };

    [[nodiscard]] service::TopicConfigs& topics() { return recorded::provided<service::TopicConfigs>(context_); }
    [[nodiscard]] service::SubscriptionGroups& groups() { return recorded::provided<service::SubscriptionGroups>(context_); }
    [[nodiscard]] service::ConsumerOffsets& offsets() { return recorded::provided<service::ConsumerOffsets>(context_); }

    void makeTopic(const std::string& name, std::int32_t queues = 4, bool order = false) {
        protocol::TopicConfig config;
        config.topicName = name;
        config.readQueueNums = config.writeQueueNums = queues;
        config.order = order;
        ASSERT_TRUE(topics().put(config));
    }
    void append(const std::string& topic, std::int32_t queue, int count) {
        for (int i = 0; i < count; ++i) {
            testkit::TestMessage message;
            message.topic = topic;
            message.queueId = queue;
            ASSERT_TRUE(service::isStored(testkit::appendOne(store_, message).status));
        }
    }
    /// A consumer, and a producer of the group "P", come on line.
    Ref<testkit::FakePeer> connect(const std::string& clientId, const std::string& group, const std::string& topic,
                                   std::string_view remote = "127.0.0.1:50001", std::int32_t version = protocol::kVersion) {
        protocol::HeartbeatData beat;
        beat.clientId = clientId;
        beat.producerGroups = {"P"};
        protocol::ConsumerData consumer;
        consumer.groupName = group;
        consumer.consumeType = protocol::ConsumeType::Passively;
        consumer.messageModel = protocol::MessageModel::Clustering;
        consumer.consumeFromWhere = protocol::ConsumeFromWhere::FirstOffset;
        consumer.subscriptionDataSet.push_back(*protocol::SubscriptionData::build(topic, "TagA || TagB"));
        beat.consumerDataSet.push_back(consumer);
        testkit::CallOptions options;
        options.peer = context_.peer(remote);
        options.version = version;
        EXPECT_EQ(context_.call(RequestCode::HeartBeat, Fields{}, beat.toJson(), options).code(), ResponseCode::Success);
        return options.peer;
    }

    testkit::TempDir dir_;
    testkit::FakeContext context_;
    PickyStore picky_{context_.clock()};
    testkit::MemoryStore& store_ = picky_.below;
    FakeRegistration registration_;
    FakeTraffic traffic_;
    testkit::PluginRunner runner_{context_};
};

}  // namespace patchbay::plugins::admin
