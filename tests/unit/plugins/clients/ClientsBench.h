// The clients plugin above the real topics plugin, on a fake kernel.
#pragma once

#include "../FakeFilters.h"
#include "../Recorded.h"

#include "ClientsPlugin.h"
#include "TopicsPlugin.h"

#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/TempDir.h"

#include <memory>
#include <string>
#include <vector>

namespace patchbay::plugins::clients {

using testkit::FakePeer;

/// A consumer's heartbeat with one subscription.
struct Beat {
    std::string clientId = "c@1";
    std::string group = "G";
    std::string topic = "T";
    std::string expression = "*";
    std::int64_t subVersion = 1;
    std::int32_t fingerprint = 0;
    bool withoutSub = false;
    bool unitMode = false;
    protocol::MessageModel model = protocol::MessageModel::Clustering;
    protocol::ConsumeType type = protocol::ConsumeType::Passively;

    [[nodiscard]] protocol::HeartbeatData data() const {
        protocol::HeartbeatData body;
        body.clientId = clientId;
        body.heartbeatFingerprint = fingerprint;
        body.withoutSub = withoutSub;
        protocol::ConsumerData consumer;
        consumer.groupName = group;
        consumer.consumeType = type;
        consumer.messageModel = model;
        consumer.consumeFromWhere = protocol::ConsumeFromWhere::FirstOffset;
        consumer.unitMode = unitMode;
        if (!withoutSub) {
            auto subscription = protocol::SubscriptionData::build(topic, expression);
            subscription->subVersion = subVersion;
            consumer.subscriptionDataSet.push_back(*subscription);
        }
        body.consumerDataSet.push_back(consumer);
        return body;
    }
};

struct ClientsBench {
    explicit ClientsBench(testkit::Settings clients = {}, testkit::Settings topics = {}) {
        context.brokerIdentity().storeRoot = directory.path();
        start(std::move(clients), std::move(topics));
    }
    ~ClientsBench() { runner.reset(); }

    void start(testkit::Settings clients = {}, testkit::Settings topics = {}) {
        runner.reset();
        context.forgetPlugins();
        runner = std::make_unique<testkit::PluginRunner>(context);
        runner->add<topics::TopicsPlugin>(std::move(topics));
        runner->add<ClientsPlugin>(std::move(clients));
        const Status started = runner->start();
        ASSERT_TRUE(started) << started.toString();
    }

    [[nodiscard]] service::ClientRegistry& registry() { return recorded::provided<service::ClientRegistry>(context); }
    [[nodiscard]] service::TopicConfigs& topics() { return recorded::provided<service::TopicConfigs>(context); }
    [[nodiscard]] service::SubscriptionGroups& groups() { return recorded::provided<service::SubscriptionGroups>(context); }

    testkit::CallResult beat(const Ref<FakePeer>& peer, const protocol::HeartbeatData& data) {
        testkit::CallOptions options;
        options.peer = peer;
        return context.call(protocol::RequestCode::HeartBeat, testkit::Fields{}, data.toJson(), options);
    }
    /// Sends it; what IS_SUB_CHANGE says.
    std::string beat(const Ref<FakePeer>& peer, const Beat& beat) {
        auto call = this->beat(peer, beat.data());
        EXPECT_EQ(call.code(), protocol::ResponseCode::Success) << call.remark();
        EXPECT_EQ(call.field("IS_SUPPORT_HEART_BEAT_V2"), "true");
        return call.field("IS_SUB_CHANGE");
    }
    void unregister(const Ref<FakePeer>& peer, const testkit::Fields& fields) {
        testkit::CallOptions options;
        options.peer = peer;
        EXPECT_EQ(context.call(protocol::RequestCode::UnregisterClient, fields, {}, options).code(), protocol::ResponseCode::Success);
    }
    /// Sorted client ids of a group as a client is told them.
    std::vector<std::string> ids(const std::string& group) {
        auto call = context.call(protocol::RequestCode::GetConsumerListByGroup, testkit::Fields{{"consumerGroup", group}});
        if (call.code() != protocol::ResponseCode::Success) return {};
        auto list = protocol::ConsumerIdList::fromJson(call.body())->consumerIdList;
        std::sort(list.begin(), list.end());
        return list;
    }
    /// How often a peer was told that the group changed.
    static std::size_t notices(const Ref<FakePeer>& peer, const std::string& group = "G") {
        std::size_t count = 0;
        for (const auto& command : peer->pushed()) {
            EXPECT_EQ(command.code, static_cast<std::int32_t>(protocol::RequestCode::NotifyConsumerIdsChanged));
            EXPECT_TRUE(command.isOneway());
            if (command.find("consumerGroup") == group) ++count;
        }
        return count;
    }

    testkit::TempDir directory;
    FakeFilters filters;   // offered only where a test does
    testkit::FakeContext context;
    std::unique_ptr<testkit::PluginRunner> runner;
};

}  // namespace patchbay::plugins::clients
