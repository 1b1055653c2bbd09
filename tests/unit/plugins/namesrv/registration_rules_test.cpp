// Proved: whose word counts for a topic, when a registration is refused, what a departure takes along.
// How: registrations and departures of one or two brokers through the plugin, then their routes.
// Left to others: exact bytes and remarks (golden_test.cpp), time and connections (liveness_test.cpp).
#include "Namesrv.h"

#include <thread>

namespace patchbay::plugins::namesrv {
namespace {

using protocol::RequestCode;
using protocol::ResponseCode;

const std::vector<protocol::TopicConfig> kTwo{topicOf("A"), topicOf("B")};

TEST(RegistrationRules, OneSingleTopicFromAnUnknownBrokerIsRefusedAndLeavesNoTrace) {
    Namesrv server;
    const auto refused = server.registerBroker({}, {topicOf("A")});
    EXPECT_EQ(refused.code(), ResponseCode::SystemError);
    EXPECT_EQ(refused.remark(), "register broker failed");
    EXPECT_EQ(server.call(RequestCode::GetBrokerClusterInfo).body(), R"({"brokerAddrTable":{},"clusterAddrTable":{}})");
    EXPECT_EQ(server.registerBroker({}, {}).code(), ResponseCode::Success) << "no topic at all is welcome";
    EXPECT_EQ(server.registerBroker({}, {topicOf("A")}).code(), ResponseCode::Success) << "a known broker may tell one change";
    EXPECT_TRUE(server.hasRoute("A"));
}

TEST(RegistrationRules, TheSameVersionAddsUnknownTopicsButDoesNotTouchKnownOnes) {
    Namesrv server;
    server.registerBroker({}, kTwo);
    server.registerBroker({}, {topicOf("A", 9), topicOf("N", 3)});
    EXPECT_NE(server.route("A").body().find(R"("readQueueNums":4)"), std::string::npos);
    EXPECT_NE(server.route("N").body().find(R"("readQueueNums":3)"), std::string::npos);
    server.registerBroker({.version = {2, 0, 1000}}, {topicOf("A", 9), topicOf("N", 3)});
    EXPECT_NE(server.route("A").body().find(R"("readQueueNums":9)"), std::string::npos);
    EXPECT_TRUE(server.hasRoute("B")) << "what a registration does not name stays";
}

TEST(RegistrationRules, TopicsThatAreNotNamedGoWhenTheOperatorWantsThat) {
    Namesrv server(testkit::Settings{{"deleteTopicWithBrokerRegistration", "true"}});
    server.registerBroker({}, {topicOf("A"), topicOf("B"), topicOf("C")});
    server.registerBroker({.name = "broker-b", .address = "127.0.0.1:2"}, {topicOf("C"), topicOf("D")});
    server.registerBroker({.version = {2, 0, 1000}}, kTwo);
    EXPECT_TRUE(server.hasRoute("A"));
    EXPECT_EQ(server.permission("C", "broker-a"), 99U);
    EXPECT_EQ(server.permission("C", "broker-b"), 6U) << "another broker's queues are its own";
}

TEST(RegistrationRules, FilterServersOfWhichNothingIsSaidStay) {
    Namesrv server;
    TestBroker broker;
    const auto servers = [&](const char* list) {
        std::string body = bodyOf(broker.version, kTwo).toJson();
        constexpr std::string_view kNone = "\"filterServerList\":[]";
        body.replace(body.find(kNone), kNone.size(), list);
        testkit::CallOptions options;
        options.listener = "namesrv";
        options.peer = server.peer;
        EXPECT_EQ(server.context->call(protocol::RequestCode::RegisterBroker, broker.header(), body, options).code(), protocol::ResponseCode::Success);
        ++broker.version.counter;
        return server.route("A").body().find("f:1") != std::string_view::npos;
    };
    EXPECT_TRUE(servers("\"filterServerList\":[\"f:1\"]"));
    EXPECT_TRUE(servers("\"filterServerList\":null"));
    EXPECT_FALSE(servers("\"filterServerList\":[]"));
}

TEST(RegistrationRules, ASlaveLearnsItsMasterAndDoesNotChangeTopics) {
    Namesrv server;
    server.registerBroker({.haServerAddr = "127.0.0.1:7"}, kTwo);
    const auto answer = server.registerBroker({.id = 1, .address = "127.0.0.1:2", .version = {9, 0, 9}}, {topicOf("A", 1), topicOf("X")});
    EXPECT_EQ(answer.field("masterAddr"), "127.0.0.1:10911");
    EXPECT_EQ(answer.field("haServerAddr"), "127.0.0.1:7");
    EXPECT_FALSE(server.hasRoute("X"));
    EXPECT_NE(server.route("A").body().find(R"("brokerAddrs":{"0":"127.0.0.1:10911","1":"127.0.0.1:2"})"), std::string::npos);
}

TEST(RegistrationRules, TheFirstSlaveOfAnActingGroupRegistersItsTopicsReadOnly) {
    Namesrv server(testkit::Settings{{"supportActingMaster", "true"}});
    server.registerBroker({.id = 2, .address = "127.0.0.1:2", .actingMaster = true}, kTwo);
    EXPECT_EQ(server.permission("A"), 4U);
    EXPECT_NE(server.route("A").body().find(R"("brokerAddrs":{"0":"127.0.0.1:2"})"), std::string::npos)
        << "it is shown as the master, for reading";
    server.registerBroker({.actingMaster = true, .version = {2, 0, 0}}, kTwo);
    EXPECT_EQ(server.permission("A"), 6U);
    EXPECT_NE(server.route("A").body().find(R"("2":"127.0.0.1:2")"), std::string::npos);
    server.call(RequestCode::UnregisterBroker, {{"brokerName", "broker-a"}, {"brokerAddr", "127.0.0.1:10911"},
                                                {"clusterName", "C"}, {"brokerId", "0"}});
    EXPECT_EQ(server.permission("A"), 4U) << "without its master the group cannot be written to";
}

TEST(RegistrationRules, ABrokerWithANewIdLosesItsOldOne) {
    Namesrv server;
    server.registerBroker({.id = 1}, kTwo);
    server.registerBroker({.id = 0}, kTwo);
    EXPECT_NE(server.route("A").body().find(R"("brokerAddrs":{"0":"127.0.0.1:10911"})"), std::string::npos);
}

TEST(RegistrationRules, OfTwoMastersTheHigherStateVersionHoldsThePlace) {
    Namesrv server;
    server.registerBroker({.version = {1, 5, 1}}, kTwo);
    const auto loser = server.registerBroker({.address = "127.0.0.1:2", .version = {1, 4, 1}}, {topicOf("A"), topicOf("L")});
    EXPECT_EQ(loser.code(), ResponseCode::Success);
    EXPECT_FALSE(server.hasRoute("L"));
    EXPECT_NE(server.route("A").body().find("127.0.0.1:10911"), std::string::npos);
    server.registerBroker({.address = "127.0.0.1:2", .version = {1, 5, 2}}, {topicOf("A"), topicOf("L")});
    EXPECT_TRUE(server.hasRoute("L"));
    EXPECT_NE(server.route("A").body().find("127.0.0.1:2\""), std::string::npos);
}

TEST(RegistrationRules, TheLastBrokerOfANameTakesItsTopicsAndItsClusterAlong) {
    Namesrv server;
    server.registerBroker({}, kTwo);
    server.registerBroker({.name = "broker-b", .address = "127.0.0.1:2", .cluster = "D"}, {topicOf("B"), topicOf("E")});
    server.call(RequestCode::UnregisterBroker, {{"brokerName", "broker-b"}, {"brokerAddr", "127.0.0.1:2"},
                                                {"clusterName", "D"}, {"brokerId", "0"}});
    EXPECT_FALSE(server.hasRoute("E"));
    EXPECT_TRUE(server.hasRoute("B"));
    EXPECT_EQ(server.call(RequestCode::GetAllTopicListFromNameserver).body(), R"({"topicList":["A","B"]})");
    EXPECT_EQ(server.call(RequestCode::GetSystemTopicListFromNs).body(),
              R"({"brokerAddr":"127.0.0.1:10911","topicList":["C","broker-a"]})");
}

TEST(RegistrationRules, AWipedPermissionComesBackWithTheNextChangeOnly) {
    Namesrv server;
    server.registerBroker({}, {topicOf("A"), topicOf("T", 8, 7)});
    EXPECT_EQ(server.call(RequestCode::WipeWritePermOfBroker, {{"brokerName", "broker-a"}}).field("wipeTopicCount"), "2");
    server.registerBroker({}, {topicOf("A"), topicOf("T", 8, 7)});
    EXPECT_EQ(server.permission("A"), 4U);
    EXPECT_EQ(server.permission("T"), 5U);
    EXPECT_EQ(server.call(RequestCode::AddWritePermOfBroker, {{"brokerName", "broker-a"}}).field("addTopicCount"), "2");
    EXPECT_EQ(server.permission("T"), 6U) << "exactly reading and writing";
    EXPECT_EQ(server.call(RequestCode::AddWritePermOfBroker, {{"brokerName", "nobody"}}).field("addTopicCount"), "0");
    EXPECT_EQ(server.call(RequestCode::WipeWritePermOfBroker, {{"brokerName", "nobody"}}).field("wipeTopicCount"), "0");
    EXPECT_EQ(server.context->log().countLimited("write permission of a broker that has no topics"), 2U) << "anybody may ask for them without end";
    EXPECT_FALSE(server.context->log().contains("broker=nobody topics"));
    server.registerBroker({.version = {2, 0, 0}}, {topicOf("A"), topicOf("T", 8, 7)});
    EXPECT_EQ(server.permission("T"), 7U);
}

TEST(RegistrationRules, ATopicIsDeletedInOneClusterOrInAll) {
    Namesrv server;
    server.registerBroker({}, kTwo);
    server.registerBroker({.name = "broker-b", .address = "127.0.0.1:2", .cluster = "D"}, kTwo);
    server.call(RequestCode::DeleteTopicInNamesrv, {{"topic", "A"}, {"clusterName", "D"}});
    EXPECT_EQ(server.permission("A", "broker-a"), 6U);
    EXPECT_EQ(server.permission("A", "broker-b"), 99U);
    server.call(RequestCode::DeleteTopicInNamesrv, {{"topic", "B"}});
    EXPECT_FALSE(server.hasRoute("B"));
}

TEST(RegistrationRules, BodiesMayBeCompressedWhateverTheHeaderSaysButTheirChecksumHasToFit) {
    Namesrv server;
    const TestBroker broker;
    const std::string packed = *bodyOf(broker.version, kTwo).toCompressed(protocol::kVersion);
    testkit::CallOptions options;
    options.listener = "namesrv";
    options.peer = server.peer;
    auto header = broker.header();
    header.bodyCrc32 = protocol::maskedCrc32(packed) ^ 1;
    const auto bad = server.context->call(RequestCode::RegisterBroker, header, packed, options);
    EXPECT_EQ(bad.code(), ResponseCode::SystemError);
    EXPECT_EQ(bad.remark(), "crc32 not match");
    EXPECT_FALSE(server.hasRoute("A"));
    header.bodyCrc32 = protocol::maskedCrc32(packed);
    for (const bool compressed : {true, false}) {
        Namesrv other;
        header.compressed = compressed;
        options.peer = other.peer;
        EXPECT_EQ(other.context->call(RequestCode::RegisterBroker, header, packed, options).code(), ResponseCode::Success);
        EXPECT_TRUE(other.hasRoute("A")) << compressed;
    }
}

TEST(RegistrationRules, ABodyThatIsNoRegistrationIsRefused) {
    Namesrv server;
    testkit::CallOptions options;
    options.listener = "namesrv";
    options.peer = server.peer;
    const std::string packed = *bodyOf({}, kTwo).toCompressed(protocol::kVersion);
    for (const std::string& body : {std::string("junk"), std::string("[]"), std::string("{\"topicConfigSerializeWrapper\":"),
                                    packed.substr(0, packed.size() / 2), std::string("\x78\xda\xff\xff\xff\xff")}) {
        const auto answer = server.context->call(RequestCode::RegisterBroker, TestBroker().header(), body, options);
        EXPECT_EQ(answer.code(), ResponseCode::SystemError) << body;
    }
    EXPECT_FALSE(server.hasRoute("A"));
    EXPECT_EQ(server.call(RequestCode::RegisterBroker).code(), ResponseCode::SystemError) << "a header without fields";
}

TEST(RegistrationRules, StaticTopicsAreToldAsTheyCame) {
    Namesrv server;
    const TestBroker broker;
    auto body = bodyOf(broker.version, kTwo);
    protocol::TopicQueueMapping mapping;
    mapping.topic = "A";
    mapping.bname = "broker-a";
    mapping.totalQueues = 4;
    mapping.currIdMap[0] = 0;
    body.topicConfigSerializeWrapper.topicQueueMappingInfoMap["A"] = mapping;
    testkit::CallOptions options;
    options.listener = "namesrv";
    options.peer = server.peer;
    server.context->call(RequestCode::RegisterBroker, broker.header(), body.toJson(), options);
    auto route = protocol::TopicRouteData::fromJson(server.route("A").body());
    ASSERT_TRUE(route.has_value());
    ASSERT_TRUE(route->topicQueueMappingByBroker.has_value());
    EXPECT_EQ(route->topicQueueMappingByBroker->at("broker-a"), mapping);

    // The broker leaves, and comes again without the mapping.
    server.call(RequestCode::UnregisterBroker, {{"brokerName", broker.name}, {"brokerAddr", broker.address},
                                                {"clusterName", broker.cluster}, {"brokerId", "0"}});
    server.registerBroker(broker, kTwo);
    route = protocol::TopicRouteData::fromJson(server.route("A").body());
    ASSERT_TRUE(route.has_value());
    EXPECT_TRUE(!route->topicQueueMappingByBroker || route->topicQueueMappingByBroker->empty());
}

TEST(RegistrationRules, AZoneSeesItsOwnBrokersAndThoseWithoutAMaster) {
    Namesrv server;
    server.registerBroker({.zone = "north"}, kTwo);
    server.registerBroker({.name = "broker-b", .address = "127.0.0.1:2", .zone = "south"}, kTwo);
    server.registerBroker({.name = "broker-c", .id = 1, .address = "127.0.0.1:3", .actingMaster = true}, kTwo);
    const auto answer = server.call(RequestCode::GetRouteinfoByTopic,
                                    {{"topic", "A"}, {"__ZONE_MODE", "true"}, {"__ZONE_NAME", "NORTH"}});
    auto route = protocol::TopicRouteData::fromJson(answer.body());
    ASSERT_TRUE(route.has_value());
    ASSERT_EQ(route->brokerDatas.size(), 2U);
    EXPECT_EQ(route->brokerDatas[0].brokerName, "broker-a");
    EXPECT_EQ(route->brokerDatas[1].brokerName, "broker-c");
    EXPECT_EQ(route->queueDatas.size(), 2U);
}

TEST(RegistrationRules, QueriesGoOnWhileALargeBrokerComesAndGoes) {
    RouteTable routes;
    std::vector<protocol::TopicConfig> many;
    for (int i = 0; i < 5'000; ++i) many.push_back(topicOf("topic-" + std::to_string(i)));
    const TestBroker small{.name = "small", .address = "127.0.0.1:1"};
    const TestBroker large{.name = "large", .address = "127.0.0.1:2"};
    const auto now = MonotonicTime();
    ASSERT_TRUE(routes.registerBroker(small.header(), bodyOf({}, kTwo), {}, now, std::chrono::seconds(1), false));
    std::atomic<bool> stop = false;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> askers;
    for (int i = 0; i < 2; ++i) {
        askers.emplace_back([&] {
            while (!stop) {
                std::string body;
                if (!routes.writeRoute({.topic = "A"}, body) || body.find("small") == std::string::npos) ++wrong;
                body.clear();
                if (routes.writeRoute({.topic = "topic-17"}, body) && body.find("large") == std::string::npos) ++wrong;
                routes.heartbeat("C", "127.0.0.1:1", now);
            }
        });
    }
    const auto body = bodyOf({}, many);
    for (int round = 0; round < 5; ++round) {
        EXPECT_TRUE(routes.registerBroker(large.header(), body, {}, now, std::chrono::seconds(1), false));
        EXPECT_EQ(routes.topics().size(), many.size() + kTwo.size());
        EXPECT_EQ(routes.unregisterBroker("C", "large", "127.0.0.1:2").gone.size(), 1U);
        EXPECT_EQ(routes.topics().size(), kTwo.size());
    }
    stop = true;
    for (auto& asker : askers) asker.join();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace patchbay::plugins::namesrv
