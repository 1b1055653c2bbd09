// Proves that the bodies which Java brokers, name servers and clients have sent are read and written again as they
// were. How: every recorded body of a code goes through fromJson and toJson and is compared but for the order of map
// members. Left to others: headers and frames (tests/unit/protocol), what brokers do with the bodies (tests of the
// plugins).
#include "Golden.h"

#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/protocol/route/ConfigText.h"
#include "patchbay/protocol/route/RegisterBroker.h"
#include "patchbay/protocol/route/SubscriptionGroupConfig.h"
#include "patchbay/protocol/route/TopicRoute.h"
#include "patchbay/protocol/util/Crc32.h"

namespace patchbay::protocol {
namespace {

using golden::Body;

constexpr bool kRequest = true;
constexpr bool kResponse = false;

/// Answers, all written by Java, come out as they went in; requests at least `exactAtLeast` times. The others were made
/// by hand or by another language: everything they say is kept.
template <typename T>
void roundTrip(int code, bool request, std::size_t exactAtLeast) {
    std::size_t exact = 0;
    for (const Body& side : golden::bodies(code, request)) {
        const auto body = T::fromJson(side.body);
        if (!body && side.responseCode != 0) continue;  // a bad body, sent on purpose, that Java refused as well
        ASSERT_TRUE(body.has_value()) << side.where << ": " << body.error().toString();
        const auto same = golden::sameButForOrder(side.body, body->toJson());
        exact += same ? 1u : 0u;
        if (!request) {
            EXPECT_TRUE(same) << side.where;
        } else if (!same) {
            EXPECT_TRUE(golden::isContained(side.body, body->toJson())) << side.where;
        }
    }
    EXPECT_GE(exact, exactAtLeast) << "code " << code;
}

TEST(GoldenBodies, TopicTablesOf21) {
    roundTrip<TopicConfigSerializeWrapper>(21, kResponse, 1);
}
TEST(GoldenBodies, TopicListsOf18) {
    roundTrip<TopicConfigList>(18, kRequest, 1);
}
TEST(GoldenBodies, GroupConfigsOf200And352) {
    roundTrip<SubscriptionGroupConfig>(200, kRequest, 2);
    roundTrip<SubscriptionGroupConfig>(352, kResponse, 1);
}
TEST(GoldenBodies, GroupTablesOf201) {
    roundTrip<SubscriptionGroups>(201, kResponse, 1);
}
TEST(GoldenBodies, GroupListsOf225) {
    roundTrip<SubscriptionGroupList>(225, kRequest, 1);
}
TEST(GoldenBodies, TopicStatsOf202) {
    roundTrip<TopicStatsTable>(202, kResponse, 2);
}
TEST(GoldenBodies, ConsumerConnectionsOf203) {
    roundTrip<ConsumerConnection>(203, kResponse, 2);
}
TEST(GoldenBodies, ProducerConnectionsOf204) {
    roundTrip<ProducerConnection>(204, kResponse, 1);
}
TEST(GoldenBodies, ConsumeStatsOf208) {
    roundTrip<ConsumeStats>(208, kResponse, 3);
}
TEST(GoldenBodies, TopicNamesOf206And224And304And305And343) {
    roundTrip<TopicList>(206, kResponse, 1);
    roundTrip<TopicList>(224, kResponse, 1);
    roundTrip<TopicList>(304, kResponse, 1);
    roundTrip<TopicList>(305, kResponse, 1);
    roundTrip<TopicList>(343, kResponse, 1);
}
TEST(GoldenBodies, GroupNamesOf300) {
    roundTrip<GroupList>(300, kResponse, 1);
}
TEST(GoldenBodies, TablesOf28And219) {
    roundTrip<KvTable>(28, kResponse, 1);
    roundTrip<KvTable>(219, kResponse, 1);
}
TEST(GoldenBodies, ConsumerIdsOf38) {
    roundTrip<ConsumerIdList>(38, kResponse, 3);
}
TEST(GoldenBodies, LocksOf41And42) {
    roundTrip<LockBatchRequest>(41, kRequest, 2);
    roundTrip<LockBatchResponse>(41, kResponse, 2);
    roundTrip<LockBatchRequest>(42, kRequest, 2);
}
TEST(GoldenBodies, ClusterInfoOf106) {
    roundTrip<ClusterInfo>(106, kResponse, 2);
}
TEST(GoldenBodies, MemberGroupsOf901) {
    roundTrip<BrokerMemberGroup>(901, kResponse, 1);
}
TEST(GoldenBodies, DataVersionsOf322) {
    roundTrip<DataVersion>(322, kRequest, 2);
}

TEST(GoldenBodies, ConsumerOffsetsOf43) {
    const auto recorded = golden::bodies(43, kResponse);
    EXPECT_GE(recorded.size(), 1u);
    for (const Body& side : recorded) {
        const auto body = ConsumerOffsets::fromJson(side.body);
        ASSERT_TRUE(body.has_value()) << side.where << ": " << body.error().toString();
        const std::string ours = body->toJson();
        const auto a = json::Document::parse(side.body);
        const auto b = json::Document::parse(ours);
        EXPECT_EQ(golden::canonical(a->root()["offsetTable"]), golden::canonical(b->root()["offsetTable"]));
        // The topics of a group are a set in Java, in an order that nobody knows.
        EXPECT_EQ(golden::sortedCharacters(side.body), golden::sortedCharacters(ours)) << side.where;
    }
}

TEST(GoldenBodies, OrderTablesInAnswersTo103) {
    roundTrip<KvTable>(103, kResponse, 1);
}

TEST(GoldenBodies, RoutesOf105InTheDialectTheClientGot) {
    std::size_t strict = 0;
    std::size_t fastjson = 0;
    for (const Body& side : golden::bodies(105, kResponse)) {
        const auto route = TopicRouteData::fromJson(side.body);
        ASSERT_TRUE(route.has_value()) << side.where << ": " << route.error().toString();
        const bool bareKeys = side.body.find("{0:") != std::string::npos;
        const auto dialect = bareKeys ? json::Dialect::Fastjson : json::Dialect::Strict;
        EXPECT_TRUE(golden::sameButForOrder(side.body, route->toJson(dialect))) << side.where;
        ++(bareKeys ? fastjson : strict);
    }
    EXPECT_GE(strict, 5u);
    EXPECT_GE(fastjson, 2u);
}

TEST(GoldenBodies, RoutesWithOneBrokerAreTheRecordedBytes) {
    std::size_t exact = 0;
    for (const Body& side : golden::bodies(105, kResponse)) {
        if (side.body.find("topicQueueMappingByBroker") != std::string::npos) continue;
        const auto route = TopicRouteData::fromJson(side.body);
        ASSERT_TRUE(route.has_value()) << side.where;
        if (route->brokerDatas.size() != 1) continue;
        const bool bareKeys = side.body.find("{0:") != std::string::npos;
        EXPECT_EQ(side.body, route->toJson(bareKeys ? json::Dialect::Fastjson : json::Dialect::Strict)) << side.where;
        ++exact;
    }
    EXPECT_GE(exact, 5u);
}

TEST(GoldenBodies, HeartbeatsOf34FromBothLanguages) {
    const auto heartbeats = golden::bodies(34, kRequest);
    EXPECT_GE(heartbeats.size(), 10u);
    std::size_t exact = 0;
    std::size_t second = 0;
    for (const Body& side : heartbeats) {
        const auto body = HeartbeatData::fromJson(side.body);
        if (!body) {
            // Recorded on purpose: a body that no heartbeat has.
            EXPECT_NE(side.responseCode, 0) << side.where << ": " << body.error().toString();
            continue;
        }
        if (side.body.find("\"clientID\":\"") != std::string::npos) {
            EXPECT_FALSE(body->clientId.empty()) << side.where;
        }
        exact += golden::sameButForOrder(side.body, body->toJson()) ? 1u : 0u;
        second += body->heartbeatFingerprint != 0 ? 1u : 0u;
    }
    // Go leaves members out and orders them otherwise; Java's come out as they went in.
    EXPECT_GE(exact, 5u);
    EXPECT_GE(second, 2u);
}

TEST(GoldenBodies, RegistrationsOf103AsJson) {
    std::size_t count = 0;
    for (const Body& side : golden::bodies(103, kRequest)) {
        if (side.body.front() != '{' || side.body.find("filterServerList") == std::string::npos) continue;
        const auto body = RegisterBrokerBody::decode(side.body, 479, false);
        ASSERT_TRUE(body.has_value()) << side.where << ": " << body.error().toString();
        EXPECT_TRUE(golden::sameButForOrder(side.body, body->toJson())) << side.where;
        EXPECT_FALSE(body->topicConfigSerializeWrapper.topicConfigTable.empty()) << side.where;
        ++count;
    }
    EXPECT_GE(count, 8u);
}

TEST(GoldenBodies, RegistrationsOf103AsZlib) {
    std::size_t count = 0;
    for (const Body& side : golden::bodies(103, kRequest)) {
        if (side.body.front() != 'x') continue;
        const auto body = RegisterBrokerBody::decode(side.body, 479, true);
        ASSERT_TRUE(body.has_value()) << side.where << ": " << body.error().toString();
        ++count;
        // Java's order of topics is not ours, so what is compared is what comes out of our own stream.
        const auto packed = body->toCompressed(479);
        ASSERT_TRUE(packed.has_value());
        const auto again = RegisterBrokerBody::decode(*packed, 479, true);
        ASSERT_TRUE(again.has_value()) << again.error().toString();
        EXPECT_EQ(body->toJson(), again->toJson());
        const auto theirs = decompress(CompressionType::Zlib, side.body, 1 << 20);
        const auto ours = decompress(CompressionType::Zlib, *packed, 1 << 20);
        ASSERT_TRUE(theirs.has_value() && ours.has_value());
        EXPECT_EQ(theirs->size(), ours->size());
        if (body->topicConfigSerializeWrapper.topicConfigTable.size() < 2) {
            EXPECT_EQ(*theirs, *ours);
            EXPECT_EQ(side.body, *packed) << "level 9 of the same library gives the same stream";
        }
    }
    EXPECT_GE(count, 2u);
}

TEST(GoldenBodies, RegistrationFromAnOldBrokerHasTheShortForm) {
    std::size_t count = 0;
    for (const Body& side : golden::bodies(103, kRequest)) {
        if (side.body.front() != '{' || side.body.find("filterServerList") != std::string::npos) continue;
        const auto body = RegisterBrokerBody::decode(side.body, 30, false);
        ASSERT_TRUE(body.has_value()) << side.where << ": " << body.error().toString();
        EXPECT_EQ(body->topicConfigSerializeWrapper.topicConfigTable.size(), 2u);
        EXPECT_EQ(body->topicConfigSerializeWrapper.dataVersion.counter, 1);
        ++count;
    }
    EXPECT_EQ(count, 1u);
}

TEST(GoldenBodies, QueueDataOf217) {
    const auto recorded = golden::bodies(217, kRequest);
    ASSERT_GE(recorded.size(), 1u);
    const auto list = QueueDataList::fromJson(recorded[0].body);
    ASSERT_TRUE(list.has_value());
    ASSERT_EQ(list->queueDatas.size(), 1u);
    EXPECT_EQ(list->queueDatas[0], (QueueData{"reg-x", 2, 2, 6, 0}));
}

TEST(GoldenBodies, ClientChecksOf46) {
    std::size_t sql = 0;
    for (const Body& side : golden::bodies(46, kRequest)) {
        const auto body = CheckClientBody::fromJson(side.body);
        ASSERT_TRUE(body.has_value()) << side.where << ": " << body.error().toString();
        EXPECT_FALSE(body->group.empty());
        sql += body->subscriptionData.expressionType == kExpressionTypeSql92 ? 1u : 0u;
    }
    EXPECT_GE(sql, 2u);
}

TEST(GoldenBodies, ConfigurationTextOf26And319IsWrittenAgain) {
    std::size_t count = 0;
    for (const int code : {26, 319}) {
        for (const Body& side : golden::bodies(code, kResponse)) {
            const auto table = parseConfigText(side.body);
            ASSERT_TRUE(table.has_value()) << side.where;
            EXPECT_EQ(side.body, configText(*table)) << side.where;
            ++count;
        }
    }
    EXPECT_GE(count, 2u);
}

TEST(GoldenBodies, ConfigurationFilesKeepJavasLayout) {
    const auto folder = golden::dataFolder() / "store";
    const std::string topics = golden::readFile(folder / "c-complex.topics.json");
    const std::string groups = golden::readFile(folder / "c-complex.subscriptionGroup.json");
    const std::string offsets = golden::readFile(folder / "c-complex.consumerOffset.json");
    EXPECT_TRUE(golden::sameButForOrder(topics, TopicConfigs::fromJson(topics)->toJson(json::Dialect::Pretty)));
    EXPECT_TRUE(golden::sameButForOrder(groups, SubscriptionGroups::fromJson(groups)->toJson(json::Dialect::Pretty)));
    EXPECT_EQ(offsets, ConsumerOffsets::fromJson(offsets)->toJson(json::Dialect::Pretty));
}

}  // namespace
}  // namespace patchbay::protocol
