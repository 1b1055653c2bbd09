// The consumer-admin plugin above the real topics, clients and offsets plugins and a store in memory, on a fake kernel.
#pragma once

#include "../Recorded.h"

#include "ClientsPlugin.h"
#include "ConsumerAdminPlugin.h"
#include "OffsetsPlugin.h"
#include "TopicsPlugin.h"
#include "support/Heartbeats.h"

#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <gtest/gtest.h>

#include <string>

namespace patchbay::plugins::consumer_admin {

using namespace std::chrono_literals;
using protocol::RequestCode;
using protocol::ResponseCode;
using testkit::Fields;

/// The broker that the golden data was recorded from.
class ConsumerAdminTest : public ::testing::Test {
protected:
    void begin(testkit::Settings settings = {}) {
        auto& identity = context_.brokerIdentity();
        identity.storeRoot = dir_.path();
        identity.brokerName = "gold-a";
        context_.provide<service::MessageStore>(store_);
        runner_.add<topics::TopicsPlugin>();
        runner_.add<clients::ClientsPlugin>();
        runner_.add<consumer_offsets::OffsetsPlugin>(settings);
        runner_.add<ConsumerAdminPlugin>(settings);
        const auto started = runner_.start();
        ASSERT_TRUE(started) << started.message();
    }
    [[nodiscard]] service::TopicConfigs& topics() { return recorded::provided<service::TopicConfigs>(context_); }
    [[nodiscard]] service::SubscriptionGroups& groups() { return recorded::provided<service::SubscriptionGroups>(context_); }
    [[nodiscard]] service::ConsumerOffsets& offsets() { return recorded::provided<service::ConsumerOffsets>(context_); }

    void makeTopic(const std::string& name, std::int32_t queues = 4) { ASSERT_TRUE(topics().createIfMissing(name, queues, 6, 0)); }
    void makeGroup(const std::string& name) {
        service::GroupFacts facts;
        ASSERT_TRUE(groups().findOrCreate(name, facts));
    }
    void append(const std::string& topic, std::int32_t queue, int count) {
        for (int i = 0; i < count; ++i) {
            testkit::TestMessage message;
            message.topic = topic;
            message.queueId = queue;
            ASSERT_TRUE(service::isStored(testkit::appendOne(store_, message).status));
        }
    }
    /// A member comes on line, or says its heartbeat again.
    Ref<testkit::FakePeer> connect(const std::string& clientId, const std::string& group, const std::string& topic,
                                   std::string_view remote = "127.0.0.1:50001", std::int32_t version = protocol::kVersion,
                                   std::string_view expression = "*") {
        testkit::CallOptions options;
        options.peer = context_.peer(remote);
        options.version = version;
        beat(options, clientId, group, topic, expression);
        return options.peer;
    }
    void beat(const testkit::CallOptions& options, const std::string& clientId, const std::string& group, const std::string& topic,
              std::string_view expression = "*") {
        const auto data = test::consumerHeartbeat(clientId, group, topic, expression);
        EXPECT_EQ(context_.call(RequestCode::HeartBeat, Fields{}, data.toJson(), options).code(), ResponseCode::Success);
    }

    testkit::TempDir dir_;
    testkit::FakeContext context_;
    testkit::MemoryStore store_{context_.clock()};
    testkit::PluginRunner runner_{context_};
};

}  // namespace patchbay::plugins::consumer_admin
