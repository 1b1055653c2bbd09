// Proved: which topics exist at start, how sends create them, which names are refused, what may be changed and removed.
// How: the whole plugin on a fake kernel with files in a temporary directory, compared with files that RocketMQ wrote.
// Left to others: the journal (JournaledFile_test), answers to clients (send, admin).
#include "../Allocations.h"
#include "TopicsBench.h"

#include "patchbay/protocol/message/Names.h"

#include <atomic>
#include <thread>

namespace patchbay::plugins::topics {
namespace {

TEST(TopicTable, StartsWithTheTopicsThatRocketMqCreates) {
    TopicsBench bench;
    bench.start();
    const auto file = protocol::TopicConfigs::fromJson(recordedFile("a-simple", "topics.json"));
    ASSERT_TRUE(file);
    std::size_t system = 0;
    for (const auto& [name, config] : file->topicConfigTable) {
        if (name.starts_with("Fa") || protocol::isRetryTopic(name)) continue;
        ++system;
        ASSERT_TRUE(bench.topics().get(name)) << name;
        EXPECT_EQ(*bench.topics().get(name), config) << name;
        EXPECT_TRUE(bench.topics().isSystem(name)) << name;
    }
    EXPECT_EQ(bench.topics().all().size(), system);
    EXPECT_EQ(bench.topics().dataVersion().counter, 0) << "creating them is no change that name servers must hear of";
}

TEST(TopicTable, ListsTheSystemTopicsThatRocketMqAnswers) {
    TopicsBench bench;
    bench.context.brokerIdentity().clusterName = "GoldCluster";
    bench.context.brokerIdentity().brokerName = "gold-a";
    bench.start();
    for (const auto& pair : recorded::pairs("raw-topic-config")) {
        if (pair.request.code != 305) continue;
        auto recordedList = json::Document::parse(pair.response->body);
        ASSERT_TRUE(recordedList);
        std::vector<std::string> theirs;
        for (const auto item : recordedList->root()["topicList"]) theirs.emplace_back(item.value.string().value());
        std::sort(theirs.begin(), theirs.end());
        EXPECT_EQ(bench.topics().systemTopics(), theirs);
    }
}

TEST(TopicTable, ConfigurationDecidesWhichSystemTopicsThereAre) {
    TopicsBench bench({{"autoCreateTopicEnable", "false"}, {"clusterTopicEnable", "false"}, {"brokerTopicEnable", "false"},
                       {"traceTopicEnable", "true"}, {"msgTraceTopicName", "Traces"}, {"timerWheelEnable", "false"},
                       {"reviveQueueNum", "3"}});
    bench.start();
    EXPECT_FALSE(bench.has("TBW102"));
    EXPECT_FALSE(bench.has("rmq_sys_wheel_timer"));
    EXPECT_EQ(bench.topics().get("FixCluster")->perm, 1U);
    EXPECT_EQ(bench.topics().get("fix")->perm, 1U);
    EXPECT_EQ(bench.topics().get("Traces")->writeQueueNums, 1);
    EXPECT_EQ(bench.topics().get("rmq_sys_REVIVE_LOG_FixCluster")->writeQueueNums, 3);
}

TEST(TopicTable, AFileOfRocketMqIsReadAndWrittenBackLineByLine) {
    for (const char* fixture : {"a-simple", "c-complex", "d-names"}) {
        SCOPED_TRACE(fixture);
        TopicsBench bench;
        const std::string before = recordedFile(fixture, "topics.json");
        bench.write("topics.json", before);
        bench.start();
        const std::int64_t counter = bench.topics().dataVersion().counter;
        ASSERT_TRUE(bench.topics().put(topicNamed("Passing")));
        ASSERT_TRUE(bench.topics().remove("Passing"));
        bench.stop();
        EXPECT_EQ(normalized(bench.read("topics.json")), normalized(before));
        EXPECT_EQ(protocol::TopicConfigs::fromJson(bench.read("topics.json"))->dataVersion.counter, counter + 2);
    }
}

TEST(TopicTable, TheFileCountsMoreThanTheDefaultsOfSystemTopics) {
    TopicsBench bench;
    bench.start();
    auto config = *bench.topics().get("BenchmarkTest");
    config.readQueueNums = config.writeQueueNums = 7;
    ASSERT_TRUE(bench.topics().put(config));
    bench.stop();
    bench.start();
    EXPECT_EQ(bench.topics().get("BenchmarkTest")->writeQueueNums, 7);
}

TEST(TopicTable, ASendCreatesATopicByTheRulesOfInheritance) {
    TopicsBench bench;
    bench.start();
    auto made = bench.send("T1");
    ASSERT_TRUE(made) << made.error().toString();
    EXPECT_EQ(made->readQueueNums, 4);
    EXPECT_EQ(made->writeQueueNums, 4);
    EXPECT_EQ(made->perm, 6) << "the right to inherit is not inherited";
    EXPECT_EQ(bench.send("T2", "TBW102", 100)->writeQueueNums, 8) << "no more queues than the default topic has";
    EXPECT_EQ(bench.send("T3", "TBW102", -5)->writeQueueNums, 0);
    EXPECT_EQ(bench.send("T4", "FixCluster", 12)->writeQueueNums, 12);
    EXPECT_EQ(bench.send("T5", "fix", 12)->writeQueueNums, 1);
    EXPECT_EQ(bench.send("T6", "T1").error().code(), StatusCode::NotFound) << "a plain topic passes nothing on";
    EXPECT_EQ(bench.send("T6", "Nowhere").error().code(), StatusCode::NotFound);
    EXPECT_FALSE(bench.has("T6"));
    EXPECT_EQ(bench.topics().dataVersion().counter, 5);

    service::TopicWish unit;
    unit.topic = "Unit";
    unit.defaultTopic = "TBW102";
    unit.sysFlag = 1;
    EXPECT_EQ(bench.topics().createForSend(unit)->sysFlag, 1);
}

TEST(TopicTable, NoDefaultTopicAllowsCreationWhenItIsSwitchedOff) {
    TopicsBench bench;
    bench.start();
    auto inherited = topicNamed("Template");
    inherited.perm = 7;
    ASSERT_TRUE(bench.topics().put(inherited));
    ASSERT_TRUE(bench.send("Before", "Template"));
    bench.stop();

    bench.settings["autoCreateTopicEnable"] = "false";
    bench.start();
    for (const char* defaultTopic : {"fix", "FixCluster", "TBW102", "Template", "Before"}) {
        EXPECT_EQ(bench.send("After", defaultTopic).error().code(), StatusCode::NotFound) << defaultTopic;
    }
    EXPECT_FALSE(bench.has("After"));
    EXPECT_EQ(bench.topics().get("TBW102")->perm, 6U) << "the file had it from before; routes must not offer it";

    ASSERT_TRUE(bench.runner->reconfigure(*bench.plugin, {{"autoCreateTopicEnable", "true"}}));
    EXPECT_TRUE(bench.send("After", "Template"));
}

TEST(TopicTable, EveryWayToCreateATopicRefusesTheSameNames) {
    TopicsBench bench;
    bench.start();
    const std::string longest(127, 'a');
    const std::vector<std::string> bad{"44334≈≈∂", "a.b", "a/b", "../x", "a b", "a+b", "", std::string(1, '\0'), longest + "a",
                                       std::string(255, 'a'), std::string(256, 'a'), std::string(124, 'a') + "≈"};
    for (const auto& name : bad) {
        EXPECT_EQ(bench.topics().put(topicNamed(name)).code(), StatusCode::InvalidArgument) << name;
        EXPECT_EQ(bench.send(name).error().code(), StatusCode::InvalidArgument) << name;
        EXPECT_EQ(bench.topics().createIfMissing(name, 1, 6, 0).error().code(), StatusCode::InvalidArgument) << name;
        EXPECT_FALSE(bench.has(name)) << name;
    }
    for (const std::string& name : {longest, std::string("CON"), std::string("a%2Fb"), std::string("Mix%|-_09")}) {
        EXPECT_TRUE(bench.topics().put(topicNamed(name))) << name;
    }
    EXPECT_EQ(bench.topics().dataVersion().counter, 4);
}

TEST(TopicTable, RetryTopicsOfLongGroupNamesAreMadeByTheBrokerOnly) {
    TopicsBench bench;
    bench.start();
    const std::string retry = protocol::retryTopic(std::string(255, 'g'));
    EXPECT_FALSE(bench.topics().put(topicNamed(retry)));
    EXPECT_TRUE(bench.topics().createIfMissing(retry, 1, 6, 0));
    EXPECT_FALSE(bench.topics().createIfMissing(protocol::retryTopic(std::string(256, 'g')), 1, 6, 0));
    EXPECT_FALSE(bench.topics().createIfMissing("%RETRY%a/b", 1, 6, 0));
    EXPECT_FALSE(bench.topics().createIfMissing("%RETRY%", 1, 6, 0));
    auto changed = topicNamed(retry, 2);
    EXPECT_TRUE(bench.topics().put(changed)) << "what exists may be changed";
}

TEST(TopicTable, AMissingTopicIsCreatedOnceAndAnExistingOneIsLeftAlone) {
    TopicsBench bench;
    bench.start();
    EXPECT_EQ(bench.topics().createIfMissing("%RETRY%g", 3, 6, 2)->writeQueueNums, 3);
    EXPECT_EQ(bench.topics().createIfMissing("%RETRY%g", 9, 4, 0)->writeQueueNums, 3);
    EXPECT_EQ(bench.topics().get("%RETRY%g")->topicSysFlag, 2);
    EXPECT_EQ(bench.topics().dataVersion().counter, 1);
}

class Recorder final : public service::TopicListener {
public:
    void topicChanged(std::string_view topic, const protocol::TopicConfig* config) noexcept override {
        const std::lock_guard lock(mutex_);
        seen.push_back(std::string(topic) + (config == nullptr ? " gone" : " " + std::to_string(config->writeQueueNums)));
    }
    std::mutex mutex_;
    std::vector<std::string> seen;
};

TEST(TopicTable, ListenersHearOfEveryChangeAndOfNothingElse) {
    TopicsBench bench;
    bench.start();
    Recorder recorder;
    bench.topics().addListener(recorder);
    ASSERT_TRUE(bench.topics().put(topicNamed("A", 4)));
    ASSERT_TRUE(bench.topics().put(topicNamed("A", 4)));
    ASSERT_TRUE(bench.topics().putAll({topicNamed("A", 5), topicNamed("B", 1)}));
    ASSERT_TRUE(bench.send("C"));
    ASSERT_TRUE(bench.send("C"));
    ASSERT_TRUE(bench.topics().remove("B"));
    bench.topics().removeListener(recorder);
    ASSERT_TRUE(bench.topics().put(topicNamed("D")));
    EXPECT_EQ(recorder.seen, (std::vector<std::string>{"A 4", "A 5", "B 1", "C 4", "B gone"}));
    EXPECT_EQ(bench.topics().dataVersion().counter, 6);
}

TEST(TopicTable, ManySendersAtOnceCreateATopicOnce) {
    TopicsBench bench;
    bench.start();
    Recorder recorder;
    bench.topics().addListener(recorder);
    constexpr int kTopics = 50;
    std::atomic<int> failures{0};
    std::vector<std::thread> senders;
    for (int sender = 0; sender < 4; ++sender) {
        senders.emplace_back([&] {
            for (int i = 0; i < kTopics; ++i) {
                const auto made = bench.send("Race" + std::to_string(i));
                if (!made || made->writeQueueNums != 4 || !bench.has("Race" + std::to_string(i))) ++failures;
            }
        });
    }
    for (auto& sender : senders) sender.join();
    bench.topics().removeListener(recorder);
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(recorder.seen.size(), static_cast<std::size_t>(kTopics));
    EXPECT_EQ(bench.topics().dataVersion().counter, kTopics);
}

TEST(TopicTable, AllOfAListIsCheckedBeforeAnythingChanges) {
    TopicsBench bench;
    bench.start();
    EXPECT_EQ(bench.topics().putAll({topicNamed("Good"), topicNamed("bad name")}).code(), StatusCode::InvalidArgument);
    EXPECT_FALSE(bench.has("Good"));
}

TEST(TopicTable, SystemTopicsAreNeverRemoved) {
    TopicsBench bench;
    bench.start();
    for (const auto& name : bench.topics().systemTopics()) {
        EXPECT_EQ(bench.topics().remove(name).code(), StatusCode::Denied) << name;
    }
    EXPECT_TRUE(bench.has("RMQ_SYS_TRANS_OP_HALF_TOPIC"));
    EXPECT_EQ(bench.topics().remove("Nowhere").code(), StatusCode::NotFound);
    ASSERT_TRUE(bench.topics().put(topicNamed("Mine")));
    EXPECT_TRUE(bench.topics().remove("Mine"));
    EXPECT_FALSE(bench.has("Mine"));
}

TEST(TopicTable, AttributesAreChangedByTheRulesOfRocketMq) {
    TopicsBench bench;
    bench.start();
    const auto put = [&](const protocol::Attributes& attributes) {
        auto config = topicNamed("T");
        config.attributes = attributes;
        return bench.topics().put(config).code();
    };
    EXPECT_EQ(put({{"message.type", "FIFO"}}), StatusCode::InvalidArgument) << "without a sign";
    EXPECT_EQ(put({{"-message.type", ""}}), StatusCode::InvalidArgument) << "removed while it is created";
    EXPECT_EQ(put({{"+colour", "red"}}), StatusCode::InvalidArgument) << "unknown";
    EXPECT_EQ(put({{"+message.type", "SOMETIMES"}}), StatusCode::InvalidArgument) << "not a value of it";
    EXPECT_EQ(put({{"+reserve.time", "-2"}}), StatusCode::InvalidArgument);
    EXPECT_FALSE(bench.has("T"));
    EXPECT_EQ(put({{"+message.type", "FIFO"}, {"+queue.type", "SimpleCQ"}, {"+reserve.time", "-1"}}), StatusCode::Ok);
    EXPECT_EQ(bench.topics().get("T")->attributes,
              (protocol::Attributes{{"message.type", "FIFO"}, {"queue.type", "SimpleCQ"}, {"reserve.time", "-1"}}));

    EXPECT_EQ(put({{"+queue.type", "BatchCQ"}}), StatusCode::InvalidArgument) << "only at creation";
    EXPECT_EQ(put({{"-cleanup.policy", ""}}), StatusCode::InvalidArgument);
    EXPECT_EQ(put({{"+message.type", "DELAY"}, {"-message.type", ""}}), StatusCode::InvalidArgument);
    EXPECT_EQ(put({{"+message.type", "DELAY"}, {"-reserve.time", ""}}), StatusCode::Ok);
    EXPECT_EQ(put({{"-reserve.time", ""}}), StatusCode::InvalidArgument) << "not there any more";
    EXPECT_EQ(bench.topics().get("T")->attributes, (protocol::Attributes{{"message.type", "DELAY"}, {"queue.type", "SimpleCQ"}}));

    const std::int64_t counter = bench.topics().dataVersion().counter;
    EXPECT_EQ(put({}), StatusCode::Ok) << "without attributes the stored ones stay";
    EXPECT_TRUE(bench.topics().put(*bench.topics().get("T"))) << "as read, so written";
    EXPECT_EQ(bench.topics().dataVersion().counter, counter);
    bench.stop();
    bench.start();
    EXPECT_EQ(bench.topics().get("T")->attributes.size(), 2U);
}

TEST(TopicTable, TopicsOfFurtherQueuesNeedNotBeMadeWhenTheirKeyIsOn) {
    for (const bool on : {false, true}) {
        TopicsBench bench(testkit::Settings{{"enableLmq", on ? "true" : "false"}});
        bench.start();
        service::TopicFacts facts;
        EXPECT_EQ(bench.topics().find("%LMQ%queue", facts), on);
        const auto config = bench.topics().get("%LMQ%queue");
        ASSERT_EQ(config.has_value(), on);
        if (!on) continue;
        EXPECT_EQ(facts.readQueueNums, 1);
        EXPECT_EQ(facts.writeQueueNums, 1);
        EXPECT_EQ(facts.perm, 6);
        EXPECT_EQ(config->topicName, "%LMQ%queue");
        EXPECT_EQ(config->perm, 6U);
        EXPECT_EQ(config->readQueueNums, 1);
        EXPECT_FALSE(bench.topics().find("LMQ", facts));
    }
}

TEST(TopicTable, FactsSayThatARecordMayHoldSeveralMessages) {
    TopicsBench bench;
    bench.start();
    auto config = topicNamed("Batches", 1);
    config.attributes = {{"+queue.type", "BatchCQ"}};
    ASSERT_TRUE(bench.topics().put(config));
    service::TopicFacts facts;
    ASSERT_TRUE(bench.topics().find("Batches", facts));
    EXPECT_TRUE(facts.batchQueues);
    // A Java broker does not start on such queues without knowing it, after a kill either.
    const std::string file = recorded::readText(bench.directory.path() + "/config/topics.json");
    EXPECT_NE(file.find("\"queue.type\":\"BatchCQ\""), std::string::npos) << file;
    ASSERT_TRUE(bench.topics().put(topicNamed("Others", 1)));
    ASSERT_TRUE(bench.topics().find("Others", facts));
    EXPECT_FALSE(facts.batchQueues);
}

TEST(TopicTable, LookingUpATopicAllocatesNothing) {
    TopicsBench bench;
    bench.start();
    const std::string name(100, 'n');
    ASSERT_TRUE(bench.topics().put(topicNamed(name, 3)));
    const auto& topics = bench.topics();
    service::TopicFacts facts;
    const std::size_t before = recorded::allocations.load();
    const bool found = topics.find(name, facts) && !topics.find("Nowhere", facts);
    EXPECT_EQ(recorded::allocations.load(), before);
    EXPECT_TRUE(found);
    EXPECT_EQ(facts.writeQueueNums, 3);
}

}  // namespace
}  // namespace patchbay::plugins::topics
