// Proves: members are given disjoint shares that cover all queues, by RocketMQ's rules; routes are asked for once; modes are kept.
// How: the allocation alone over many sizes; the plugin with a name server that answers by hand; recorded answers of Java's broker.
// Left to others: Java's client with clientRebalance=false (interop).
#include "../Recorded.h"

#include "ClientsPlugin.h"
#include "RebalancePlugin.h"
#include "TopicsPlugin.h"
#include "support/Heartbeats.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/route/TopicRoute.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/TempDir.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace patchbay::plugins::rebalance {
namespace {

using namespace std::chrono_literals;
using protocol::RequestCode;
using protocol::ResponseCode;
using testkit::Fields;

Queues queuesOf(std::int32_t count) {
    Queues queues;
    for (std::int32_t i = 0; i < count; ++i) queues.push_back({"T", "broker-a", i});
    return queues;
}

std::vector<std::string> clientsOf(int count) {
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i) ids.push_back("c" + std::to_string(100 + i));
    return ids;
}

std::vector<std::int32_t> numbers(const Queues& queues) {
    std::vector<std::int32_t> ids;
    for (const auto& queue : queues) ids.push_back(queue.queueId);
    return ids;
}

TEST(Allocation, SharesAreDisjointCompleteAndEven) {
    for (const Strategy strategy : {Strategy::Averagely, Strategy::ByCircle}) {
        for (std::int32_t queues = 1; queues <= 20; ++queues) {
            for (int members = 1; members <= 25; ++members) {
                const auto all = queuesOf(queues);
                Queues given;
                std::size_t least = all.size();
                std::size_t most = 0;
                for (const auto& id : clientsOf(members)) {
                    const auto share = allocate(strategy, all, clientsOf(members), id);
                    least = std::min(least, share.size());
                    most = std::max(most, share.size());
                    given.insert(given.end(), share.begin(), share.end());
                }
                std::ranges::sort(given);
                EXPECT_EQ(given, all) << queues << " queues, " << members << " members";
                EXPECT_LE(most - least, 1U);
            }
        }
    }
}

TEST(Allocation, BlocksAndCirclesAreThoseOfRocketMq) {
    EXPECT_EQ(numbers(allocate(Strategy::Averagely, queuesOf(8), clientsOf(3), "c100")), (std::vector<std::int32_t>{0, 1, 2}));
    EXPECT_EQ(numbers(allocate(Strategy::Averagely, queuesOf(8), clientsOf(3), "c101")), (std::vector<std::int32_t>{3, 4, 5}));
    EXPECT_EQ(numbers(allocate(Strategy::Averagely, queuesOf(8), clientsOf(3), "c102")), (std::vector<std::int32_t>{6, 7}));
    EXPECT_EQ(numbers(allocate(Strategy::ByCircle, queuesOf(8), clientsOf(3), "c101")), (std::vector<std::int32_t>{1, 4, 7}));
    EXPECT_TRUE(allocate(Strategy::Averagely, queuesOf(8), clientsOf(3), "stranger").empty());
    EXPECT_FALSE(strategyOf("CONSISTENT_HASH")) << "brokers know two only";
}

TEST(Allocation, MembersThatPopShareWithThoseBehindThem) {
    const auto pop = [](std::int32_t queues, int members, const std::string& id, std::int32_t shared) {
        return numbers(allocateForPop(Strategy::Averagely, queuesOf(queues), clientsOf(members), id, shared));
    };
    EXPECT_EQ(pop(8, 4, "c100", 0), std::vector<std::int32_t>{-1}) << "everything, as one queue of the broker";
    EXPECT_EQ(pop(8, 4, "c100", 3), std::vector<std::int32_t>{-1}) << "all others";
    EXPECT_EQ(pop(8, 4, "c103", 1), (std::vector<std::int32_t>{6, 7, 0, 1})) << "the first comes behind the last";
    EXPECT_EQ(pop(3, 5, "c104", 2), std::vector<std::int32_t>{1}) << "more members than queues";
    EXPECT_TRUE(pop(8, 4, "stranger", 1).empty());
}

class RebalanceTest : public ::testing::Test {
protected:
    void begin(testkit::Settings settings = {}, const std::string& nameServers = "127.0.0.1:9876") {
        auto& identity = context_.brokerIdentity();
        identity.storeRoot = dir_.path();
        identity.brokerName = "gold-a";
        identity.namesrvAddr = nameServers;
        runner_ = std::make_unique<testkit::PluginRunner>(context_);
        runner_->add<topics::TopicsPlugin>();
        runner_->add<clients::ClientsPlugin>();
        runner_->add<RebalancePlugin>(std::move(settings));
        const Status started = runner_->start();
        ASSERT_TRUE(started) << started.toString();
        auto& topics = recorded::provided<service::TopicConfigs>(context_);
        for (const char* name : {"OnTopic", "PbTopic"}) ASSERT_TRUE(topics.createIfMissing(name, 4, 6, 0));
        service::GroupFacts facts;
        for (const char* name : {"OnG", "PbG"}) ASSERT_TRUE(recorded::provided<service::SubscriptionGroups>(context_).findOrCreate(name, facts));
        context_.remoting().setHandler([this](const testkit::FakeRemoting::Call& call) { return route(call); });
    }
    void TearDown() override { runner_.reset(); }

