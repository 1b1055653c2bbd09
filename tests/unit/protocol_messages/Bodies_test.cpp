// Proves the parts of bodies that no recording shows: defaults, odd spellings, wrong types, damaged registrations.
// How: hand-made bodies.
// Left to others: bodies as Java writes them (GoldenBodies_test).
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/protocol/route/ConfigText.h"
#include "patchbay/protocol/route/RegisterBroker.h"
#include "patchbay/protocol/route/SubscriptionGroupConfig.h"
#include "patchbay/protocol/route/TopicRoute.h"
#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/protocol/util/Compression.h"
#include "patchbay/protocol/util/Hash.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace patchbay::protocol {
namespace {

TEST(Bodies, MissingMembersKeepTheirDefaults) {
    const auto topic = TopicConfig::fromJson(R"({"topicName":"t","perm":null,"unknown":[{}]})");
    ASSERT_TRUE(topic.has_value());
    TopicConfig expected;
    expected.topicName = "t";
    EXPECT_EQ(*topic, expected);
    EXPECT_EQ(*SubscriptionGroupConfig::fromJson("{}"), SubscriptionGroupConfig());
}

TEST(Bodies, SizesAreWrittenAsRocketMqWritesThem) {
    EXPECT_EQ(byteCountText(0), "0 B");
    EXPECT_EQ(byteCountText(1023), "1023 B");
    EXPECT_EQ(byteCountText(1110), "1.1 KiB");
    EXPECT_EQ(byteCountText(105'000'000'000), "97.8 GiB");
    EXPECT_EQ(byteCountText(std::numeric_limits<std::int64_t>::max()), "8.0 EiB");
}

TEST(Bodies, NumbersMayStandInStrings) {
    EXPECT_EQ(TopicConfig::fromJson(R"({"perm":"4","order":"true"})")->perm, 4u);
}

TEST(Bodies, WrongTypesAreRefusedByName) {
    const auto topic = TopicConfig::fromJson(R"({"perm":"many"})");
    EXPECT_EQ(topic.error().code(), StatusCode::Corrupt);
    EXPECT_NE(topic.error().message().find("'perm'"), std::string::npos) << topic.error().message();
    EXPECT_FALSE(TopicConfig::fromJson(R"({"readQueueNums":4294967296})").has_value());
    EXPECT_FALSE(TopicConfig::fromJson(R"({"perm":-1})").has_value());
    EXPECT_FALSE(TopicConfig::fromJson("[]").has_value());
    EXPECT_FALSE(TopicConfig::fromJson("null").has_value());
    EXPECT_FALSE(TopicConfigs::fromJson(R"({"topicConfigTable":{"t":5}})").has_value());
    EXPECT_FALSE(TopicList::fromJson(R"({"topicList":"t"})").has_value());
}

TEST(Bodies, TopicsOfATableTakeItsKeysAsNames) {
    const auto topics = TopicConfigs::fromJson(R"({"topicConfigTable":{"a":{},"b":{"topicName":"other"}}})");
    ASSERT_TRUE(topics.has_value());
    EXPECT_EQ(topics->topicConfigTable.at("a").topicName, "a");
    EXPECT_EQ(topics->topicConfigTable.at("b").topicName, "other");
}

TEST(Bodies, QueueKeysMayBeBareOrQuoted) {
    for (const char* text :
         {R"({"offsetTable":{{"brokerName":"b","queueId":1,"topic":"t"}:{"maxOffset":9}}})",
          R"({"offsetTable":{"{\"brokerName\":\"b\",\"queueId\":1,\"topic\":\"t\"}":{"maxOffset":9}}})"}) {
        const auto stats = TopicStatsTable::fromJson(text);
        ASSERT_TRUE(stats.has_value()) << stats.error().toString();
        ASSERT_EQ(stats->offsetTable.size(), 1u);
        EXPECT_EQ(stats->offsetTable.begin()->first, (MessageQueue{"t", "b", 1}));
        EXPECT_EQ(stats->offsetTable.begin()->second.maxOffset, 9);
    }
    EXPECT_FALSE(TopicStatsTable::fromJson(R"({"offsetTable":{"junk":{}}})").has_value());
}

TEST(Bodies, QueuesOfATopicAreLimited) {
    const auto wrapper = TopicConfigSerializeWrapper::fromJson(
        R"({"topicConfigTable":{"T":{"readQueueNums":2147483647,"writeQueueNums":65537}}})");
    ASSERT_TRUE(wrapper);
    EXPECT_EQ(wrapper->topicConfigTable.at("T").readQueueNums, kTopicQueuesMax);
    EXPECT_EQ(wrapper->topicConfigTable.at("T").writeQueueNums, kTopicQueuesMax);
    const auto line = TopicConfig::fromLine("T 2147483647 16 6 SINGLE_TAG");
    ASSERT_TRUE(line);
    EXPECT_EQ(line->readQueueNums, kTopicQueuesMax);
    EXPECT_EQ(line->writeQueueNums, 16);
}

TEST(Bodies, BrokerIdsMayBeBareOrQuoted) {
    for (const char* text : {R"({"brokerDatas":[{"brokerAddrs":{0:"a",1:"b"}}]})",
                             R"({"brokerDatas":[{"brokerAddrs":{"0":"a","1":"b"}}]})"}) {
        const auto route = TopicRouteData::fromJson(text);
        ASSERT_TRUE(route.has_value());
        EXPECT_EQ(route->brokerDatas.at(0).brokerAddrs.at(kMasterId), "a");
        EXPECT_EQ(route->brokerDatas.at(0).brokerAddrs.at(1), "b");
    }
}

TEST(Bodies, RoutesThatReferToThemselvesAreUnderstood) {
    const auto route = TopicRouteData::fromJson(
        R"({"brokerDatas":[{"brokerName":"x","brokerAddrs":{0:"a"}},{"$ref":"$.brokerDatas[0]"}],"queueDatas":[]})");
    ASSERT_TRUE(route.has_value());
    ASSERT_EQ(route->brokerDatas.size(), 2u);
    EXPECT_EQ(route->brokerDatas[0], route->brokerDatas[1]);
}

TEST(Bodies, HeartbeatsOfOtherClientsAreUnderstood) {
    const auto heartbeat = HeartbeatData::fromJson(
        R"({"clientId":"c","consumerDataSet":[{"groupName":"g","consumeType":1,"messageModel":"clustering",)"
        R"("consumeFromWhere":"NONSENSE"}],"producerDataSet":[{"groupName":"p"}]})");
    ASSERT_TRUE(heartbeat.has_value()) << heartbeat.error().toString();
    EXPECT_EQ(heartbeat->clientId, "c");
    EXPECT_EQ(heartbeat->producerGroups, std::vector<std::string>{"p"});
    const ConsumerData& consumer = heartbeat->consumerDataSet.at(0);
    EXPECT_EQ(consumer.consumeType, ConsumeType::Passively);
    EXPECT_EQ(consumer.messageModel, MessageModel::Clustering);
    EXPECT_EQ(consumer.consumeFromWhere, std::nullopt);
    EXPECT_TRUE(consumer.subscriptionDataSet.empty());
}

TEST(Subscription, IsBuiltFromAnExpression) {
    const auto all = SubscriptionData::build("t", "");
    ASSERT_TRUE(all.has_value());
    EXPECT_TRUE(all->subscribesAll());
    EXPECT_TRUE(all->matchesTagsCode(5));
    const auto tags = SubscriptionData::build("t", "TagA|| TagB ||TagA||");
    ASSERT_TRUE(tags.has_value());
    EXPECT_EQ(tags->subString, "TagA|| TagB ||TagA||");
    EXPECT_EQ(tags->tagsSet, (std::vector<std::string>{"TagA", "TagB"}));
    EXPECT_EQ(tags->codeSet, (std::vector<std::int32_t>{2598919, 2598920}));
    EXPECT_TRUE(tags->matchesTagsCode(tagsCode("TagB")));
    EXPECT_FALSE(tags->matchesTagsCode(tagsCode("TagC")));
    EXPECT_FALSE(tags->matchesTagsCode(0));
}

TEST(Subscription, NamesEachOfManyTagsOnceInTheirOrder) {
    std::string expression;
    std::vector<std::string> wanted;
    for (int i = 0; i < 100; ++i) {
        wanted.push_back("t" + std::to_string(i));
        for (const auto& tag : {wanted.back(), wanted.front(), wanted[wanted.size() / 2]}) expression += tag + "||";
    }
    // Two texts of one hash code.
    expression += "Aa||BB";
    wanted.insert(wanted.end(), {"Aa", "BB"});
    const auto tags = SubscriptionData::build("t", expression);
    ASSERT_TRUE(tags.has_value());
    EXPECT_EQ(tags->tagsSet, wanted);
    EXPECT_EQ(tags->codeSet.size(), wanted.size() - 1);
}

TEST(Subscription, OfOnlySeparatorsIsRefused) {
    EXPECT_EQ(SubscriptionData::build("t", "||").error().code(), StatusCode::InvalidArgument);
    EXPECT_EQ(SubscriptionData::build("t", "||||").error().code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(SubscriptionData::build("t", "|| ||").has_value()) << "Java accepts it and it matches nothing";
}

TEST(Subscription, OfAnotherKindKeepsItsText) {
    const auto sql = SubscriptionData::build("t", "a > 5", kExpressionTypeSql92);
    ASSERT_TRUE(sql.has_value());
    EXPECT_EQ(sql->expressionType, "SQL92");
    EXPECT_TRUE(sql->tagsSet.empty());
    EXPECT_FALSE(SubscriptionData::build("t", "", kExpressionTypeSql92).has_value());
    EXPECT_TRUE(isTagExpression("TAG"));
    EXPECT_TRUE(isTagExpression(""));
    EXPECT_FALSE(isTagExpression("SQL92"));
}

TEST(TopicConfig, PrintsAsInAnswers) {
    TopicConfig config;
    config.topicName = "RwT";
    config.readQueueNums = config.writeQueueNums = 4;
    EXPECT_EQ(config.toString(),
              "TopicConfig [topicName=RwT, readQueueNums=4, writeQueueNums=4, perm=RW-, topicFilterType=SINGLE_TAG, "
              "topicSysFlag=0, order=false, attributes={}]");
    config.attributes["message.type"] = "FIFO";
    EXPECT_NE(config.toString().find("attributes={message.type=FIFO}"), std::string::npos);
}

TEST(TopicConfig, LineIsReadBack) {
    TopicConfig config;
    config.topicName = "T";
    config.attributes["k"] = "a b";
    EXPECT_EQ(config.toLine(), R"(T 16 16 6 SINGLE_TAG {"k":"a b"})");
    EXPECT_EQ(*TopicConfig::fromLine(config.toLine()), config);
    EXPECT_EQ(TopicConfig::fromLine("T 1 2 4 MULTI_TAG")->topicFilterType, TopicFilterType::MultiTag);
    for (const char* line : {"", "T", "T 1 2", "T 1 x 6 SINGLE_TAG", " 1 1 6", "T 1 1 6 SINGLE_TAG {"}) {
        EXPECT_FALSE(TopicConfig::fromLine(line).has_value()) << line;
    }
}

RegisterBrokerBody sampleRegistration() {
    RegisterBrokerBody body;
    auto& wrapper = body.topicConfigSerializeWrapper;
    wrapper.dataVersion = {1, 2, 3};
    wrapper.topicConfigTable["A"].topicName = "A";
    wrapper.topicConfigTable["B"].topicName = "B";
    TopicQueueMapping& mapping = wrapper.topicQueueMappingInfoMap["A"];
    mapping.topic = "A";
    mapping.bname = "b";
    mapping.currIdMap[0] = 7;
    body.filterServerList = {"f:1"};
    return body;
}

TEST(RegisterBroker, CompressedFormIsReadBack) {
    const RegisterBrokerBody body = sampleRegistration();
    const auto packed = body.toCompressed(479);
    ASSERT_TRUE(packed.has_value());
    const auto again = RegisterBrokerBody::decode(*packed, 479, true);
    ASSERT_TRUE(again.has_value()) << again.error().toString();
    EXPECT_EQ(again->toJson(), body.toJson());
}

TEST(RegisterBroker, StaticTopicsTravelOnlyBetweenNewBrokers) {
    const auto packed = sampleRegistration().toCompressed(412);
    const auto again = RegisterBrokerBody::decode(*packed, 412, true);
    ASSERT_TRUE(again.has_value());
    EXPECT_TRUE(again->topicConfigSerializeWrapper.topicQueueMappingInfoMap.empty());
    EXPECT_FALSE(RegisterBrokerBody::decode(*packed, 413, true).has_value()) << "the mappings are missing";
}

TEST(RegisterBroker, NoBodyIsAnEmptyRegistration) {
    const auto body = RegisterBrokerBody::decode("", 479, false);
    ASSERT_TRUE(body.has_value());
    EXPECT_EQ(body->topicConfigSerializeWrapper.dataVersion, DataVersion());
}

TEST(RegisterBroker, DamagedBodiesAreRefused) {
    EXPECT_FALSE(RegisterBrokerBody::decode("junk", 479, false).has_value());
    EXPECT_FALSE(RegisterBrokerBody::decode("junk", 479, true).has_value());
    const auto packed = sampleRegistration().toCompressed(479);
    const std::string plain = *decompress(CompressionType::Zlib, *packed, 1 << 20);
    for (std::size_t size = 0; size < plain.size(); ++size) {
        const auto cut = compress(CompressionType::Zlib, plain.substr(0, size));
        EXPECT_FALSE(RegisterBrokerBody::decode(*cut, 479, true).has_value()) << size;
    }
    std::string many = plain;
    const std::size_t countAt = 4 + static_cast<std::size_t>(loadI32(plain.data()));
    storeI32(many.data() + countAt, 0x7FFFFFFF);
    EXPECT_FALSE(RegisterBrokerBody::decode(*compress(CompressionType::Zlib, many), 479, true).has_value());
}

TEST(RegisterBroker, UnpackedSizeIsLimited) {
    const auto bomb = compress(CompressionType::Zlib, std::string(1 << 20, ' '));
    EXPECT_EQ(RegisterBrokerBody::fromCompressed(*bomb, 479, 1000).error().code(), StatusCode::OutOfRange);
}

TEST(DataVersion, NextCountsOn) {
    DataVersion version{4, 0, 10};
    version.next(99, 3);
    EXPECT_EQ(version, (DataVersion{5, 3, 99}));
}

TEST(ConfigText, IsReadAsJavaReadsProperties) {
    const auto table = parseConfigText(
        "# comment\n! another\\\n\n  a = 1 \nb:2\r\nc 3\nlong=one\\\n   two\nesc\\=key=v\\tx\\\\\n"
        "uni=\\u00e4\\uD83D\\uDE00\nempty=\nalone\na=last");
    ASSERT_TRUE(table.has_value());
    EXPECT_EQ(*table, (ConfigTable{{"a", "last"},
                                   {"b", "2"},
                                   {"c", "3"},
                                   {"long", "onetwo"},
                                   {"esc=key", "v\tx\\"},
                                   {"uni", "\xC3\xA4\xF0\x9F\x98\x80"},
                                   {"empty", ""},
                                   {"alone", ""}}));
    EXPECT_EQ(parseConfigText("a=1 \n")->at("a"), "1 ") << "blanks at the end belong to the value";
    EXPECT_FALSE(parseConfigText("a=\\u12").has_value());
    EXPECT_TRUE(parseConfigText("")->empty());
}

TEST(ConfigText, IsWrittenSorted) {
    EXPECT_EQ(configText({{"b", "2"}, {"a", "1"}}), "a=1\nb=2\n");
}

}  // namespace
}  // namespace patchbay::protocol
