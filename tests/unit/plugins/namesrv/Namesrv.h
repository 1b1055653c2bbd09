// A name server on a fake kernel, and short ways to talk to it.
#pragma once

#include "NamesrvPlugin.h"

#include "patchbay/protocol/headers/NameServer.h"
#include "patchbay/protocol/route/RegisterBroker.h"
#include "patchbay/protocol/util/Crc32.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/TempDir.h"

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::namesrv {

/// What one broker says of itself.
struct TestBroker {
    std::string name = "broker-a";
    std::int64_t id = 0;
    std::string address = "127.0.0.1:10911";
    std::string cluster = "C";
    std::string haServerAddr = "127.0.0.1:10912";
    std::optional<bool> actingMaster = false;
    std::optional<std::int64_t> timeoutMs{};
    std::string_view zone{};
    protocol::DataVersion version{1, 0, 1000};

    [[nodiscard]] protocol::RegisterBrokerRequest header() const {
        protocol::RegisterBrokerRequest request;
        request.brokerName = name;
        request.brokerId = id;
        request.brokerAddr = address;
        request.clusterName = cluster;
        request.haServerAddr = haServerAddr;
        request.enableActingMaster = actingMaster;
        request.heartbeatTimeoutMillis = timeoutMs;
        request.zoneName = zone;
        return request;
    }
};

inline protocol::TopicConfig topicOf(std::string name, std::int32_t queues = 4, std::uint32_t perm = 6) {
    protocol::TopicConfig topic;
    topic.topicName = std::move(name);
    topic.readQueueNums = topic.writeQueueNums = queues;
    topic.perm = perm;
    return topic;
}

inline protocol::RegisterBrokerBody bodyOf(const protocol::DataVersion& version, const std::vector<protocol::TopicConfig>& topics) {
    protocol::RegisterBrokerBody body;
    body.topicConfigSerializeWrapper.dataVersion = version;
    for (const auto& topic : topics) body.topicConfigSerializeWrapper.topicConfigTable[topic.topicName] = topic;
    return body;
}

class Namesrv {
public:
    explicit Namesrv(testkit::Settings settings = {}) { restart(std::move(settings)); }

    /// A new name server on the same files; its routes are empty.
    void restart(testkit::Settings settings = {}) {
        const Status started = tryRestart(std::move(settings));
        ASSERT_TRUE(started.isOk()) << started.toString();
        reconnect();
    }
    Status tryRestart(testkit::Settings settings = {}) {
        stop();
        context.emplace();
        context->brokerIdentity().storeRoot = directory.path();
        runner.emplace(*context);
        plugin = &runner->add<NamesrvPlugin>(std::move(settings));
        return runner->start();
    }
    /// A connection of its own for what comes; the server closes that of a broker that went silent.
    void reconnect() { peer = context->peer("127.0.0.1:50001", "namesrv"); }
    void stop() {
        peer.reset();
        runner.reset();
        context.reset();
    }

    testkit::CallResult call(protocol::RequestCode code, const testkit::Fields& fields = {}, std::string_view body = {}) {
        testkit::CallOptions options;
        options.listener = "namesrv";
        options.peer = peer;
        return context->call(code, fields, body, options);
    }
    testkit::CallResult registerOver(const Ref<testkit::FakePeer>& connection, const TestBroker& broker,
                                     const std::vector<protocol::TopicConfig>& topics) {
        testkit::CallOptions options;
        options.listener = "namesrv";
        options.peer = connection;
        return context->call(protocol::RequestCode::RegisterBroker, broker.header(), bodyOf(broker.version, topics).toJson(),
                             options);
    }
    testkit::CallResult registerBroker(const TestBroker& broker, const std::vector<protocol::TopicConfig>& topics) {
        return registerOver(peer, broker, topics);
    }
    testkit::CallResult route(std::string_view topic) {
        return call(protocol::RequestCode::GetRouteinfoByTopic, {{"topic", std::string(topic)}});
    }
    bool hasRoute(std::string_view topic) { return route(topic).code() == protocol::ResponseCode::Success; }
    /// The permission in the route of a topic at a broker; 99 when there is none.
    std::uint32_t permission(std::string_view topic, std::string_view broker = "broker-a") {
        auto data = protocol::TopicRouteData::fromJson(route(topic).body());
        if (!data) return 99;
        for (const auto& queues : data->queueDatas) {
            if (queues.brokerName == broker) return queues.perm;
        }
        return 99;
    }

    testkit::TempDir directory;
    std::optional<testkit::FakeContext> context;
    std::optional<testkit::PluginRunner> runner;
    NamesrvPlugin* plugin = nullptr;
    Ref<testkit::FakePeer> peer;
};

}  // namespace patchbay::plugins::namesrv