    Result<protocol::RemotingCommand> route(const testkit::FakeRemoting::Call& call) {
        ++asked_;
        if (down_) return Status(StatusCode::Unavailable, "nobody there");
        protocol::RemotingCommand answer;
        const std::string topic(call.command.find("topic").value_or(""));
        if (topic == "Nowhere") {
            answer.code = static_cast<std::int32_t>(ResponseCode::TopicNotExist);
            return answer;
        }
        protocol::TopicRouteData data;
        for (const auto& broker : brokers_) data.queueDatas.push_back({broker, queuesOfEach_, 4, 6, 0});
        data.queueDatas.push_back({"write-only", 4, 4, 2, 0});
        answer.body = json::encode(data);
        return answer;
    }
    void join(const std::string& clientId, const std::string& group, const std::string& remote) {
        const auto data = test::consumerHeartbeat(clientId, group);
        testkit::CallOptions options;
        options.peer = context_.peer(remote);
        ASSERT_EQ(context_.call(RequestCode::HeartBeat, Fields{}, data.toJson(), options).code(), ResponseCode::Success);
    }
    std::string assign(const std::string& topic, const std::string& group, const std::string& clientId, const std::string& strategy = "AVG",
                       const std::string& model = "CLUSTERING") {
        auto call = context_.call(RequestCode::QueryAssignment, Fields{},
                                  R"({"clientId":")" + clientId + R"(","consumerGroup":")" + group + R"(","messageModel":")" + model +
                                      R"(","strategyName":")" + strategy + R"(","topic":")" + topic + "\"}");
        EXPECT_TRUE(call.await());
        EXPECT_EQ(call.code(), ResponseCode::Success);
        return call.body();
    }
    static std::size_t queues(const std::string& body) {
        const auto document = json::Document::parse(body);
        return document->root()["messageQueueAssignments"].size();
    }
    ResponseCode setMode(const std::string& body) { return context_.call(RequestCode::SetMessageRequestMode, Fields{}, body).code(); }

    std::int32_t queuesOfEach_ = 4;
    testkit::TempDir dir_;
    testkit::FakeContext context_;
    std::unique_ptr<testkit::PluginRunner> runner_;
    std::vector<std::string> brokers_{"gold-a"};
    bool down_ = false;
    int asked_ = 0;
};

TEST_F(RebalanceTest, AnswersAreThoseOfJavasBroker) {
    begin({{"popRequestModeEnable", "true"}});
    join("127.0.0.1@i2", "PbG", "127.0.0.1:1111");
    int compared = 0;
    for (const char* scenario : {"raw-assignment", "pop-set-request-mode", "push-back-server-reset"}) {
        for (const auto& pair : recorded::pairs(scenario)) {
            if ((pair.request.code != 400 && pair.request.code != 401) || pair.request.body.empty()) continue;
            SCOPED_TRACE(pair.where);
            auto call = context_.send(pair.request);
            ASSERT_TRUE(call.await());
            EXPECT_EQ(static_cast<std::int32_t>(call.code()), pair.response->code);
            EXPECT_EQ(call.remark(), pair.response->remark.value_or(""));
            // The queues of broadcasting clients come in no order from Java.
            const auto parts = [](const std::string& body) {
                std::vector<std::string> all;
                for (std::size_t at = 0; at < body.size();) {
                    const auto end = std::min(body.find("\"}", at), body.size());
                    all.push_back(body.substr(at, end - at));
                    at = end + 2;
                }
                for (auto& part : all) part.erase(0, part.find_first_not_of(",]}"));
                std::ranges::sort(all);
                return all;
            };
            if (pair.where == "raw-assignment 4") {
                EXPECT_EQ(queues(call.body()), 4U);
            } else {
                EXPECT_EQ(parts(call.body()), parts(pair.response->body));
            }
            ++compared;
        }
    }
    EXPECT_EQ(compared, 11);
}

TEST_F(RebalanceTest, QueuesOfAllBrokersAreSharedAndARouteIsAskedForOnce) {
    begin();
    brokers_ = {"gold-a", "gold-b"};
    join("c1", "OnG", "127.0.0.1:1111");
    join("c2", "OnG", "127.0.0.1:2222");
    EXPECT_EQ(queues(assign("OnTopic", "OnG", "c1")), 4U);
    EXPECT_EQ(queues(assign("OnTopic", "OnG", "c2")), 4U);
    EXPECT_EQ(queues(assign("OnTopic", "OnG", "c1", "AVG_BY_CIRCLE")), 4U);
    EXPECT_EQ(queues(assign("OnTopic", "OnG", "c1", "AVG", "BROADCASTING")), 8U);
    EXPECT_EQ(assign("OnTopic", "OnG", "stranger"), R"({"messageQueueAssignments":[]})") << "own nothing";
    EXPECT_EQ(assign("OnTopic", "Nobody", "c1"), "{}") << "keep what you have";
    EXPECT_EQ(asked_, 1);
    context_.advance(31s);
    brokers_ = {"gold-a"};
    EXPECT_EQ(queues(assign("OnTopic", "OnG", "c1")), 2U);
    EXPECT_EQ(asked_, 2);
}

