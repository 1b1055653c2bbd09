// Proved: when a broker leaves the routes: silence, its connection's end, its own word; and when a young server is ready.
// How: a manual clock and connections without sockets.
// Left to others: what else a departure changes (registration_rules_test.cpp).
#include "Namesrv.h"

namespace patchbay::plugins::namesrv {
namespace {

using namespace std::chrono_literals;
using protocol::RequestCode;
using protocol::ResponseCode;

const std::vector<protocol::TopicConfig> kTwo{topicOf("A"), topicOf("B")};
const testkit::Fields kBroker{{"brokerName", "broker-a"}, {"brokerAddr", "127.0.0.1:10911"}, {"clusterName", "C"}, {"brokerId", "0"}};

TEST(Liveness, TheFirstSearchIsAfterFiveSecondsAndThenOneEveryTen) {
    Namesrv server;
    server.registerBroker({.timeoutMs = 1}, kTwo);
    server.context->advance(4'999ms);
    EXPECT_TRUE(server.hasRoute("A"));
    server.context->advance(1ms);
    EXPECT_FALSE(server.hasRoute("A"));
    server.reconnect();
    server.registerBroker({.timeoutMs = 1}, kTwo);
    server.context->advance(9'999ms);
    EXPECT_TRUE(server.hasRoute("A"));
    server.context->advance(1ms);
    EXPECT_FALSE(server.hasRoute("A"));
}

TEST(Liveness, ASilentBrokerLeavesAfterTwoMinutesAndItsConnectionIsClosed) {
    Namesrv server(testkit::Settings{{"scanNotActiveBrokerDelay", "10s"}});  // so that one search is at exactly two minutes
    const auto connection = server.context->peer("127.0.0.1:50002", "namesrv");
    server.registerOver(connection, {}, kTwo);
    server.context->advance(120s);
    EXPECT_TRUE(server.hasRoute("A")) << "exactly the time is not too long yet";
    EXPECT_TRUE(connection->isOpen());
    server.context->advance(10s);
    EXPECT_FALSE(server.hasRoute("A"));
    EXPECT_FALSE(connection->isOpen());
    EXPECT_TRUE(server.context->log().contains("broker left"));
}

TEST(Liveness, EverySignOfLifeCounts) {
    Namesrv server;
    server.registerBroker({}, kTwo);
    for (int i = 0; i < 3; ++i) {
        server.context->advance(100s);
        server.call(RequestCode::BrokerHeartbeat, kBroker);
        server.context->advance(100s);
        server.call(RequestCode::QueryDataVersion, kBroker, protocol::DataVersion{1, 0, 1000}.toJson());
        server.context->advance(100s);
        server.registerBroker({}, kTwo);
        EXPECT_TRUE(server.hasRoute("A")) << i;
    }
    server.call(RequestCode::BrokerHeartbeat, {{"brokerName", "x"}, {"brokerAddr", "127.0.0.1:9"}, {"clusterName", "C"}});
    server.context->advance(130s);
    EXPECT_FALSE(server.hasRoute("A")) << "another's heartbeat does not count";
}

TEST(Liveness, TheScanAndTheExpiryAreKeys) {
    Namesrv server(testkit::Settings{{"scanNotActiveBrokerDelay", "1s"}, {"scanNotActiveBrokerInterval", "2s"}, {"brokerChannelExpiredTime", "4s"}});
    server.registerBroker({}, kTwo);
    server.context->advance(4'999ms);
    EXPECT_TRUE(server.hasRoute("A"));
    server.context->advance(1ms);
    EXPECT_FALSE(server.hasRoute("A")) << "seen at the search at 5 s";
    ASSERT_TRUE(server.runner->reconfigure(*server.plugin, {{"scanNotActiveBrokerInterval", "1m"}}).isOk());
    server.reconnect();
    server.registerBroker({.timeoutMs = 1}, kTwo);
    server.context->advance(59'999ms);
    EXPECT_TRUE(server.hasRoute("A"));
    server.context->advance(1ms);
    EXPECT_FALSE(server.hasRoute("A"));
}

TEST(Liveness, ABrokerLeavesAtOnceWhenItsConnectionEnds) {
    Namesrv server;
    const auto first = server.context->peer("127.0.0.1:50002", "namesrv");
    const auto second = server.context->peer("127.0.0.1:50003", "namesrv");
    server.registerOver(first, {}, kTwo);
    server.registerOver(second, {}, kTwo);
    server.context->disconnect(first);
    server.context->pump();
    EXPECT_TRUE(server.hasRoute("A")) << "it has registered over another connection since";
    server.registerBroker({.name = "broker-b", .address = "127.0.0.1:2"}, {topicOf("C"), topicOf("D")});
    server.context->disconnect(second);
    server.context->pump();
    EXPECT_FALSE(server.hasRoute("A"));
    EXPECT_TRUE(server.hasRoute("C")) << "a broker behind another connection";
}

TEST(Liveness, ARegistrationThatIsReadAfterItsConnectionEndedDoesNotStay) {
    Namesrv server;
    const auto connection = server.context->peer("127.0.0.1:50002", "namesrv");
    server.context->disconnect(connection);
    server.context->pump();
    server.registerOver(connection, {}, kTwo);
    EXPECT_FALSE(server.hasRoute("A"));
}

TEST(Liveness, TheEndOfAClientConnectionMeansNothing) {
    Namesrv server;
    server.registerBroker({}, kTwo);
    server.context->disconnect(server.context->peer("127.0.0.1:50009", "namesrv"));
    server.context->pump();
    EXPECT_TRUE(server.hasRoute("A"));
}

TEST(Liveness, AnUnregisteredBrokerIsGoneWhenTheAnswerIsThere) {
    Namesrv server;
    server.registerBroker({}, kTwo);
    EXPECT_EQ(server.call(RequestCode::UnregisterBroker, kBroker).code(), ResponseCode::Success);
    EXPECT_FALSE(server.hasRoute("A"));
}

TEST(Liveness, AServerThatWaitsForBrokersIsReadyAfterTheWaitEvenWhenNoneCame) {
    Namesrv server(testkit::Settings{{"needWaitForService", "true"}});
    server.context->advance(44'999ms);
    const auto early = server.route("A");
    EXPECT_EQ(early.code(), ResponseCode::SystemError);
    EXPECT_EQ(early.remark(), "name server not ready");
    server.context->advance(1ms);
    EXPECT_EQ(server.route("A").code(), ResponseCode::TopicNotExist);
    server.registerBroker({}, kTwo);
    EXPECT_TRUE(server.hasRoute("A"));
}

TEST(Liveness, MembersHearOfANewSmallestIdWhenTheOperatorWantsThat) {
    Namesrv server(testkit::Settings{{"notifyMinBrokerIdChanged", "true"}});
    server.registerBroker({.id = 1, .address = "127.0.0.1:2", .actingMaster = true}, kTwo);
    EXPECT_TRUE(server.context->remoting().calls().empty()) << "a first broker is no change";
    server.registerBroker({.haServerAddr = "127.0.0.1:7", .actingMaster = true}, kTwo);
    server.call(RequestCode::UnregisterBroker, kBroker);
    const auto calls = server.context->remoting().calls();
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_EQ(calls[0].hostPort, "127.0.0.1:2");
    EXPECT_EQ(calls[0].command.code, 905);
    EXPECT_TRUE(calls[0].command.isOneway());
    EXPECT_EQ(calls[0].command.find("minBrokerId"), "0");
    EXPECT_EQ(calls[0].command.find("minBrokerAddr"), "127.0.0.1:10911");
    EXPECT_EQ(calls[0].command.find("haBrokerAddr"), "127.0.0.1:7");
    EXPECT_FALSE(calls[0].command.find("offlineBrokerAddr"));
    EXPECT_EQ(calls[1].command.find("minBrokerId"), "1");
    EXPECT_EQ(calls[1].command.find("minBrokerAddr"), "127.0.0.1:2");
    EXPECT_EQ(calls[1].command.find("offlineBrokerAddr"), "127.0.0.1:10911");
    EXPECT_FALSE(calls[1].command.find("haBrokerAddr"));

    Namesrv quiet;
    quiet.registerBroker({.id = 1, .address = "127.0.0.1:2", .actingMaster = true}, kTwo);
    quiet.registerBroker({.actingMaster = true}, kTwo);
    EXPECT_TRUE(quiet.context->remoting().calls().empty());
}

TEST(Liveness, ClientsAreServedOnTheLoopAndBrokersInOrderOnOneThread) {
    Namesrv server;
    EXPECT_TRUE(server.context->binding(RequestCode::GetRouteinfoByTopic, "namesrv")->loopSafe);
    EXPECT_TRUE(server.context->binding(RequestCode::BrokerHeartbeat, "namesrv")->loopSafe);
    const auto* registration = server.context->binding(RequestCode::RegisterBroker, "namesrv");
    const auto* departure = server.context->binding(RequestCode::UnregisterBroker, "namesrv");
    EXPECT_FALSE(registration->loopSafe);
    EXPECT_EQ(registration->executor.threads, 1U);
    EXPECT_EQ(registration->executor.name, departure->executor.name);
    EXPECT_EQ(server.context->binding(RequestCode::SendMessage, "namesrv"), nullptr);
}

}  // namespace
}  // namespace patchbay::plugins::namesrv
