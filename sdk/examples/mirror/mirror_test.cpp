// Proves: what is stored arrives at the other cluster at least once and in order, also over failed sends, refusals and restarts; what a mirror
// has brought does not. How: the store and the kernel of the test kit, a cluster of the test's own behind its connections.
// Left to others: real brokers (tests/plugin/mirror_test), the store.
#include "Mirror.h"

#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

namespace mirror {
namespace {

using namespace patchbay;
using namespace std::chrono_literals;
using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;

/// The other cluster: brokers b1 and b2 with two queues each. Keeps what was sent, by "address/queue".
struct OtherCluster {
    struct Message {
        std::string body;
        std::string properties;
    };

    Result<RemotingCommand> answer(const testkit::FakeRemoting::Call& call) {
        const auto code = static_cast<RequestCode>(call.command.code);
        if (code == RequestCode::GetRouteinfoByTopic) return route(call);
        ++sends;
        if (failures > 0) {
            --failures;
            return Status(StatusCode::DeadlineExceeded, "no answer");
        }
        if (call.command.body.find(illegal) != std::string::npos) return RemotingCommand::response(ResponseCode::MessageIllegal, 0);
        topics.push_back(std::string(call.command.find("b").value_or("")));
        auto& queue = queues[call.hostPort + "/" + std::string(call.command.find("e").value_or(""))];
        if (code == RequestCode::SendMessageV2) {
            queue.push_back({call.command.body, std::string(call.command.find("i").value_or(""))});
        } else {
            protocol::BatchEntry entry;
            for (protocol::BatchReader reader(call.command.body); reader.next(entry);) queue.push_back({std::string(entry.body), std::string(entry.properties)});
        }
        return RemotingCommand::response(ResponseCode::Success, 0);
    }
    Result<RemotingCommand> route(const testkit::FakeRemoting::Call& call) {
        asked.push_back(call.hostPort);
        if (!hasTopic) return RemotingCommand::response(ResponseCode::TopicNotExist, 0);
        auto found = RemotingCommand::response(ResponseCode::Success, 0);
        found.body = R"({"queueDatas":[{"brokerName":"b2","readQueueNums":2,"writeQueueNums":2,"perm":6},{"brokerName":"b1","readQueueNums":2,"writeQueueNums":2,"perm":6}],)"
                     R"("brokerDatas":[{"cluster":"c","brokerName":"b1","brokerAddrs":{"0":"h1:1"}},{"cluster":"c","brokerName":"b2","brokerAddrs":{"0":"h2:1","1":"h3:1"}}]})";
        return found;
    }
    [[nodiscard]] std::vector<std::string> bodies(const std::string& queue) const {
        std::vector<std::string> list;
        if (const auto found = queues.find(queue); found != queues.end()) {
            for (const auto& message : found->second) list.push_back(message.body);
        }
        return list;
    }

    std::map<std::string, std::vector<Message>> queues;
    std::vector<std::string> topics;
    std::vector<std::string> asked;
    std::string illegal = "\x01nothing";
    int failures = 0;
    int sends = 0;
    bool hasTopic = true;
};

class MirrorTest : public ::testing::Test {
protected:
    MirrorTest() {
        context.brokerIdentity().clusterName = "here";
        context.brokerIdentity().storeRoot = directory.path();
        context.provide<service::MessageStore>(store);
        context.remoting().setHandler([this](const testkit::FakeRemoting::Call& call) { return other.answer(call); });
    }
    void put(const std::string& body, std::int32_t queueId = 0, const std::string& topic = "Orders") {
        (void)testkit::appendOne(store, {.topic = topic, .queueId = queueId, .body = body, .tags = "TagA", .keys = "k-" + body});
    }
    static std::vector<std::string> numbered(int from, int to) {
        std::vector<std::string> list;
        for (int i = from; i < to; ++i) list.push_back("m" + std::to_string(i));
        return list;
    }
    void putNumbered(int from, int to) {
        for (const auto& body : numbered(from, to)) put(body);
    }
    /// A mirror from its start; ended by the next one or by the test.
    Status begin(testkit::Settings settings = {}) {
        end();
        context.forgetPlugins();
        context.provide<service::MessageStore>(store);
        settings.emplace("mirrorTopics", "Orders");
        settings.emplace("mirrorNamesrvAddr", "n1:1;n2:1");
        runner = std::make_unique<testkit::PluginRunner>(context);
        runner->add<Mirror>(std::move(settings));
        return runner->start();
    }
    void end() { runner.reset(); }
    [[nodiscard]] std::string progress() const {
        const auto text = systemFiles().readAll(directory.path() + "/config/mirror.progress");
        return text ? *text : text.error().toString();
    }

