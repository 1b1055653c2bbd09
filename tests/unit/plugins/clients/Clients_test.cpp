// Proved: who counts as connected, who is told of changes, how subscriptions of members meet, and when silent clients go.
// How: heartbeats through the plugin's processor above the real topics plugin, with peers without sockets and a manual clock.
// Left to others: recorded answers (ClientsRecorded_test), queue locks (QueueLocks_test), pulls.
#include "ClientsBench.h"

#include "patchbay/protocol/message/Names.h"

namespace patchbay::plugins::clients {
namespace {

using namespace std::chrono_literals;
using protocol::RequestCode;
using protocol::ResponseCode;

TEST(Clients, AHeartbeatRegistersTheConsumerAndItsRetryTopic) {
    ClientsBench bench;
    const auto peer = bench.context.peer();
    EXPECT_EQ(bench.beat(peer, Beat{.expression = "TagA || TagB", .subVersion = 7}), "true");
    const auto state = bench.registry().group("G");
    EXPECT_TRUE(state.online);
    EXPECT_EQ(state.consumeType, service::ConsumeType::Passively);
    EXPECT_EQ(state.model, service::MessageModel::Clustering);
    EXPECT_EQ(state.consumeFromWhere, 4);
    EXPECT_EQ(state.lastUpdateMs, bench.context.clock().wallMs());
    const auto subscription = bench.registry().subscription("G", "T");
    ASSERT_TRUE(subscription);
    EXPECT_EQ(subscription->subVersion, 7);
    EXPECT_EQ(subscription->tagsSet.size(), 2U);
    EXPECT_FALSE(bench.registry().subscription("G", "Other"));
    const auto members = bench.registry().consumers("G");
    ASSERT_EQ(members.size(), 1U);
    EXPECT_EQ(members[0].clientId, "c@1");
    EXPECT_EQ(members[0].version, protocol::kVersion);
    EXPECT_EQ(members[0].peer->id(), peer->id());
    service::TopicFacts retry;
    ASSERT_TRUE(bench.topics().find("%RETRY%G", retry));
    EXPECT_EQ(retry.writeQueueNums, 1);
    EXPECT_EQ(retry.sysFlag, 0);
    EXPECT_EQ(bench.registry().groupsOf("T"), std::vector<std::string>{"G"});
    EXPECT_EQ(bench.registry().consumerGroups(), std::vector<std::string>{"G"});
    EXPECT_EQ(bench.registry().findConsumer("G", "c@1")->id(), peer->id());
    EXPECT_EQ(bench.registry().findClient("c@1")->id(), peer->id());
    EXPECT_FALSE(bench.registry().findClient("nobody"));
    EXPECT_FALSE(bench.registry().group("Nobody").online);
}

TEST(Clients, RetryTopicsFollowTheSettingsOfTheGroup) {
    ClientsBench bench;
    protocol::SubscriptionGroupConfig config;
    config.groupName = "G";
    config.retryQueueNums = 3;
    ASSERT_TRUE(bench.groups().put(config));
    bench.beat(bench.context.peer(), Beat{.unitMode = true});
    service::TopicFacts retry;
    ASSERT_TRUE(bench.topics().find("%RETRY%G", retry));
    EXPECT_EQ(retry.writeQueueNums, 3);
    EXPECT_EQ(retry.sysFlag, 2);
}

TEST(Clients, TheRetryTopicOfAGroupOnAnOrderedTopicIsOrderedToo) {
    ClientsBench bench;
    protocol::TopicConfig topic;
    topic.topicName = "T";
    topic.order = true;
    ASSERT_TRUE(bench.topics().put(topic));
    bench.beat(bench.context.peer(), Beat{});
    bench.beat(bench.context.peer(), Beat{.group = "Other", .topic = "Unknown"});
    service::TopicFacts retry;
    ASSERT_TRUE(bench.topics().find("%RETRY%G", retry));
    EXPECT_TRUE(retry.order);
    ASSERT_TRUE(bench.topics().find("%RETRY%Other", retry));
    EXPECT_FALSE(retry.order);
}

TEST(Clients, AnUnknownGroupThatMayNotBeCreatedIsSkippedSilently) {
    ClientsBench bench({}, {{"autoCreateSubscriptionGroup", "false"}});
    const auto peer = bench.context.peer();
    auto data = Beat{}.data();
    data.producerGroups = {"P"};
    EXPECT_EQ(bench.beat(peer, data).code(), ResponseCode::Success);
    EXPECT_FALSE(bench.registry().group("G").online);
    EXPECT_FALSE(bench.topics().get("%RETRY%G"));
    EXPECT_EQ(bench.registry().producers("P").size(), 1U) << "the rest of the heartbeat counts";
}

TEST(Clients, PullConsumersCanBeRejected) {
    ClientsBench bench(testkit::Settings{{"rejectPullConsumerEnable", "true"}});
    bench.beat(bench.context.peer(), Beat{.group = "Pulls", .type = protocol::ConsumeType::Actively});
    bench.beat(bench.context.peer(), Beat{.group = "Pushes"});
    EXPECT_FALSE(bench.registry().group("Pulls").online);
    EXPECT_TRUE(bench.registry().group("Pushes").online);
}

TEST(Clients, MembersAreToldOfChangesAndOnlyOfChanges) {
    ClientsBench bench;
    const auto first = bench.context.peer("127.0.0.1:1");
    const auto second = bench.context.peer("127.0.0.1:2");
    bench.beat(first, Beat{});
    EXPECT_EQ(bench.notices(first), 1U) << "it joined";
    bench.beat(first, Beat{});
    bench.beat(first, Beat{.subVersion = 2});
    EXPECT_EQ(bench.notices(first), 1U) << "a newer version of the same topics moves no queue";
    bench.beat(second, Beat{.clientId = "c@2", .subVersion = 2});
    EXPECT_EQ(bench.notices(first), 2U);
    EXPECT_EQ(bench.notices(second), 1U);
    bench.unregister(second, {{"clientID", "c@2"}, {"consumerGroup", "G"}});
    EXPECT_EQ(bench.notices(first), 3U);
    EXPECT_EQ(bench.notices(second), 1U) << "who left need not hear of it";
    bench.beat(first, Beat{.topic = "Other", .subVersion = 3});
    EXPECT_EQ(bench.notices(first), 4U) << "one topic came, one went";
    EXPECT_FALSE(bench.registry().subscription("G", "T"));
    bench.registry().notifyChanged("G");
    EXPECT_EQ(bench.notices(first), 5U);
    bench.registry().notifyChanged("Nobody");
}

TEST(Clients, NobodyIsToldWhenBroadcastingOrWhenItIsSwitchedOff) {
    {
        ClientsBench bench;
        const auto peer = bench.context.peer();
        bench.beat(peer, Beat{.model = protocol::MessageModel::Broadcasting});
        EXPECT_TRUE(peer->pushed().empty());
        EXPECT_EQ(bench.registry().group("G").model, service::MessageModel::Broadcasting);
    }
    {
        ClientsBench bench(testkit::Settings{{"notifyConsumerIdsChangedEnable", "false"}});
        const auto peer = bench.context.peer();
        bench.beat(peer, Beat{});
        bench.registry().notifyChanged("G");
        EXPECT_TRUE(peer->pushed().empty());
    }
    ClientsBench bench;
    protocol::SubscriptionGroupConfig config;
    config.groupName = "G";
    config.notifyConsumerIdsChangedEnable = false;
    ASSERT_TRUE(bench.groups().put(config));
    const auto peer = bench.context.peer();
    bench.beat(peer, Beat{});
    bench.registry().notifyChanged("G");
    EXPECT_TRUE(peer->pushed().empty());
    config.notifyConsumerIdsChangedEnable = true;
    ASSERT_TRUE(bench.groups().put(config));
    bench.registry().notifyChanged("G");
    EXPECT_EQ(bench.notices(peer), 1U);
}

TEST(Clients, AClosedConnectionLeavesAllItsGroupsAtOnce) {
    ClientsBench bench;
    const auto gone = bench.context.peer("127.0.0.1:1");
    const auto left = bench.context.peer("127.0.0.1:2");
    auto data = Beat{}.data();
    data.producerGroups = {"P", "CLIENT_INNER_PRODUCER"};
    bench.beat(gone, data);
    bench.beat(gone, Beat{.group = "H"});
    bench.beat(left, Beat{.clientId = "c@2"});
    const std::size_t before = bench.notices(left);
    bench.context.disconnect(gone);
    EXPECT_EQ(bench.ids("G"), std::vector<std::string>{"c@2"});
    EXPECT_EQ(bench.notices(left), before + 1);
    EXPECT_FALSE(bench.registry().group("H").online);
    EXPECT_TRUE(bench.registry().producers("P").empty());
    EXPECT_TRUE(bench.registry().producerGroups().empty());
    EXPECT_FALSE(bench.registry().findClient("c@1"));
    EXPECT_FALSE(bench.registry().findConsumer("G", "c@1"));
}

TEST(Clients, SilentClientsAreForgottenClosedAndTheOthersTold) {
    ClientsBench bench;
    const auto silent = bench.context.peer("127.0.0.1:1");
    const auto alive = bench.context.peer("127.0.0.1:2");
    bench.beat(silent, Beat{});
    bench.beat(alive, Beat{.clientId = "c@2"});
    bench.context.advance(60s);
    bench.beat(alive, Beat{.clientId = "c@2"});
    bench.context.advance(60s);
    EXPECT_TRUE(silent->isOpen()) << "120 s are allowed";
    const std::size_t before = bench.notices(alive);
    bench.context.advance(10s);
    EXPECT_FALSE(silent->isOpen());
    EXPECT_FALSE(silent->closeReason().empty());
    EXPECT_TRUE(alive->isOpen());
    EXPECT_EQ(bench.ids("G"), std::vector<std::string>{"c@2"});
    EXPECT_EQ(bench.notices(alive), before + 1);
}

TEST(Clients, EveryPeriodIsAKey) {
    ClientsBench bench({{"channelExpiredTimeout", "20s"}, {"producerExpiredTimeout", "40s"}, {"clientScanInterval", "1s"}});
    const auto consumer = bench.context.peer("127.0.0.1:1");
    const auto producer = bench.context.peer("127.0.0.1:2");
    bench.beat(consumer, Beat{});
    protocol::HeartbeatData data;
    data.clientId = "p@1";
    data.producerGroups = {"P"};
    bench.beat(producer, data);
    bench.context.advance(21s);
    EXPECT_FALSE(consumer->isOpen());
    EXPECT_TRUE(producer->isOpen());
    bench.context.advance(20s);
    EXPECT_FALSE(producer->isOpen());
}

TEST(Clients, UnregisteringOneRoleKeepsTheOther) {
    ClientsBench bench;
    const auto peer = bench.context.peer();
    auto data = Beat{}.data();
    data.producerGroups = {"P"};
    bench.beat(peer, data);
    bench.unregister(peer, {{"clientID", "c@1"}, {"consumerGroup", "G"}});
    EXPECT_FALSE(bench.registry().group("G").online);
    EXPECT_EQ(bench.registry().findClient("c@1")->id(), peer->id()) << "it still produces";
    bench.unregister(peer, {{"clientID", "c@1"}, {"producerGroup", "P"}});
    EXPECT_FALSE(bench.registry().findClient("c@1"));
    EXPECT_TRUE(bench.registry().producerGroups().empty());
}

TEST(Clients, TheSecondHeartbeatVersionSendsSubscriptionsOnlyWhenAsked) {
    ClientsBench bench;
    const auto peer = bench.context.peer();
    EXPECT_EQ(bench.beat(peer, Beat{.fingerprint = 77}), "false");
    EXPECT_EQ(bench.beat(peer, Beat{.fingerprint = 77, .withoutSub = true}), "false");
    EXPECT_TRUE(bench.registry().subscription("G", "T")) << "left out is not unsubscribed";
    EXPECT_EQ(bench.beat(peer, Beat{.fingerprint = 78, .withoutSub = true}), "true");
    EXPECT_EQ(bench.notices(peer), 1U);
}

TEST(Clients, ABrokerThatWasRestartedAsksForTheSubscriptionsAgain) {
    ClientsBench bench;
    bench.beat(bench.context.peer(), Beat{.fingerprint = 77});
    bench.start();
    const auto peer = bench.context.peer();
    EXPECT_EQ(bench.beat(peer, Beat{.fingerprint = 77, .withoutSub = true}), "true");
    EXPECT_EQ(bench.beat(peer, Beat{.fingerprint = 77}), "false");
    EXPECT_TRUE(bench.registry().subscription("G", "T"));
}

TEST(Clients, TheNewestWordOfAClientCountsWhenItsClockGoesBack) {
    ClientsBench bench;
    const auto peer = bench.context.peer("127.0.0.1:1");
    bench.beat(peer, Beat{.expression = "A", .subVersion = 10'000'000});
    bench.beat(peer, Beat{.expression = "B", .subVersion = 6'400'000});
    EXPECT_EQ(bench.registry().subscription("G", "T")->subString, "B");
    EXPECT_EQ(bench.registry().subscription("G", "T")->subVersion, 10'000'000) << "or pulls would be called outdated";
    EXPECT_EQ(bench.notices(peer), 1U) << "the same topics: nothing to rebalance";

    // In a larger group an old member repeating itself does not undo what a newer one said; one that changes its mind does.
    const auto old = bench.context.peer("127.0.0.1:2");
    bench.beat(old, Beat{.clientId = "c@2", .expression = "C", .subVersion = 5});
    bench.beat(old, Beat{.clientId = "c@2", .expression = "C", .subVersion = 5});
    EXPECT_EQ(bench.registry().subscription("G", "T")->subString, "B");
    bench.beat(old, Beat{.clientId = "c@2", .expression = "D", .subVersion = 4});
    EXPECT_EQ(bench.registry().subscription("G", "T")->subString, "D");
    bench.beat(peer, Beat{.expression = "E", .subVersion = 20'000'000});
    EXPECT_EQ(bench.registry().subscription("G", "T")->subString, "E");
}

TEST(Clients, TwoConnectionsWithOneClientIdAreBothVisibleAndNamedOnce) {
    ClientsBench bench;
    const auto first = bench.context.peer("127.0.0.1:1111");
    const auto second = bench.context.peer("127.0.0.1:2222");
    bench.beat(first, Beat{});
    EXPECT_FALSE(bench.context.log().contains("same client id"));
    bench.beat(second, Beat{});
    EXPECT_EQ(bench.ids("G"), (std::vector<std::string>{"c@1", "c@1"}));
    EXPECT_TRUE(bench.context.log().contains("127.0.0.1:1111"));
    EXPECT_TRUE(bench.context.log().contains("127.0.0.1:2222"));
    const std::size_t warnings = bench.context.log().count(plugin::LogLevel::Warn);
    bench.beat(first, Beat{});
    bench.beat(second, Beat{});
    EXPECT_EQ(bench.context.log().count(plugin::LogLevel::Warn), warnings) << "not again with every heartbeat";
    EXPECT_EQ(bench.registry().findClient("c@1")->id(), second->id()) << "the one that spoke last";
    EXPECT_FALSE(bench.context.log().contains("belongs to one connection again"));
    bench.context.disconnect(second);
    EXPECT_FALSE(bench.context.log().contains("belongs to one connection again")) << "it may come back";
    bench.context.advance(80s);
    EXPECT_TRUE(bench.context.log().contains("belongs to one connection again"));
    EXPECT_EQ(bench.registry().findClient("c@1")->id(), first->id());
    EXPECT_EQ(bench.ids("G"), std::vector<std::string>{"c@1"});
}

TEST(Clients, AnIdThatIsTakenOrLeftBesideAnotherIsLoggedToo) {
    ClientsBench bench;
    const auto first = bench.context.peer("127.0.0.1:1111");
    const auto second = bench.context.peer("127.0.0.1:2222");
    const auto third = bench.context.peer("127.0.0.1:3333");
    bench.beat(first, Beat{});
    bench.beat(second, Beat{.clientId = "c@2"});
    bench.beat(third, Beat{.group = "Other"});
    EXPECT_FALSE(bench.context.log().contains("same client id")) << "other groups may use it";
    bench.beat(second, Beat{});
    EXPECT_TRUE(bench.context.log().contains("same client id"));
    EXPECT_FALSE(bench.context.log().contains("belongs to one connection again"));
    bench.beat(second, Beat{.clientId = "c@3"});
    bench.context.advance(80s);
    EXPECT_TRUE(bench.context.log().contains("belongs to one connection again"));
    bench.context.log().clear();
    bench.context.disconnect(first);
    bench.context.disconnect(third);
    bench.context.advance(80s);
    EXPECT_FALSE(bench.context.log().contains("belongs to one connection again"));
}

TEST(Clients, MembersThatSubscribeDifferentTopicsAreNamed) {
    ClientsBench bench;
    const auto first = bench.context.peer("127.0.0.1:1111");
    const auto second = bench.context.peer("127.0.0.1:2222");
    bench.beat(first, Beat{});
    bench.beat(second, Beat{.clientId = "c@2", .topic = "Other"});
    EXPECT_TRUE(bench.context.log().contains("different topics"));
    EXPECT_TRUE(bench.context.log().contains("127.0.0.1:1111"));
    EXPECT_EQ(bench.registry().subscriptions("G").size(), 1U) << "the last heartbeat decides, as in RocketMQ";
    bench.context.log().clear();
    bench.beat(first, Beat{.topic = "Other", .expression = "TagX", .subVersion = 9});
    EXPECT_TRUE(bench.context.log().contains("differently"));
}

TEST(Clients, ADisagreementIsLoggedOnceShownWhileItLastsAndItsEndIsLogged) {
    using Kind = service::GroupConflict::Kind;
    ClientsBench bench;
    const auto first = bench.context.peer("127.0.0.1:1111");
    const auto second = bench.context.peer("127.0.0.1:2222");
    bench.beat(first, Beat{});
    EXPECT_TRUE(bench.registry().conflicts("G").empty());
    bench.beat(second, Beat{.clientId = "c@2", .expression = "TagB", .subVersion = 2});
    const std::size_t warnings = bench.context.log().count(plugin::LogLevel::Warn);
    EXPECT_EQ(warnings, 1U);
    for (int i = 0; i < 3; ++i) {
        bench.context.advance(30s);
        bench.beat(first, Beat{});
        bench.beat(second, Beat{.clientId = "c@2", .expression = "TagB", .subVersion = 2});
    }
    EXPECT_EQ(bench.context.log().count(plugin::LogLevel::Warn), warnings) << "not again with every heartbeat";

    auto conflicts = bench.registry().conflicts("G");
    ASSERT_EQ(conflicts.size(), 1U);
    EXPECT_EQ(conflicts[0].kind, Kind::Expressions);
    EXPECT_EQ(conflicts[0].topic, "T");
    ASSERT_EQ(conflicts[0].parties.size(), 2U);
    std::sort(conflicts[0].parties.begin(), conflicts[0].parties.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
    EXPECT_EQ(conflicts[0].parties[0].clientId, "c@1");
    EXPECT_EQ(conflicts[0].parties[0].address, "127.0.0.1:1111");
    EXPECT_EQ(conflicts[0].parties[0].says, "*");
    EXPECT_EQ(conflicts[0].parties[1].says, "TagB");

    bench.beat(first, Beat{.expression = "TagB", .subVersion = 3});
    EXPECT_TRUE(bench.registry().conflicts("G").empty());
    EXPECT_FALSE(bench.context.log().contains("agree again")) << "it may not last";
    bench.context.advance(80s);
    EXPECT_TRUE(bench.context.log().contains("agree again"));
    bench.beat(first, Beat{.topic = "Other"});
    EXPECT_EQ(bench.registry().conflicts("G").size(), 2U) << "each of the two topics";
    bench.context.disconnect(second);
    EXPECT_TRUE(bench.registry().conflicts("G").empty()) << "whoever is left agrees with itself";
}

TEST(Clients, WhoSaysOneThingAndThenAnotherIsLoggedOnceAndNotWithEveryHeartbeat) {
    ClientsBench bench;
    const auto first = bench.context.peer("127.0.0.1:1111");
    const auto second = bench.context.peer("127.0.0.1:2222");
    bench.beat(first, Beat{});
    // Two clients behind one connection: they have other topics, other expressions and other ids.
    const auto both = [&](std::int64_t version) {
        bench.context.advance(30s);
        bench.beat(first, Beat{});
        bench.beat(second, Beat{.expression = "TagB", .subVersion = version});
        bench.beat(second, Beat{.clientId = "c@2", .subVersion = version + 1});
        bench.beat(second, Beat{.clientId = "c@2", .topic = "Other", .subVersion = version + 2});
    };
    both(10);
    auto& log = bench.context.log();
    EXPECT_EQ(log.count(plugin::LogLevel::Warn), 4U) << "the id, both ways to differ about T, and Other";
    const std::size_t lines = log.lines().size();
    for (int i = 2; i < 12; ++i) both(10 * i);
    EXPECT_EQ(log.lines().size(), lines);
    for (int i = 0; i < 4; ++i) {
        bench.context.advance(30s);
        bench.beat(first, Beat{});
        bench.beat(second, Beat{.clientId = "c@2"});
    }
    EXPECT_EQ(log.lines().size(), lines + 3) << "that they are one mind, on each topic, and who has the id";
    both(1000);
    EXPECT_EQ(log.count(plugin::LogLevel::Warn), 8U) << "and when it begins anew";
}

TEST(Clients, AMemberThatLeavesItsTopicsOutIsNoDisagreement) {
    ClientsBench bench;
    const auto first = bench.context.peer();
    const auto second = bench.context.peer("127.0.0.1:2222");
    bench.beat(first, Beat{.fingerprint = 7});
    bench.beat(second, Beat{.clientId = "c@2", .fingerprint = 7, .withoutSub = true});
    EXPECT_TRUE(bench.registry().conflicts("G").empty());
    EXPECT_EQ(bench.registry().clientId("G", second->id()), "c@2");
    EXPECT_EQ(bench.registry().clientId("G", 12345), "");
    EXPECT_EQ(bench.registry().clientId("Nobody", second->id()), "");
}

TEST(Clients, ConnectionsWithOneIdAreShownToOperators) {
    ClientsBench bench;
    const auto first = bench.context.peer("127.0.0.1:1111");
    const auto second = bench.context.peer("127.0.0.1:2222");
    bench.beat(first, Beat{});
    bench.beat(second, Beat{});
    const auto conflicts = bench.registry().conflicts("G");
    ASSERT_EQ(conflicts.size(), 1U);
    EXPECT_EQ(conflicts[0].kind, service::GroupConflict::Kind::ClientIds);
    EXPECT_EQ(conflicts[0].parties.size(), 2U);
    EXPECT_EQ(conflicts[0].parties[0].clientId, "c@1");
}

TEST(Clients, APullTellsOfAnExpressionOnlyWhatNoHeartbeatSays) {
    ClientsBench bench;
    bench.beat(bench.context.peer(), Beat{.expression = "TagA"});
    bench.registry().compensate("G", "T", "TagB", "TAG");
    EXPECT_EQ(bench.registry().subscription("G", "T")->subString, "TagA");
    bench.registry().compensate("G", "Assigned", "*", "");
    EXPECT_EQ(bench.registry().subscription("G", "Assigned")->subString, "*") << "a member that was given its queues names no topic";
    bench.registry().compensate("G", "Bad", "||", "");
    EXPECT_FALSE(bench.registry().subscription("G", "Bad"));
}

TEST(Clients, AConnectionMayChangeItsClientId) {
    ClientsBench bench;
    const auto peer = bench.context.peer();
    bench.beat(peer, Beat{});
    bench.beat(peer, Beat{.clientId = "renamed"});
    EXPECT_EQ(bench.ids("G"), std::vector<std::string>{"renamed"});
    EXPECT_EQ(bench.notices(peer), 1U) << "as in RocketMQ that is no change of membership";
    EXPECT_FALSE(bench.registry().findClient("c@1"));
    EXPECT_TRUE(bench.registry().findClient("renamed"));
}

TEST(Clients, SubscriptionsThatOnlyPullsToldOfEndAfterTenMinutes) {
    ClientsBench bench;
    bench.registry().compensate("Quiet", "T", "TagA", "TAG");
    EXPECT_EQ(bench.registry().subscription("Quiet", "T")->subString, "TagA");
    EXPECT_FALSE(bench.registry().group("Quiet").online);
    bench.context.advance(9min);
    bench.registry().compensate("Quiet", "T", "TagB", "");
    bench.context.advance(9min);
    EXPECT_EQ(bench.registry().subscriptions("Quiet").size(), 1U);
    bench.context.advance(2min);
    EXPECT_FALSE(bench.registry().subscription("Quiet", "T"));
    EXPECT_TRUE(bench.registry().subscriptions("Quiet").empty());
}

TEST(Clients, FiltersThatAreNotOfferedAreRefusedByName) {
    ClientsBench bench;
    const auto check = [&](std::string_view body) { return bench.context.call(RequestCode::CheckClientConfig, testkit::Fields{}, body); };
    EXPECT_EQ(check({}).code(), ResponseCode::Success);
    EXPECT_EQ(check(R"({"clientId":"c","group":"G","subscriptionData":{"topic":"T","subString":"A","expressionType":"TAG"}})").code(),
              ResponseCode::Success);
    auto sql = check(R"({"clientId":"c","group":"G","subscriptionData":{"topic":"T","subString":"a > 1","expressionType":"SQL92"}})");
    EXPECT_EQ(sql.code(), ResponseCode::SystemError);
    EXPECT_EQ(sql.remark(), "The broker does not support consumer to filter message by SQL92");
    EXPECT_EQ(check("junk").code(), ResponseCode::SystemError);
}

TEST(Clients, FiltersThatAreOfferedJudgeExpressionsAndHearOfHeartbeats) {
    ClientsBench bench;
    bench.context.provide<service::MessageFilter>(bench.filters);
    bench.start();
    const auto check = [&](std::string_view body) { return bench.context.call(RequestCode::CheckClientConfig, testkit::Fields{}, body); };
    EXPECT_EQ(check(R"({"clientId":"c","group":"G","subscriptionData":{"topic":"T","subString":"a=1","expressionType":"SQL92"}})").code(),
              ResponseCode::Success);
    auto bad = check(R"({"clientId":"c","group":"G","subscriptionData":{"topic":"T","subString":"a","expressionType":"SQL92"}})");
    EXPECT_EQ(bad.code(), ResponseCode::SubscriptionParseFailed);
    EXPECT_EQ(bad.remark(), "no sign in it");

    const auto peer = bench.context.peer();
    Beat beat;
    auto full = beat.data();
    full.consumerDataSet[0].subscriptionDataSet[0].subString = "a=1";
    full.consumerDataSet[0].subscriptionDataSet[0].expressionType = "SQL92";
    bench.beat(peer, full);
    beat.withoutSub = true;
    beat.fingerprint = 5;
    bench.beat(peer, beat);
    EXPECT_EQ(bench.filters.heard, (std::vector<std::string>{"G T a=1", "G T a=1"})) << "also of one that leaves its subscriptions out";
}

TEST(Clients, BodiesWithoutEndAreRefusedWithoutHarm) {
    ClientsBench bench;
    std::string many = R"({"clientID":"c","consumerDataSet":[)";
    for (int i = 0; i < 500'000; ++i) many += "1,";
    many += "1]}";
    EXPECT_EQ(bench.context.call(RequestCode::HeartBeat, testkit::Fields{}, many).code(), ResponseCode::SystemError);
    EXPECT_EQ(bench.context.call(RequestCode::LockBatchMq, testkit::Fields{}, std::string(100'000, '[')).code(), ResponseCode::SystemError);
    EXPECT_EQ(bench.beat(bench.context.peer(), Beat{}), "true");
}

TEST(Clients, AHeartbeatOfMoreGroupsThanTheLimitRegistersNone) {
    ClientsBench bench(testkit::Settings{{"heartbeatGroupsMax", "3"}});
    protocol::HeartbeatData many = Beat{}.data();
    many.producerGroups = {"A", "B", "C"};
    const auto refused = bench.context.call(RequestCode::HeartBeat, testkit::Fields{}, many.toJson());
    EXPECT_EQ(refused.code(), ResponseCode::SystemError);
    EXPECT_EQ(refused.remark(), "the heartbeat names 4 groups, limit heartbeatGroupsMax 3");
    EXPECT_TRUE(bench.ids("G").empty());
    many.producerGroups.pop_back();
    EXPECT_EQ(bench.context.call(RequestCode::HeartBeat, testkit::Fields{}, many.toJson()).code(), ResponseCode::Success);
    EXPECT_EQ(bench.ids("G").size(), 1U);
}

TEST(Clients, AConnectionIsInNoMoreGroupsThanTheLimit) {
    ClientsBench bench(testkit::Settings{{"heartbeatGroupsMax", "3"}});
    const auto peer = bench.context.peer();
    protocol::HeartbeatData beat = Beat{}.data();
    beat.producerGroups = {"A", "B"};
    EXPECT_EQ(bench.beat(peer, beat).code(), ResponseCode::Success);
    EXPECT_EQ(bench.beat(peer, beat).code(), ResponseCode::Success) << "the same ones again";
    protocol::HeartbeatData other = Beat{.group = "H"}.data();
    auto refused = bench.beat(peer, other);
    EXPECT_EQ(refused.code(), ResponseCode::SystemError);
    EXPECT_EQ(refused.remark(), "the connection is in too many groups, limit heartbeatGroupsMax 3");
    EXPECT_TRUE(bench.ids("H").empty());
    EXPECT_EQ(bench.beat(bench.context.peer(), other).code(), ResponseCode::Success) << "another connection";
    bench.unregister(peer, {{"clientID", "c@1"}, {"producerGroup", "A"}, {"consumerGroup", ""}});
    EXPECT_EQ(bench.beat(peer, other).code(), ResponseCode::Success);
}

/// What a heartbeat with all of it is answered, and nothing of it is kept when it is refused.
std::string answerTo(ClientsBench& bench, const protocol::HeartbeatData& beat) {
    auto call = bench.beat(bench.context.peer(), beat);
    if (call.code() == ResponseCode::Success) return "taken";
    EXPECT_EQ(call.code(), ResponseCode::SystemError);
    EXPECT_TRUE(bench.registry().consumerGroups().empty()) << call.remark();
    EXPECT_TRUE(bench.registry().producerGroups().empty()) << call.remark();
    return call.remark();
}

TEST(Clients, AHeartbeatOfMoreSubscriptionsThanTheLimitRegistersNone) {
    ClientsBench bench(testkit::Settings{{"heartbeatSubscriptionsMax", "3"}});
    protocol::HeartbeatData beat = Beat{}.data();
    auto other = Beat{.group = "H", .topic = "U"}.data().consumerDataSet[0];
    other.subscriptionDataSet.resize(3, other.subscriptionDataSet[0]);
    for (int i = 0; i < 3; ++i) other.subscriptionDataSet[static_cast<std::size_t>(i)].topic = "U" + std::to_string(i);
    beat.consumerDataSet.push_back(other);
    EXPECT_EQ(answerTo(bench, beat), "the heartbeat names 4 subscriptions, limit heartbeatSubscriptionsMax 3");
    beat.consumerDataSet[1].subscriptionDataSet.pop_back();
    EXPECT_EQ(answerTo(bench, beat), "taken");
}

TEST(Clients, AConnectionHasNoMoreSubscriptionsThanTheLimit) {
    ClientsBench bench(testkit::Settings{{"heartbeatSubscriptionsMax", "2"}});
    const auto peer = bench.context.peer();
    EXPECT_EQ(bench.beat(peer, Beat{.group = "A"}), "true");
    EXPECT_EQ(bench.beat(peer, Beat{.group = "B"}), "true");
    EXPECT_EQ(bench.beat(peer, Beat{.group = "B", .topic = "Another"}), "true") << "in place of the former one";
    auto refused = bench.beat(peer, Beat{.group = "C"}.data());
    EXPECT_EQ(refused.remark(), "the connection has too many subscriptions, limit heartbeatSubscriptionsMax 2");
    EXPECT_TRUE(bench.ids("C").empty());
}

TEST(Clients, LongNamesAndTextsAreRefusedWhole) {
    ClientsBench bench(testkit::Settings{{"groupLengthMax", "20"}, {"clientIdLengthMax", "30"}, {"subscriptionLengthMax", "256"}});
    const auto text = [](std::size_t bytes) { return std::string(bytes - std::string_view("TTAG").size(), 'x'); };
    EXPECT_EQ(answerTo(bench, Beat{.clientId = std::string(31, 'c')}.data()), "the client id has 31 bytes, limit clientIdLengthMax 30");
    EXPECT_EQ(answerTo(bench, Beat{.group = std::string(21, 'g')}.data()), "the name of a group has 21 bytes, limit groupLengthMax 20");
    EXPECT_EQ(answerTo(bench, Beat{.expression = text(257)}.data()), "a subscription has 257 bytes, limit subscriptionLengthMax 256");
    EXPECT_EQ(answerTo(bench, Beat{.topic = std::string(253, 't')}.data()), "a subscription has 257 bytes, limit subscriptionLengthMax 256");
    auto beat = Beat{}.data();
    beat.producerGroups = {std::string(21, 'p')};
    EXPECT_EQ(answerTo(bench, beat), "the name of a group has 21 bytes, limit groupLengthMax 20");
    beat = Beat{}.data();
    beat.consumerDataSet[0].subscriptionDataSet[0].tagsSet = {std::string(100, 'y'), std::string(155, 'z')};
    EXPECT_EQ(answerTo(bench, beat), "the tags of a subscription have 257 bytes, limit subscriptionLengthMax 256");
    beat = Beat{}.data();
    beat.consumerDataSet[0].subscriptionDataSet[0].codeSet.resize(87);
    EXPECT_EQ(answerTo(bench, beat), "the tags of a subscription have 259 bytes, limit subscriptionLengthMax 256");
    beat = Beat{.clientId = std::string(30, 'c'), .group = std::string(20, 'g'), .expression = text(256)}.data();
    beat.producerGroups = {std::string(20, 'p')};
    EXPECT_EQ(answerTo(bench, beat), "taken");
}

TEST(Clients, TheDefaultsTakeTheLongestNamesAndTagsOfRocketMqsClients) {
    ClientsBench bench;
    const std::string group(255, 'g');
    std::string tags = "t0";
    for (int i = 1; i < 5'000; ++i) tags += "||t" + std::to_string(i);
    auto beat = Beat{.clientId = "192.168.100.100@" + std::string(255, 'i') + "@" + std::string(255, 'u'), .group = group, .expression = tags}.data();
    beat.consumerDataSet[0].subscriptionDataSet.push_back(*protocol::SubscriptionData::build("%RETRY%" + group, "*"));
    EXPECT_EQ(answerTo(bench, beat), "taken");
    EXPECT_EQ(bench.ids(group).size(), 1U);
}

TEST(Clients, LengthsCountInTheOtherRequestsToo) {
    ClientsBench bench(testkit::Settings{{"groupLengthMax", "20"}, {"clientIdLengthMax", "30"}, {"subscriptionLengthMax", "256"},
                                         {"queueNameLengthMax", "10"}, {"lockQueuesOfRequestMax", "2"}});
    const auto leave = [&](const testkit::Fields& fields) { return bench.context.call(RequestCode::UnregisterClient, fields, {}).remark(); };
    EXPECT_EQ(leave({{"clientID", std::string(31, 'c')}, {"producerGroup", "p"}}), "the client id has 31 bytes, limit clientIdLengthMax 30");
    EXPECT_EQ(leave({{"clientID", "c"}, {"producerGroup", std::string(21, 'p')}}), "the name of a group has 21 bytes, limit groupLengthMax 20");
    EXPECT_EQ(leave({{"clientID", "c"}, {"consumerGroup", std::string(21, 'p')}}), "the name of a group has 21 bytes, limit groupLengthMax 20");

    const auto check = [&](const std::string& text) {
        const std::string body = R"({"clientId":"c","group":"g","subscriptionData":{"topic":"T","expressionType":"SQL92","subString":")" + text + R"("}})";
        return bench.context.call(RequestCode::CheckClientConfig, testkit::Fields{}, body).remark();
    };
    EXPECT_EQ(check(std::string(251, 'x')), "a subscription has 257 bytes, limit subscriptionLengthMax 256");
    EXPECT_EQ(check(std::string(250, 'x')), "The broker does not support consumer to filter message by SQL92");

    for (const auto code : {RequestCode::LockBatchMq, RequestCode::UnlockBatchMq}) {
        const auto lock = [&](const protocol::LockBatchRequest& body) {
            auto call = bench.context.call(code, testkit::Fields{}, body.toJson());
            return call.code() == ResponseCode::Success ? "done" : call.remark();
        };
        protocol::LockBatchRequest body{std::string(20, 'g'), std::string(30, 'c'), false, {{"T", "broker-xx", 0}, {"T", "broker-xx", 1}}};
        EXPECT_EQ(lock(body), "done");
        body.mqSet.push_back({"T", "b", 2});
        EXPECT_EQ(lock(body), "the request names 3 queues, limit lockQueuesOfRequestMax 2");
        body.mqSet = {{"T", "broker-xxx", 0}};
        EXPECT_EQ(lock(body), "a queue has 11 bytes in the names of topic and broker, limit queueNameLengthMax 10");
        body.consumerGroup += 'g';
        EXPECT_EQ(lock(body), "the name of a group has 21 bytes, limit groupLengthMax 20");
        body.consumerGroup = "g";
        body.clientId += 'c';
        EXPECT_EQ(lock(body), "the client id has 31 bytes, limit clientIdLengthMax 30");
    }
}

TEST(Clients, LocksBeyondTheLimitAreNotGrantedAndTheAnswerSaysWhy) {
    ClientsBench bench(testkit::Settings{{"queueLocksMax", "2"}});
    const protocol::LockBatchRequest body{"g", "c", false, {{"T", "b", 0}, {"T", "b", 1}, {"T", "b", 2}}};
    auto call = bench.context.call(RequestCode::LockBatchMq, testkit::Fields{}, body.toJson());
    EXPECT_EQ(call.code(), ResponseCode::Success);
    EXPECT_EQ(call.remark(), "not all queues are locked, limit queueLocksMax 2");
    EXPECT_EQ(recorded::provided<service::QueueLocks>(bench.context).held("g").size(), 2U);
}

TEST(Clients, WhatClientsLeaveIsBoundedAndFreedWithThem) {
    ClientsBench bench(testkit::Settings{{"clientsBytesMax", "65536"}});
    const auto big = [](const std::string& group) { return Beat{.clientId = "c@" + group, .group = group, .expression = std::string(10'000, 'x')}; };
    const auto first = bench.context.peer();
    const auto second = bench.context.peer();
    bench.beat(first, big("A"));
    auto refused = bench.beat(second, big("B").data());
    EXPECT_EQ(refused.code(), ResponseCode::SystemError);
    EXPECT_EQ(refused.remark(), "the broker has no room for more clients, limit clientsBytesMax 65536");
    EXPECT_TRUE(bench.ids("B").empty());
    bench.beat(first, big("A"));
    // Again and again, with other texts, under other ids and in other groups: nothing adds up.
    for (int i = 0; i < 100; ++i) {
        const std::string n = std::to_string(i);
        bench.beat(first, Beat{.clientId = "id" + n, .group = "A", .topic = "T" + n, .expression = std::string(9'000, 'x')});
    }
    const auto third = bench.context.peer();
    bench.beat(third, Beat{.clientId = "small", .group = "A"});
    bench.context.disconnect(first);
    for (int i = 0; i < 100; ++i) {
        auto beat = big("B").data();
        beat.producerGroups = {"P"};
        ASSERT_EQ(bench.beat(second, beat).code(), ResponseCode::Success) << i;
        bench.unregister(second, {{"clientID", "c@B"}, {"producerGroup", "P"}, {"consumerGroup", "B"}});
    }
}

TEST(Clients, SubscriptionsOfPullsAreRememberedWithinTheirLimit) {
    ClientsBench bench(testkit::Settings{{"pullSubscriptionsBytesMax", "50000"}, {"subscriptionExpiredTimeout", "1000"}});
    auto& registry = bench.registry();
    const std::string text(8'000, 'x');
    registry.compensate("A", "T", text, "TAG");
    EXPECT_TRUE(registry.subscription("A", "T"));
    registry.compensate("B", "T", text, "TAG");
    EXPECT_FALSE(registry.subscription("B", "T"));
    for (int i = 0; i < 100; ++i) registry.compensate("A", "T", text + std::to_string(i), "TAG");
    EXPECT_EQ(registry.subscription("A", "T")->subString, text + "99") << "in place of the former one";
    bench.context.advance(std::chrono::seconds(20));
    registry.compensate("B", "T", text, "TAG");
    EXPECT_TRUE(registry.subscription("B", "T"));
}

TEST(Clients, TenThousandClientsComeAndGo) {
    ClientsBench bench;
    std::vector<Ref<FakePeer>> peers;
    for (int i = 0; i < 10'000; ++i) {
        peers.push_back(bench.context.peer("127.0.0.1:" + std::to_string(1024 + i)));
        bench.beat(peers.back(), Beat{.clientId = "c@" + std::to_string(i), .group = "G" + std::to_string(i % 1000)});
    }
    EXPECT_EQ(bench.registry().consumerGroups().size(), 1000U);
    EXPECT_EQ(bench.ids("G7").size(), 10U);
    bench.context.advance(131s);
    EXPECT_TRUE(bench.registry().consumerGroups().empty());
    EXPECT_FALSE(peers.front()->isOpen());
}

}  // namespace
}  // namespace patchbay::plugins::clients
