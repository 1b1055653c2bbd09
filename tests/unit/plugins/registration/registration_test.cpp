// Proved: what this broker tells its name servers, when, and that it is silent once it leaves; that dead servers hold up nobody.
// How: a fake topic table, a manual clock, and calls to name servers that the test answers, or the real name server's route
// table behind them.
// Left to others: sockets, and the order in which a kernel stops.
#include "FakeTopics.h"
#include "RegistrationPlugin.h"
#include "RouteTable.h"
#include "TopicChunks.h"

#include "patchbay/protocol/headers/NameServer.h"
#include "patchbay/protocol/route/RegisterBroker.h"
#include "patchbay/protocol/util/Crc32.h"
#include "patchbay/protocol/PrivateCode.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace patchbay::plugins::registration {
namespace {

using namespace std::chrono_literals;
using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;
using Call = testkit::FakeRemoting::Call;

const std::string kOne = "10.0.0.1:9876";
const std::string kTwo = "10.0.0.2:9876";

RemotingCommand success() { return RemotingCommand::response(ResponseCode::Success, 0); }

struct Told {
    std::set<std::string> topics;
    protocol::DataVersion version;
    protocol::TopicConfigTable table;
};

Told told(const Call& call) {
    const bool compressed = call.command.find("compressed") == "true";
    auto body = protocol::RegisterBrokerBody::decode(call.command.body, call.command.version, compressed);
    EXPECT_TRUE(body.has_value());
    Told result;
    if (!body) return result;
    result.version = body->topicConfigSerializeWrapper.dataVersion;
    result.table = body->topicConfigSerializeWrapper.topicConfigTable;
    for (const auto& [name, topic] : result.table) result.topics.insert(name);
    return result;
}

class RegistrationTest : public ::testing::Test {
protected:
    /// Lets everything be answered, so that the stop has nothing to wait for.
    void TearDown() override {
        answerAll();
        for (std::size_t i = 0; i < context.remoting().calls().size(); ++i) context.remoting().answer(i, success());
        context.pump();
        runner.stop();
    }

    void start(testkit::Settings settings = {}, const std::string& servers = kOne) {
        // Answers come with pump() only, on the thread that would wait for them.
        settings.try_emplace("unregisterBrokerTimeoutMillis", "0");
        topics.set("A");
        topics.set("B");
        context.provide<service::TopicConfigs>(topics);
        context.brokerIdentity().namesrvAddr = servers;
        plugin = &runner.add<RegistrationPlugin>(std::move(settings));
        ASSERT_TRUE(runner.start().isOk());
        context.pump();
    }
    void answerAll() {
        context.remoting().setHandler([](const Call&) { return Result<RemotingCommand>(success()); });
    }
    std::vector<Call> calls(RequestCode code, const std::string& server = kOne) {
        std::vector<Call> found;
        for (const auto& call : context.remoting().calls()) {
            if (call.command.code == static_cast<std::int32_t>(code) && call.hostPort == server) found.push_back(call);
        }
        return found;
    }
    std::vector<Call> registrations(const std::string& server = kOne) { return calls(RequestCode::RegisterBroker, server); }
    /// Answers the newest call to a server.
    void answerLast(Result<RemotingCommand> with, const std::string& server = kOne) {
        const auto all = context.remoting().calls();
        for (std::size_t i = all.size(); i-- > 0;) {
            if (all[i].hostPort == server) {
                context.remoting().answer(i, std::move(with));
                context.pump();
                return;
            }
        }
        FAIL() << "no call to " << server;
    }
    service::Registration& service() {
        auto* found = context.services().find<service::Registration>();
        PATCHBAY_ASSERT(found != nullptr);
        return *found;
    }

    Registrar& registrar() { return static_cast<Registrar&>(service()); }

