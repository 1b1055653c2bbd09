// Proves: administrators are answered as RocketMQ answered them: codes, words, fields, bodies.
// How: recorded requests are replayed in their order; bodies are compared where they do not tell of time or of other topics.
// Left to others: what the answers do to the tables (admin_test), statistics (runtime_test), the tools themselves (interop).
#include "AdminBench.h"

#include <regex>
#include <set>

namespace patchbay::plugins::admin {
namespace {

using recorded::Pair;

std::string fieldOf(const protocol::RemotingCommand& command, std::string_view name) {
    for (const auto& [key, value] : command.fields) {
        if (key == name) return value;
    }
    return "";
}

bool isException(const Pair& pair) { return pair.response->remark.value_or("").find("Exception") != std::string::npos; }

class AdminGoldenTest : public AdminTest {
protected:
    /// Replays the pairs of these codes, in order. What `bodies` is false for is compared without its body.
    int replay(const std::string& scenario, const std::set<int>& codes, bool bodies = true) {
        int replayed = 0;
        for (auto pair : recorded::pairs(scenario)) {
            if (!codes.contains(pair.request.code) || pair.role != "client->broker" || !pair.response) continue;
            ++replayed;
            SCOPED_TRACE(pair.where);
            if (bodies || isException(pair)) {
                recorded::expectSameAnswer(context_, pair);
                continue;
            }
            const auto ours = context_.send(pair.request).response();
            EXPECT_EQ(ours.code, pair.response->code);
            EXPECT_EQ(ours.remark.value_or(""), pair.response->remark.value_or(""));
            EXPECT_EQ(ours.hasFields, pair.response->hasFields);
            EXPECT_EQ(ours.body.empty(), pair.response->body.empty());
        }
        return replayed;
    }
    static Pair recordedPair(const std::string& scenario, int code) {
        for (auto pair : recorded::pairs(scenario)) {
            if (pair.request.code == code && pair.response && pair.role == "client->broker") return pair;
        }
        ADD_FAILURE() << scenario << " has no " << code;
        return {};
    }
};

TEST_F(AdminGoldenTest, TopicsAreCreatedAndRefusedInRocketMqsWords) {
    begin();
    EXPECT_GE(replay("raw-setup", {17}), 18);
    EXPECT_GE(replay("raw-topic-config", {351, 18, 215}), 8);
    EXPECT_TRUE(topics().get("RwT"));
    EXPECT_EQ(topics().get("RwA5")->attributes, (protocol::Attributes{{"reserve.time", "5000"}}));
    EXPECT_FALSE(topics().get("RwL1")) << "created, then deleted";
}

TEST_F(AdminGoldenTest, TheTopicToolsAreAnsweredTheSame) {
    begin();
    EXPECT_GE(replay("mqadmin-updateTopic", {17}), 6);
    EXPECT_GE(replay("mqadmin-updateTopicList", {18}), 1);
    EXPECT_GE(replay("mqadmin-updateTopicPerm", {17}), 2);
    EXPECT_GE(replay("mqadmin-deleteTopic", {215}), 3);
    EXPECT_EQ(topics().get("MqaL2")->topicFilterType, protocol::TopicFilterType::MultiTag);
}

TEST_F(AdminGoldenTest, GroupsAreSetReadAndDeletedTheSame) {
    begin();
    int replayed = 0;
    for (const auto& pair : recorded::pairs("raw-setup")) {
        if (pair.request.code != 200 || !pair.response || pair.request.body == R"({"groupName":""})") continue;
        recorded::expectSameAnswer(context_, pair);
        ++replayed;
    }
    EXPECT_GE(replayed, 6);
    EXPECT_EQ(groups().get("RwGPol")->groupRetryPolicy.exponential->max, 8000);
    EXPECT_GE(replay("raw-group-config", {352, 225, 207}), 5);
    EXPECT_GE(replay("mqadmin-updateSubGroup", {200}), 2);
    EXPECT_GE(replay("mqadmin-updateSubGroupList", {225}), 2);
    EXPECT_GE(replay("mqadmin-deleteSubGroup", {207}), 1);
    EXPECT_GE(replay("raw-group-config", {201}, false), 2);
}

TEST_F(AdminGoldenTest, TheListOfSystemTopicsHoldsAllThatWeHave) {
    begin();
    const auto pair = recordedPair("raw-topic-config", 305);
    const auto ours = protocol::TopicList::fromJson(context_.send(pair.request).body());
    const auto theirs = protocol::TopicList::fromJson(pair.response->body);
    ASSERT_TRUE(ours && theirs);
    EXPECT_EQ(std::set<std::string>(ours->topicList.begin(), ours->topicList.end()),
              std::set<std::string>(theirs->topicList.begin(), theirs->topicList.end()));
}

TEST_F(AdminGoldenTest, TheWholeTopicTableComesWhateverPageIsAskedFor) {
    begin();
    makeTopic("RwT");
    int replayed = 0;
    for (const auto& pair : recorded::pairs("raw-topic-config")) {
        if (pair.request.code != 21) continue;
        SCOPED_TRACE(pair.where);
        const auto ours = context_.send(pair.request).response();
        EXPECT_EQ(ours.code, pair.response->code);
        EXPECT_EQ(ours.fields, pair.response->fields);
        EXPECT_EQ(ours.hasFields, pair.response->hasFields);
        const auto our = protocol::TopicConfigSerializeWrapper::fromJson(ours.body);
        const auto their = protocol::TopicConfigSerializeWrapper::fromJson(pair.response->body);
        ASSERT_TRUE(our && their);
        for (const char* topic : {"RwT", "TBW102", "gold-a", "SELF_TEST_TOPIC"}) {
            EXPECT_EQ(our->topicConfigTable.at(topic), their->topicConfigTable.at(topic)) << topic;
        }
        ++replayed;
    }
    EXPECT_GE(replayed, 5);
}

TEST_F(AdminGoldenTest, StatisticsOfQueuesAreCountedTheSame) {
    begin();
    makeTopic("RwT");
    makeTopic("RwPop", 2);
    append("RwT", 0, 21);
    append("RwT", 1, 3);
    append("RwT", 2, 3);
    append("RwT", 3, 2);
    offsets().commit("c", "RwG", "RwT", 0, 0);
    offsets().commit("c", "RwG", "RwT", 1, 3);
    offsets().notePull("RwG", "RwT", 0, {.nextOffset = 2, .outcome = service::PullOutcome::Delivered});
    const auto zeroTimes = [](auto table) {
        for (auto& [queue, entry] : table.offsetTable) {
            if constexpr (requires { entry.lastTimestamp; }) entry.lastTimestamp = 0;
            if constexpr (requires { entry.lastUpdateTimestamp; }) entry.lastUpdateTimestamp = 0;
        }
        return table.offsetTable;
    };
    const auto pair202 = recordedPair("raw-stats", 202);
    const auto ours = protocol::TopicStatsTable::fromJson(context_.send(pair202.request).body());
    ASSERT_TRUE(ours);
    EXPECT_EQ(zeroTimes(*ours), zeroTimes(*protocol::TopicStatsTable::fromJson(pair202.response->body)));
    EXPECT_EQ(ours->offsetTable.begin()->second.lastUpdateTimestamp, context_.clock().wallMs());

    int replayed = 0;
    for (const auto& pair : recorded::pairs("raw-stats")) {
        if (pair.request.code != 208) continue;
        SCOPED_TRACE(pair.where);
        auto our = zeroTimes(*protocol::ConsumeStats::fromJson(context_.send(pair.request).body()));
        auto their = zeroTimes(*protocol::ConsumeStats::fromJson(pair.response->body));
        std::erase_if(our, [](const auto& entry) { return entry.first.topic != "RwT"; });
        std::erase_if(their, [](const auto& entry) { return entry.first.topic != "RwT"; });
        EXPECT_EQ(our, their);
        ++replayed;
    }
    EXPECT_GE(replayed, 4);
    EXPECT_EQ(context_.send(recordedPair("raw-stats", 343).request).body(), recordedPair("raw-stats", 343).response->body);
}

TEST_F(AdminGoldenTest, QueuesAreListedTheSame) {
    begin();
    makeTopic("OnTopic");
    for (const char* tags : {"TagA", "TagA", "TagA", "TagA", "TagB", "TagA"}) {
        testkit::TestMessage message;
        message.topic = "OnTopic";
        message.tags = tags;
        ASSERT_TRUE(service::isStored(testkit::appendOne(store_, message).status));
    }
    // Places and sizes are the store's own; the words around them are compared.
    const auto words = [](const std::string& body) {
        static const std::regex kNumbers(R"x(("(?:physicOffset|physicSize|maxQueueIndex|subVersion)":)\d+)x");
        return std::regex_replace(body, kNumbers, "$1N");
    };
    int replayed = 0;
    for (const auto& pair : recorded::pairs("mqadmin-queryCq")) {
        if (pair.request.code != 321) continue;
        SCOPED_TRACE(pair.where);
        if (fieldOf(pair.request, "consumerGroup") == "OnG") connect("c@1", "OnG", "OnTopic");
        const auto ours = context_.send(pair.request).response();
        EXPECT_EQ(ours.code, pair.response->code);
        EXPECT_EQ(ours.remark, pair.response->remark);
        EXPECT_EQ(words(ours.body), words(pair.response->body));
        ++replayed;
    }
    EXPECT_EQ(replayed, 4);
    const auto offline = context_.call(RequestCode::QueryConsumeQueue, testkit::Fields{{"topic", "OnTopic"}, {"queueId", "0"}, {"index", "0"},
                                                                              {"count", "1"}, {"consumerGroup", "Nobody"}});
    EXPECT_NE(offline.body().find(R"("filterData":"Nobody@OnTopic is not online!")"), std::string::npos) << offline.body();
}

TEST_F(AdminGoldenTest, QuestionsAboutNothingAreAnsweredTheSame) {
    begin();
    int replayed = 0;
    for (const auto& pair : recorded::pairs("raw-stats")) {
        static const std::set<int> kCodes{202, 208, 300, 303, 343};
        const bool nothing = fieldOf(pair.request, "topic") == "NoSuchTopicX" || fieldOf(pair.request, "group") == "NoSuchG" ||
                             fieldOf(pair.request, "consumerGroup") == "NoSuchG";
        if (!nothing || !kCodes.contains(pair.request.code)) continue;
        recorded::expectSameAnswer(context_, pair);
        ++replayed;
    }
    EXPECT_GE(replayed, 5);
    EXPECT_GE(replay("raw-stats", {328}), 1);
    EXPECT_GE(replay("mqadmin-producerConnection", {204}), 1);
    for (const auto& pair : recorded::pairs("mqadmin-consumerProgress")) {
        if (pair.request.code == 203 && pair.response->code == 206) recorded::expectSameAnswer(context_, pair);
    }
}

TEST_F(AdminGoldenTest, ConfigurationIsChangedAndRefusedTheSame) {
    begin();
    context_.runtimeConfig().set("maxTransferCountOnMessageInMemory", "32");
    context_.runtimeConfig().set("brokerPermission", "6");
    EXPECT_GE(replay("raw-runtime", {25}), 5);
    EXPECT_GE(replay("mqadmin-updateBrokerConfig", {25}), 3);
    const auto applied = context_.runtimeConfig().applied();
    ASSERT_EQ(applied.size(), 4U);
    EXPECT_EQ(applied[0].key, "maxTransferCountOnMessageInMemory");
    EXPECT_EQ(applied[2].value, "33");
    EXPECT_TRUE(context_.log().contains("nonsense")) << "what is passed over is logged";
}

}  // namespace
}  // namespace patchbay::plugins::admin