TEST_F(RebalanceTest, ARouteThatSaysSoHasNotMoreQueuesThanATopicMayHave) {
    begin();
    queuesOfEach_ = INT32_MAX;
    join("only", "OnG", "192.0.2.1:1");
    EXPECT_EQ(queues(assign("OnTopic", "OnG", "only")), brokers_.size() * static_cast<std::size_t>(protocol::kTopicQueuesMax));
}

TEST_F(RebalanceTest, ManyThatAskAtOnceCostOneCall) {
    begin();
    join("c1", "OnG", "127.0.0.1:1111");
    const std::string body = R"({"clientId":"c1","consumerGroup":"OnG","messageModel":"CLUSTERING","strategyName":"AVG","topic":"OnTopic"})";
    std::vector<testkit::CallResult> calls;
    for (int i = 0; i < 5; ++i) calls.push_back(context_.call(RequestCode::QueryAssignment, Fields{}, body));
    for (auto& call : calls) {
        ASSERT_TRUE(call.await());
        EXPECT_EQ(queues(call.body()), 4U);
    }
    EXPECT_EQ(asked_, 1);
}

TEST_F(RebalanceTest, WithoutANameServerTheLastRouteOrTheBrokersOwnQueuesCount) {
    begin({}, "127.0.0.1:1;127.0.0.1:2");
    join("c1", "OnG", "127.0.0.1:1111");
    down_ = true;
    EXPECT_EQ(queues(assign("OnTopic", "OnG", "c1")), 4U) << "its own topic";
    EXPECT_EQ(asked_, 2) << "both were asked";
    down_ = false;
    brokers_ = {"gold-a", "gold-b"};
    context_.advance(31s);
    EXPECT_EQ(queues(assign("OnTopic", "OnG", "c1")), 8U);
    down_ = true;
    context_.advance(31s);
    EXPECT_EQ(queues(assign("OnTopic", "OnG", "c1")), 8U);
    EXPECT_EQ(assign("NoTopic", "OnG", "c1"), "{}");
    down_ = false;
    EXPECT_EQ(assign("Nowhere", "OnG", "c1"), "{}");
}

TEST_F(RebalanceTest, ABalancerThatIsOffGivesEverybodyEverything) {
    begin({{"serverLoadBalancerEnable", "false"}}, "");
    join("c1", "OnG", "127.0.0.1:1111");
    join("c2", "OnG", "127.0.0.1:2222");
    EXPECT_EQ(queues(assign("OnTopic", "OnG", "c2")), 4U);
    EXPECT_EQ(asked_, 0) << "there is no name server";
}

TEST_F(RebalanceTest, AModeIsKeptOverARestartAndPopNeedsSomebodyWhoServesIt) {
    begin({{"popRequestModeEnable", "true"}}, "");
    join("c1", "OnG", "127.0.0.1:1111");
    EXPECT_EQ(setMode(R"({"topic":"OnTopic","consumerGroup":"OnG","mode":"POP","popShareQueueNum":0})"), ResponseCode::Success);
    EXPECT_EQ(setMode(R"({"topic":"OnTopic","consumerGroup":"OnG","mode":"PUSH"})"), ResponseCode::InvalidParameter);
    EXPECT_EQ(setMode(R"({"topic":"OnTopic","consumerGroup":"NoSuchG","mode":"POP"})"), ResponseCode::SubscriptionGroupNotExist);
    const std::string file = recorded::readText(dir_.path() + "/config/messageRequestMode.json");
    EXPECT_NE(file.find("\"messageRequestModeMap\""), std::string::npos) << file;
    runner_.reset();
    context_.forgetPlugins();
    begin({{"popRequestModeEnable", "true"}}, "");
    join("c1", "OnG", "127.0.0.1:1111");
    EXPECT_NE(assign("OnTopic", "OnG", "c1").find("\"POP\""), std::string::npos);
    runner_.reset();
    context_.forgetPlugins();
    begin({}, "");
    join("c1", "OnG", "127.0.0.1:1111");
    EXPECT_NE(assign("OnTopic", "OnG", "c1").find("\"PULL\""), std::string::npos) << "nobody serves pop any more";
    EXPECT_EQ(setMode(R"({"topic":"OnTopic","consumerGroup":"OnG","mode":"POP"})"), ResponseCode::NoPermission);
    EXPECT_EQ(setMode(R"({"topic":"OnTopic","consumerGroup":"OnG","mode":"PULL"})"), ResponseCode::Success);
}

}  // namespace
}  // namespace patchbay::plugins::rebalance