    testkit::TempDir directory;
    testkit::FakeContext context{systemFiles()};
    testkit::MemoryStore store{context.clock()};
    OtherCluster other;
    std::unique_ptr<testkit::PluginRunner> runner;
};

TEST_F(MirrorTest, ForwardsEveryQueueInOrderWithWhatTheMessagesCarry) {
    ASSERT_TRUE(begin({{"mirrorTopicPrefix", "eu_"}, {"mirrorBatchMessages", "4"}}));
    putNumbered(0, 10);
    put("other queue", 1);
    put("third", 2);
    put("not mirrored", 0, "Payments");
    context.advance(2s);
    EXPECT_EQ(other.bodies("h1:1/0"), numbered(0, 10));
    EXPECT_EQ(other.bodies("h1:1/1"), std::vector<std::string>{"other queue"});
    EXPECT_EQ(other.bodies("h2:1/0"), std::vector<std::string>{"third"});
    EXPECT_TRUE(std::ranges::all_of(other.topics, [](const auto& topic) { return topic == "eu_Orders"; }));
    const auto& message = other.queues["h1:1/0"].at(3);
    EXPECT_EQ(protocol::findProperty(message.properties, "TAGS"), "TagA");
    EXPECT_EQ(protocol::findProperty(message.properties, "KEYS"), "k-m3");
    EXPECT_EQ(protocol::findProperty(message.properties, kOriginProperty), "here");
    EXPECT_EQ(context.metrics().value("mirror_forwarded_total"), 12U);
    EXPECT_EQ(other.sends, 5) << "10 messages in batches of at most 4, and two alone";
}

TEST_F(MirrorTest, BeginsAtTheEndOrWhereItIsTold) {
    putNumbered(0, 3);
    ASSERT_TRUE(begin());
    putNumbered(3, 5);
    context.advance(2s);
    EXPECT_EQ(other.bodies("h1:1/0"), numbered(3, 5));
    end();
    std::remove((directory.path() + "/config/mirror.progress").c_str());
    other.queues.clear();
    ASSERT_TRUE(begin({{"mirrorFromBeginning", "true"}}));
    context.advance(2s);
    EXPECT_EQ(other.bodies("h1:1/0"), numbered(0, 5));
}

TEST_F(MirrorTest, GoesOnWhereItWasAfterARestart) {
    ASSERT_TRUE(begin());
    putNumbered(0, 3);
    context.advance(2s);
    end();
    putNumbered(3, 6);
    put("new queue", 3);
    ASSERT_TRUE(begin());
    context.advance(2s);
    EXPECT_EQ(other.bodies("h1:1/0"), numbered(0, 6));
    EXPECT_EQ(other.bodies("h2:1/1"), std::vector<std::string>{"new queue"}) << "it came while nobody looked";
    EXPECT_NE(progress().find("Orders 0 6\n"), std::string::npos) << progress();
}

TEST_F(MirrorTest, KnowsATopicWithoutMessagesFromItsFirstStart) {
    ASSERT_TRUE(begin());
    end();
    putNumbered(0, 2);
    ASSERT_TRUE(begin());
    context.advance(2s);
    EXPECT_EQ(other.bodies("h1:1/0"), numbered(0, 2));
}

TEST_F(MirrorTest, SendsAgainWhatWasNotTakenAndAsksForTheRouteAgain) {
    other.failures = 2;
    ASSERT_TRUE(begin({{"mirrorRetryDelay", "1s"}, {"mirrorLookInterval", "10ms"}}));
    putNumbered(0, 5);
    context.advance(900ms);
    EXPECT_EQ(other.sends, 1) << "not before the pause is over";
    context.advance(5s);
    EXPECT_EQ(other.bodies("h1:1/0"), numbered(0, 5));
    EXPECT_EQ(context.metrics().value("mirror_repeated_total"), 2U);
    EXPECT_GE(other.asked.size(), 3U);
    EXPECT_TRUE(context.log().contains("sent again"));
}

TEST_F(MirrorTest, WaitsForATopicThatIsNotThereYet) {
    other.hasTopic = false;
    ASSERT_TRUE(begin());
    putNumbered(0, 2);
    context.advance(5s);
    EXPECT_EQ(other.sends, 0);
    EXPECT_TRUE(context.log().contains("does not tell where a topic is"));
    other.hasTopic = true;
    context.advance(5s);
    EXPECT_EQ(other.bodies("h1:1/0"), numbered(0, 2));
}

TEST_F(MirrorTest, TurnsToTheNextNameServerWhenOneIsSilent) {
    context.remoting().setHandler([this](const testkit::FakeRemoting::Call& call) -> Result<RemotingCommand> {
        if (call.hostPort == "n1:1") return Status(StatusCode::Unavailable, "refused");
        return other.answer(call);
    });
    ASSERT_TRUE(begin());
    putNumbered(0, 2);
    context.advance(5s);
    EXPECT_EQ(other.bodies("h1:1/0"), numbered(0, 2));
}

TEST_F(MirrorTest, LeavesOutOnlyTheMessageThatIsIllegalOverThere) {
    other.illegal = "m2";
    ASSERT_TRUE(begin());
    putNumbered(0, 5);
    context.advance(3s);
    EXPECT_EQ(other.bodies("h1:1/0"), (std::vector<std::string>{"m0", "m1", "m3", "m4"}));
    EXPECT_EQ(context.metrics().value("mirror_refused_total"), 1U);
    EXPECT_TRUE(context.log().contains("offset=2"));
    other.sends = 0;
    putNumbered(5, 9);
    context.advance(1s);
    EXPECT_EQ(other.sends, 1) << "together again";
}

TEST_F(MirrorTest, DoesNotForwardWhatAMirrorHasBrought) {
    ASSERT_TRUE(begin({{"mirrorBatchMessages", "2"}}));
    for (int i = 0; i < 10; ++i) {
        testkit::TestBatch batch;
        auto& item = batch.add({.topic = "Orders", .body = "brought"});
        const std::string properties = std::string(kOriginProperty) + "\x01there\x02";
        item.properties = properties;
        batch.appendTo(store);
        ASSERT_TRUE(batch.wait());
    }
    put("own");
    context.advance(2s);
    EXPECT_EQ(other.bodies("h1:1/0"), std::vector<std::string>{"own"});
}

TEST_F(MirrorTest, CountsWhatWasRemovedBeforeItWasForwarded) {
    ASSERT_TRUE(begin());
    putNumbered(0, 2);
    context.advance(2s);
    end();
    putNumbered(2, 8);
    service::ReadResult read;
    store.read("Orders", 0, 5, {}, nullptr, read);
    const auto rest = testkit::messagesOf(read);
    ASSERT_FALSE(rest.empty());
    ASSERT_TRUE(store.trim(rest.front().physicalOffset));
    ASSERT_TRUE(begin());
    context.advance(2s);
    auto expected = numbered(0, 2);
    for (const auto& body : numbered(5, 8)) expected.push_back(body);
    EXPECT_EQ(other.bodies("h1:1/0"), expected);
    EXPECT_EQ(context.metrics().value("mirror_gone_total"), 3U);
}

TEST_F(MirrorTest, FollowsATopicThatIsDeletedAndMadeAnew) {
    ASSERT_TRUE(begin());
    putNumbered(0, 3);
    context.advance(2s);
    ASSERT_TRUE(store.deleteTopic("Orders"));
    context.advance(1s);
    put("anew");
    context.advance(2s);
    EXPECT_EQ(other.bodies("h1:1/0").back(), "anew");
}

TEST_F(MirrorTest, HoldsBackWhatIsBeyondTheBytesUnderWay) {
    context.remoting().setHandler([this](const testkit::FakeRemoting::Call& call) -> Result<RemotingCommand> { return other.route(call); });
    ASSERT_TRUE(begin({{"mirrorInFlightBytesMax", "1024"}}));
    context.advance(100ms);
    // Routes are known; from here on nothing is answered.
    put("x", 0);
    context.advance(2s);
    context.remoting().setHandler({});
    for (int queue = 0; queue < 8; ++queue) put(std::string(300, 'x'), queue);
    const auto before = context.remoting().calls().size();
    context.advance(3s);
    EXPECT_EQ(context.remoting().calls().size() - before, 2U) << "the second goes beyond 1024 bytes";
}

TEST_F(MirrorTest, RefusesConfigurationsThatCannotWork) {
    EXPECT_FALSE(begin({{"mirrorTopics", ""}}));
    EXPECT_FALSE(begin({{"mirrorTopics", "bad!topic"}}));
    EXPECT_FALSE(begin({{"mirrorTopics", "SCHEDULE_TOPIC_XXXX"}}));
    EXPECT_FALSE(begin({{"mirrorNamesrvAddr", ""}}));
    EXPECT_FALSE(begin({{"mirrorNamesrvAddr", "host"}}));
    ASSERT_TRUE(begin());
    end();
    std::ofstream(directory.path() + "/config/mirror.progress") << "Orders 0 x\n";
    const auto status = begin();
    EXPECT_NE(status.message().find("mirror.progress:1:"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace mirror
