// Proved: which consumer groups exist at start, how use creates them, what may be changed and removed, and the file.
// How: the whole plugin on a fake kernel with files in a temporary directory, compared with files that RocketMQ wrote.
// Left to others: the journal's own dangers (JournaledFile_test), retry topics (clients).
#include "TopicsBench.h"

namespace patchbay::plugins::topics {
namespace {

protocol::SubscriptionGroupConfig groupNamed(std::string name) {
    protocol::SubscriptionGroupConfig config;
    config.groupName = std::move(name);
    return config;
}

TEST(GroupTable, StartsWithTheGroupsThatRocketMqCreates) {
    TopicsBench bench;
    bench.start();
    const auto file = protocol::SubscriptionGroups::fromJson(recordedFile("a-simple", "subscriptionGroup.json"));
    ASSERT_TRUE(file);
    std::size_t system = 0;
    for (const auto& [name, config] : file->subscriptionGroupTable) {
        if (name.starts_with("Fa")) continue;
        ++system;
        ASSERT_TRUE(bench.groups().get(name)) << name;
        EXPECT_EQ(*bench.groups().get(name), config) << name;
    }
    EXPECT_EQ(bench.groups().all().size(), system);
    EXPECT_EQ(bench.groups().dataVersion().counter, 0);
}

TEST(GroupTable, AFileOfRocketMqIsReadAndWrittenBackLineByLine) {
    for (const char* fixture : {"a-simple", "c-complex", "d-names"}) {
        SCOPED_TRACE(fixture);
        TopicsBench bench;
        const std::string before = recordedFile(fixture, "subscriptionGroup.json");
        bench.write("subscriptionGroup.json", before);
        bench.start();
        ASSERT_TRUE(bench.groups().put(groupNamed("Passing")));
        ASSERT_TRUE(bench.groups().remove("Passing"));
        bench.stop();
        EXPECT_EQ(normalized(bench.read("subscriptionGroup.json")), normalized(before));
    }
}

TEST(GroupTable, ForbiddenTopicsOfAGroupComeFromTheFile) {
    TopicsBench bench;
    bench.write("subscriptionGroup.json", recordedFile("c-complex", "subscriptionGroup.json"));
    bench.start();
    EXPECT_TRUE(bench.groups().readForbidden("FcG", "FcC2"));
    EXPECT_FALSE(bench.groups().readForbidden("FcG", "FcC1"));
    EXPECT_FALSE(bench.groups().readForbidden("FcPg", "FcC2"));
    ASSERT_TRUE(bench.groups().remove("FcG"));
    EXPECT_FALSE(bench.groups().readForbidden("FcG", "FcC2")) << "gone with its group";
}

TEST(GroupTable, UseCreatesAGroupThatSurvivesAKilledProcess) {
    TopicsBench bench;
    bench.start();
    service::GroupFacts facts;
    EXPECT_FALSE(bench.groups().find("New", facts));
    ASSERT_TRUE(bench.groups().findOrCreate("New", facts));
    EXPECT_EQ(facts.retryMaxTimes, 16);
    EXPECT_TRUE(facts.consumeEnable);
    EXPECT_TRUE(bench.groups().findOrCreate("New", facts));
    EXPECT_EQ(bench.groups().dataVersion().counter, 1);
    bench.killAndStart();
    EXPECT_TRUE(bench.groups().find("New", facts));
    bench.stop();
    EXPECT_TRUE(protocol::SubscriptionGroups::fromJson(bench.read("subscriptionGroup.json"))->subscriptionGroupTable.contains("New"));
}

TEST(GroupTable, OnlySystemGroupsAreCreatedWhenCreationIsOff) {
    TopicsBench bench(testkit::Settings{{"autoCreateSubscriptionGroup", "false"}});
    bench.start();
    service::GroupFacts facts;
    EXPECT_FALSE(bench.groups().findOrCreate("New", facts));
    EXPECT_TRUE(bench.groups().findOrCreate("CID_RMQ_SYS_x", facts));
    ASSERT_TRUE(bench.runner->reconfigure(*bench.plugin, {{"enableCreateSysGroup", "false"}, {"autoCreateSubscriptionGroup", "false"}}));
    EXPECT_FALSE(bench.groups().findOrCreate("CID_RMQ_SYS_y", facts));
    ASSERT_TRUE(bench.runner->reconfigure(*bench.plugin, {{"autoCreateSubscriptionGroup", "true"}}));
    EXPECT_TRUE(bench.groups().findOrCreate("New", facts));
}

TEST(GroupTable, EveryWayToCreateAGroupRefusesTheSameNames) {
    TopicsBench bench;
    bench.start();
    service::GroupFacts facts;
    for (const std::string& name : {std::string("bad group!"), std::string("a/b"), std::string(), std::string(256, 'g'), std::string("a.b")}) {
        EXPECT_FALSE(bench.groups().findOrCreate(name, facts)) << name;
        EXPECT_EQ(bench.groups().put(groupNamed(name)).code(), StatusCode::InvalidArgument) << name;
    }
    EXPECT_TRUE(bench.groups().findOrCreate(std::string(255, 'g'), facts));
}

TEST(GroupTable, AGroupIsChangedAndRemoved) {
    TopicsBench bench;
    bench.start();
    auto config = groupNamed("G");
    config.retryMaxTimes = 3;
    config.consumeEnable = false;
    config.notifyConsumerIdsChangedEnable = false;
    config.brokerId = 1;
    ASSERT_TRUE(bench.groups().put(config));
    ASSERT_TRUE(bench.groups().put(config));
    EXPECT_EQ(bench.groups().dataVersion().counter, 1) << "the same again is no change";
    service::GroupFacts facts;
    ASSERT_TRUE(bench.groups().find("G", facts));
    EXPECT_EQ(facts.retryMaxTimes, 3);
    EXPECT_EQ(facts.brokerId, 1);
    EXPECT_FALSE(facts.consumeEnable);
    EXPECT_FALSE(facts.notifyConsumerIdsChangedEnable);

    config.attributes = {{"+colour", "red"}};
    EXPECT_EQ(bench.groups().put(config).code(), StatusCode::InvalidArgument) << "groups have no attributes";
    EXPECT_TRUE(bench.groups().remove("G"));
    EXPECT_EQ(bench.groups().remove("G").code(), StatusCode::NotFound);
    bench.killAndStart();
    EXPECT_FALSE(bench.groups().find("G", facts));
}

TEST(GroupTable, TheTableIsAnsweredAsRocketMqSerialisesIt) {
    TopicsBench bench;
    bench.write("subscriptionGroup.json", recordedFile("c-complex", "subscriptionGroup.json"));
    bench.start();
    const auto ours = protocol::SubscriptionGroups::fromJson(bench.groups().toJson());
    const auto theirs = protocol::SubscriptionGroups::fromJson(recordedFile("c-complex", "subscriptionGroup.json"));
    ASSERT_TRUE(ours && theirs);
    EXPECT_EQ(ours->subscriptionGroupTable, theirs->subscriptionGroupTable);
    EXPECT_EQ(ours->forbiddenTable, theirs->forbiddenTable);
    EXPECT_EQ(ours->dataVersion, theirs->dataVersion);
    EXPECT_EQ(bench.groups().toJson().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace patchbay::plugins::topics