    testkit::FakeContext context;
    FakeTopics topics;
    testkit::PluginRunner runner{context};
    RegistrationPlugin* plugin = nullptr;
};

TEST_F(RegistrationTest, TheFirstRegistrationTellsEverythingToEveryServerAtOnce) {
    context.brokerIdentity().haServerAddr = "127.0.0.1:10912";
    start({}, kOne + " ; " + kTwo + ";;" + kOne);
    ASSERT_EQ(context.remoting().calls().size(), 2U) << "a server that is named twice is told once";
    for (const auto& server : {kOne, kTwo}) {
        ASSERT_EQ(registrations(server).size(), 1U);
        const auto command = registrations(server)[0].command;
        EXPECT_EQ(command.find("brokerName"), "broker-a");
        EXPECT_EQ(command.find("brokerAddr"), "127.0.0.1:10911");
        EXPECT_EQ(command.find("clusterName"), "DefaultCluster");
        EXPECT_EQ(command.find("haServerAddr"), "127.0.0.1:10912");
        EXPECT_EQ(command.find("brokerId"), "0");
        EXPECT_EQ(command.find("enableActingMaster"), "false");
        EXPECT_EQ(command.find("compressed"), "false");
        EXPECT_EQ(command.find("bodyCrc32"), std::to_string(protocol::maskedCrc32(command.body)));
        EXPECT_EQ(told(registrations(server)[0]).topics, (std::set<std::string>{"A", "B"}));
        EXPECT_EQ(told(registrations(server)[0]).version, topics.dataVersion());
    }
}

TEST_F(RegistrationTest, EverythingIsToldAgainEveryThirtySeconds) {
    answerAll();
    start();
    context.advance(29'999ms);
    EXPECT_EQ(registrations().size(), 1U);
    context.advance(1ms);
    ASSERT_EQ(registrations().size(), 2U);
    EXPECT_EQ(told(registrations()[1]).version, topics.dataVersion()) << "nothing changed, so the server need not rewrite anything";
    context.advance(60s);
    EXPECT_EQ(registrations().size(), 4U);
}

TEST_F(RegistrationTest, ThePeriodIsAKeyWithinTenAndSixtySeconds) {
    answerAll();
    start({{"registerNameServerPeriod", "1000"}});
    context.advance(9'999ms);
    EXPECT_EQ(registrations().size(), 1U);
    context.advance(1ms);
    EXPECT_EQ(registrations().size(), 2U);
    ASSERT_TRUE(runner.reconfigure(*plugin, {{"registerNameServerPeriod", "1h"}}).isOk());
    context.advance(59'999ms);
    EXPECT_EQ(registrations().size(), 2U);
    context.advance(1ms);
    EXPECT_EQ(registrations().size(), 3U);
}

TEST_F(RegistrationTest, AServerThatOpensAMomentLaterIsReachedWithinATenthOfASecond) {
    start();
    auto openFrom = context.clock().now() + 60ms;
    context.remoting().setHandler([&](const Call&) -> Result<RemotingCommand> {
        if (context.clock().now() < openFrom) return {StatusCode::Unavailable, "connection refused"};
        return success();
    });
    answerLast({StatusCode::Unavailable, "connection refused"});
    context.advance(100ms);
    EXPECT_TRUE(context.log().contains("registered with name server"));
    EXPECT_EQ(context.log().count(plugin::LogLevel::Warn), 0U);
    const auto count = registrations().size();
    context.advance(20s);
    EXPECT_EQ(registrations().size(), count);
}

TEST_F(RegistrationTest, ADeadServerHoldsUpNobodyAndIsOneLineInTheLog) {
    bool secondIsUp = false;
    context.remoting().setHandler([&](const Call& call) -> Result<RemotingCommand> {
        if (call.hostPort == kTwo && !secondIsUp) return {StatusCode::Unavailable, "connection refused"};
        return success();
    });
    start({}, kTwo + ";" + kOne);
    EXPECT_EQ(registrations(kOne).size(), 1U);
    topics.set("C");
    context.advance(10ms);
    EXPECT_EQ(told(registrations(kOne).back()).topics, std::set<std::string>{"C"});
    context.advance(10min);
    EXPECT_EQ(context.log().count(plugin::LogLevel::Warn), 1U);
    EXPECT_LT(registrations(kTwo).size(), 140U) << "every five seconds";
    secondIsUp = true;
    context.advance(5s);
    EXPECT_EQ(told(registrations(kTwo).back()).topics, (std::set<std::string>{"A", "B", "C"}));
    secondIsUp = false;
    context.advance(10min);
    EXPECT_EQ(context.log().count(plugin::LogLevel::Warn), 2U);
}

TEST_F(RegistrationTest, AChangedTopicIsToldAtOnceAndAlone) {
    answerAll();
    start();
    context.advance(1s);
    topics.set("C", 7);
    context.pump();
    ASSERT_EQ(registrations().size(), 2U);
    EXPECT_EQ(told(registrations()[1]).topics, std::set<std::string>{"C"});
    EXPECT_EQ(told(registrations()[1]).version, topics.dataVersion());
    ASSERT_TRUE(topics.remove("C").isOk());
    context.advance(1s);
    EXPECT_EQ(registrations().size(), 2U) << "deletions are told by who asked for them";
}

TEST_F(RegistrationTest, ChangesThatComeMeanwhileWaitForTheAnswerAndGoTogether) {
    start();
    answerLast(success());
    context.advance(1s);
    topics.set("C");
    context.pump();
    ASSERT_EQ(registrations().size(), 2U);
    for (int i = 0; i < 1'000; ++i) topics.set("T" + std::to_string(i));
    context.pump();
    EXPECT_EQ(registrations().size(), 2U) << "one at a time";
    answerLast(success());
    context.advance(10ms);
    ASSERT_EQ(registrations().size(), 3U);
    EXPECT_EQ(told(registrations()[2]).topics.size(), 1'000U);
}

TEST_F(RegistrationTest, ManyCreationsAreNoStormEvenWhenAnswersAreFast) {
    answerAll();
    start();
    for (int i = 0; i < 1'000; ++i) {
        topics.set("T" + std::to_string(i));
        context.advance(1ms);
    }
    context.advance(10ms);
    EXPECT_LE(registrations().size(), 103U) << "at most one in ten milliseconds";
    std::set<std::string> all;
    for (const auto& call : registrations()) all.merge(told(call).topics);
    EXPECT_EQ(all.size(), 1'002U);
}

TEST_F(RegistrationTest, AFailedChangeIsMadeUpForByTellingAll) {
    start();
    answerLast(success());
    context.advance(1s);
    topics.set("C");
    context.pump();
    auto refused = RemotingCommand::response(ResponseCode::SystemError, 0);
    refused.remark = "register broker failed";  // the server was restarted and does not know us
    answerLast(std::move(refused));
    context.advance(10ms);
    ASSERT_EQ(registrations().size(), 3U);
    EXPECT_EQ(told(registrations()[2]).topics, (std::set<std::string>{"A", "B", "C"}));
    EXPECT_NE(told(registrations()[2]).version, told(registrations()[1]).version) << "else the server would take it for known";
}

TEST_F(RegistrationTest, WithoutForceTheServerIsAskedFirst) {
    answerAll();
    start({{"forceRegister", "false"}});
    std::string changed = "false";
    context.remoting().setHandler([&](const Call& call) -> Result<RemotingCommand> {
        auto answer = success();
        if (call.command.code == static_cast<std::int32_t>(RequestCode::QueryDataVersion)) answer.set("changed", changed);
        return answer;
    });
    context.advance(30s);
    ASSERT_EQ(calls(RequestCode::QueryDataVersion).size(), 1U);
    EXPECT_EQ(protocol::DataVersion::fromJson(calls(RequestCode::QueryDataVersion)[0].command.body).value(), topics.dataVersion());
    EXPECT_EQ(registrations().size(), 1U);
    changed = "true";
    context.advance(30s);
    EXPECT_EQ(registrations().size(), 2U);
}

TEST_F(RegistrationTest, ARegistrationCanBeCompressed) {
    start({{"compressedRegister", "true"}});
    const auto command = registrations().at(0).command;
    EXPECT_EQ(command.find("compressed"), "true");
    EXPECT_EQ(command.body[0], '\x78');
    EXPECT_EQ(command.find("bodyCrc32"), std::to_string(protocol::maskedCrc32(command.body)));
    EXPECT_EQ(told(registrations()[0]).topics, (std::set<std::string>{"A", "B"}));
}

TEST_F(RegistrationTest, ABrokerThatMayNotBeWrittenToSaysSoOfAllItsTopics) {
    answerAll();
    start();
    ASSERT_TRUE(runner.reconfigure(*plugin, {{"brokerPermission", "4"}}).isOk());
    context.pump();
    const auto last = told(registrations().back());
    EXPECT_EQ(last.table.at("A").perm, 4U);
    EXPECT_NE(last.version, topics.dataVersion()) << "the server would not look at it otherwise";
    context.advance(30s);
    EXPECT_EQ(told(registrations().back()).version, last.version);
}

TEST_F(RegistrationTest, TheOrderConfigurationOfAServerMarksTopicsAndBadOnesAreIgnored) {
    std::string body = R"({"table":{"A":"broker-a:4","NoSuch":"x",null:"y"}})";
    context.remoting().setHandler([&](const Call&) -> Result<RemotingCommand> {
        auto answer = success();
        answer.body = body;
        return answer;
    });
    start();
    EXPECT_TRUE(topics.get("A")->order);
    EXPECT_FALSE(topics.get("B")->order);
    EXPECT_FALSE(topics.get("NoSuch").has_value());
    context.advance(10ms);
    EXPECT_TRUE(told(registrations().back()).table.at("A").order);
    const auto before = topics.dataVersion();
    body = "{\"table\":{";
    context.advance(30s);
    EXPECT_EQ(topics.dataVersion(), before);
    EXPECT_TRUE(context.log().contains("order configuration"));
}

TEST_F(RegistrationTest, ABrokerWithoutNameServersStartsAndStops) {
    start({}, "");
    context.advance(1min);
    service().registerSoon();
    service().unregister();
    EXPECT_TRUE(context.remoting().calls().empty());
    EXPECT_TRUE(context.log().contains("no name server"));
}

// Leaving

TEST_F(RegistrationTest, StoppingUnregistersEverywhere) {
    answerAll();
    start({}, kOne + ";" + kTwo);
    runner.stop();
    for (const auto& server : {kOne, kTwo}) {
        const auto leaves = calls(RequestCode::UnregisterBroker, server);
        ASSERT_EQ(leaves.size(), 1U);
        EXPECT_EQ(leaves[0].command.find("brokerName"), "broker-a");
        EXPECT_EQ(leaves[0].command.find("brokerAddr"), "127.0.0.1:10911");
        EXPECT_EQ(leaves[0].command.find("brokerId"), "0");
        EXPECT_EQ(context.remoting().calls().size(), 4U);
    }
}

TEST_F(RegistrationTest, NothingRegistersAnyMoreOnceItLeaves) {
    answerAll();
    start();
    plugin->drain();
    context.pump();
    const auto before = context.remoting().calls().size();
    topics.set("C");
    service().registerSoon();
    plugin->drain();
    context.advance(10min);
    EXPECT_EQ(context.remoting().calls().size(), before);
}

TEST_F(RegistrationTest, ADepartureWaitsForTheRegistrationThatIsUnderWay) {
    start();
    ASSERT_EQ(registrations().size(), 1U);
    ASSERT_TRUE(registrar().leave());
    context.advance(10s);
    EXPECT_TRUE(calls(RequestCode::UnregisterBroker).empty()) << "it could overtake the registration inside the server";
    answerLast(success());
    EXPECT_EQ(calls(RequestCode::UnregisterBroker).size(), 1U);
    answerLast(success());
    context.advance(10min);
    EXPECT_EQ(registrations().size(), 1U);
    registrar().awaitLeft();
    EXPECT_EQ(context.remoting().calls().size(), 2U);
}

TEST_F(RegistrationTest, ARegistrationThatFailsWhileLeavingIsTakenBackAllTheSame) {
    start();
    ASSERT_TRUE(registrar().leave());
    answerLast({StatusCode::DeadlineExceeded, "no answer"});
    EXPECT_EQ(calls(RequestCode::UnregisterBroker).size(), 1U) << "the server may have taken it in";
    context.advance(10min);
    EXPECT_EQ(registrations().size(), 1U);
}

TEST_F(RegistrationTest, AServerThatDoesNotAnswerHoldsUpTheStopForABoundedTime) {
    start({{"unregisterBrokerTimeoutMillis", "20"}});
    std::atomic<bool> stopped = false;
    std::thread stopping([&] {
        runner.stop();
        stopped = true;
    });
    while (!stopped) {
        context.manualClock().advance(1ms);
        std::this_thread::yield();
    }
    stopping.join();
    EXPECT_EQ(calls(RequestCode::UnregisterBroker).size(), 1U) << "behind the registration, on the same connection";
    context.remoting().answer(0, success());
    context.remoting().answer(1, success());
    context.pump();
    EXPECT_EQ(context.remoting().calls().size(), 2U) << "answers after the stop have no effect";
}

TEST_F(RegistrationTest, ChangesFromOtherThreadsRaceWithTheStop) {
    answerAll();
    start();
    std::atomic<bool> stop = false;
    std::thread creator([&] {
        for (int i = 0; !stop; ++i) topics.set("T" + std::to_string(i % 50));
    });
    for (int i = 0; i < 20; ++i) context.advance(10ms);
    plugin->drain();
    context.pump();
    stop = true;
    creator.join();
    context.advance(1min);
    const auto all = context.remoting().calls();
    EXPECT_EQ(all.back().command.code, static_cast<std::int32_t>(RequestCode::UnregisterBroker));
    EXPECT_EQ(calls(RequestCode::UnregisterBroker).size(), 1U);
}

// Against a real route table

TEST_F(RegistrationTest, AStopWaitsUntilTheServersHaveAnswered) {
    answerAll();
    start({{"unregisterBrokerTimeoutMillis", "1m"}});
    std::atomic<bool> drained = false;
    std::thread stopping([&] {
        plugin->drain();
        drained = true;
    });
    while (calls(RequestCode::UnregisterBroker).empty()) std::this_thread::yield();
    EXPECT_FALSE(drained);
    context.pump();
    stopping.join();
    EXPECT_EQ(calls(RequestCode::UnregisterBroker).size(), 1U);
}

TEST_F(RegistrationTest, SaysThatTheNameServerReachesTheAddressThatClientsAreTold) {
    constexpr auto kReach = static_cast<RequestCode>(protocol::PrivateCode::ReachBroker);
    context.remoting().setHandler([](const Call& call) -> Result<RemotingCommand> {
        auto answer = success();
        if (call.command.code == static_cast<std::int32_t>(kReach)) answer.set("reached", "true");
        return answer;
    });
    start();
    context.advance(90s);
    ASSERT_EQ(calls(kReach).size(), 1U) << "once, when the server begins to know this broker";
    EXPECT_EQ(calls(kReach)[0].command.find("address"), "127.0.0.1:10911");
    EXPECT_TRUE(context.log().contains("the address that clients are told answers, seen from the name server"));
}

TEST_F(RegistrationTest, WarnsWhenTheNameServerDoesNotReachTheAddressThatClientsAreTold) {
    context.remoting().setHandler([](const Call& call) -> Result<RemotingCommand> {
        auto answer = success();
        if (call.command.code == static_cast<std::int32_t>(protocol::PrivateCode::ReachBroker)) {
            answer.set("reached", "false");
            answer.set("error", "connection refused");
        }
        return answer;
    });
    start();
    context.advance(2s);
    EXPECT_TRUE(context.log().contains("does not answer, seen from the name server; set brokerIP1"));
    EXPECT_TRUE(context.log().contains("error=\"connection refused\""));
}

TEST_F(RegistrationTest, SaysNothingOfItWhenANameServerDoesNotKnowTheQuestion) {
    context.remoting().setHandler([](const Call& call) -> Result<RemotingCommand> {
        if (call.command.code == static_cast<std::int32_t>(protocol::PrivateCode::ReachBroker)) {
            return RemotingCommand::response(protocol::ResponseCode::RequestCodeNotSupported, 0);
        }
        return success();
    });
    start();
    context.advance(2s);
    EXPECT_FALSE(context.log().contains("seen from the name server"));
}

class WithRouteTable : public RegistrationTest {
protected:
    void connect() {
        context.remoting().setHandler([this](const Call& call) -> Result<RemotingCommand> {
            if (call.command.code != static_cast<std::int32_t>(RequestCode::RegisterBroker)) return success();
            std::string frame = *call.command.encode(protocol::SerializeType::Json);
            EXPECT_LE(frame.size(), protocol::kFrameBytesMax);
            protocol::CommandView view;
            EXPECT_TRUE(protocol::CommandView::decode(std::span(frame).subspan(4), view).isOk());
            auto header = protocol::RegisterBrokerRequest::parse(view);
            EXPECT_TRUE(header.has_value());
            auto body = protocol::RegisterBrokerBody::decode(view.body, view.version, header->compressed);
            EXPECT_TRUE(body.has_value());
            if (!header || !body) return {StatusCode::Corrupt, "test"};
            auto done = table.registerBroker(*header, *body, {}, {}, 1min, false);
            if (!done) return RemotingCommand::response(ResponseCode::SystemError, 0);
            ++accepted;
            return success();
        });
    }
    std::int32_t queuesOf(std::string_view topic) {
        std::string body;
        if (!table.writeRoute({.topic = topic}, body)) return -1;
        return protocol::TopicRouteData::fromJson(body)->queueDatas.at(0).readQueueNums;
    }

    namesrv::RouteTable table;
    int accepted = 0;
};

TEST_F(WithRouteTable, SeventyThousandTopicsAreToldInPiecesThatFit) {
    const std::string padding(100, 'x');
    for (int i = 0; i < 70'000; ++i) topics.set("topic-" + padding + std::to_string(i));
    connect();
    start();
    EXPECT_EQ(table.topics().size(), 70'002U);
    EXPECT_GT(accepted, 4);
    const int before = accepted;
    table.deleteTopic("A", "");
    context.advance(30s);
    EXPECT_EQ(table.topics().size(), 70'002U);
    EXPECT_EQ(accepted, 2 * before);
}

TEST_F(WithRouteTable, PiecesOfAChosenSizeCarryChangesOfEveryTopic) {
    for (int i = 0; i < 10; ++i) topics.set("T" + std::to_string(i), 4);
    start({{"enableSplitRegistration", "true"}, {"splitRegistrationSize", "3"}});
    answerLast({StatusCode::Unavailable, "refused"});
    connect();
    context.advance(10ms);
    EXPECT_EQ(accepted, 4);
    for (int i = 0; i < 10; ++i) topics.set("T" + std::to_string(i), 8);
    service().registerSoon();
    context.advance(10ms);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(queuesOf("T" + std::to_string(i)), 8) << i;
}

TEST_F(WithRouteTable, ASingleTopicIsRegisteredToo) {
    connect();
    topics.set("A");
    context.provide<service::TopicConfigs>(topics);
    context.brokerIdentity().namesrvAddr = kOne;
    runner.add<RegistrationPlugin>({{"unregisterBrokerTimeoutMillis", "0"}});
    ASSERT_TRUE(runner.start().isOk());
    context.pump();
    EXPECT_EQ(queuesOf("A"), 4);
}

TEST_F(WithRouteTable, AChangeWhoseVersionWasAlreadyToldIsNotLost) {
    connect();
    start();
    context.advance(1s);
    topics.set("B", 5);
    context.pump();
    topics.changeSilently("A", 9);  // its version went out with B before its own word came
    topics.tell("A");
    context.advance(10ms);
    EXPECT_EQ(queuesOf("B"), 5);
    EXPECT_EQ(queuesOf("A"), 9);
}

TEST(TopicChunks, HoldAllTopicsOnceWithinTheirLimits) {
    std::vector<protocol::TopicConfig> all(100);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].topicName = "T" + std::to_string(i);
    EXPECT_EQ(splitTopics(all, 0).size(), 1U);
    const auto byCount = splitTopics(all, 30);
    ASSERT_EQ(byCount.size(), 4U);
    EXPECT_EQ(byCount[3].size(), 10U);
    std::size_t sum = 0;
    for (const auto& chunk : splitTopics(all, 0, 2'000)) {
        protocol::RegisterBrokerBody body;
        body.topicConfigSerializeWrapper.topicConfigTable = chunk;
        EXPECT_LE(body.toJson().size(), 2'000U + 400U);
        sum += chunk.size();
    }
    EXPECT_EQ(sum, 100U);
    EXPECT_EQ(splitTopics({}, 0).size(), 1U);
}

}  // namespace
}  // namespace patchbay::plugins::registration
