// Proved: messages are checked and written as RocketMQ's Java client does it; namespaces and reserved names are respected.
// How: the outfitter alone.
// Left to others: whether brokers take them (integration).
#include "message/MessageData.h"
#include "message/Namespace.h"
#include "message/Outgoing.h"
#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/Properties.h"

#include <gtest/gtest.h>

namespace patchbay::client {
namespace {

class Outfitting : public ::testing::Test {
protected:
    ProducerOptions options_{.group = "g"};
    protocol::UniqueIdGenerator ids_{systemClock(), SocketAddress::v4({127, 0, 0, 1}, 0), 1, 2};
    Outfitter outfitter_{options_, ids_, systemClock()};
};

TEST_F(Outfitting, WritesWhatTheProtocolKnowsIntoProperties) {
    const auto out = outfitter_.one({.topic = "T", .body = "b", .tags = "A", .keys = {"k1", "k2"}, .properties = {{"a", "1"}}, .waitForStore = false});
    ASSERT_TRUE(out) << out.error().toString();
    const protocol::Properties properties(out->properties);
    EXPECT_EQ(properties.get("TAGS"), "A");
    EXPECT_EQ(properties.get("KEYS"), "k1 k2");
    EXPECT_EQ(properties.get("a"), "1");
    EXPECT_EQ(properties.get("WAIT"), "false");
    EXPECT_EQ(properties.get("UNIQ_KEY"), out->id);
    EXPECT_EQ(out->id.size(), 32U);
    EXPECT_EQ(out->sysFlag, 0);
}

TEST_F(Outfitting, TakesTheUsersPropertiesOfAReceivedMessageAgain) {
    const auto out = outfitter_.one({.topic = "T", .body = "b", .tags = "A", .keys = {"k"}, .properties = {{"a", "1"}, {"colour", "red"}}, .delayLevel = 3});
    ASSERT_TRUE(out) << out.error().toString();
    auto data = std::make_shared<ReceivedMessage::Data>();
    data->properties = out->properties;
    protocol::appendProperty(data->properties, "MIN_OFFSET", "0");   // what brokers and clients add
    protocol::appendProperty(data->properties, "__CRC32#", "1234567890");
    const ReceivedMessage received(data);
    EXPECT_GT(received.properties().size(), 2U);
    const Message again{.topic = "U", .body = "b", .properties = received.userProperties()};
    EXPECT_EQ(again.properties, (std::map<std::string, std::string, std::less<>>{{"a", "1"}, {"colour", "red"}}));
    const auto sent = outfitter_.one(again);
    EXPECT_TRUE(sent) << sent.error().toString();
}

TEST_F(Outfitting, PacksWhatIsLargeAndGetsSmaller) {
    const auto large = outfitter_.one({.topic = "T", .body = std::string(4096, 'a')});
    ASSERT_TRUE(large);
    EXPECT_EQ(large->sysFlag, 0x301);
    EXPECT_LT(large->body.size(), 200U);
    EXPECT_EQ(outfitter_.one({.topic = "T", .body = std::string(4095, 'a')})->sysFlag, 0);
    std::string noise;
    std::uint32_t state = 1;
    while (noise.size() < 5000) noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    EXPECT_EQ(outfitter_.one({.topic = "T", .body = noise})->sysFlag, 0);
}

TEST_F(Outfitting, WritesEachKindOfDelay) {
    const auto property = [&](const Message& message, std::string_view name) {
        const auto out = outfitter_.one(message);
        return out ? std::string(protocol::findProperty(out->properties, name)) : out.error().toString();
    };
    EXPECT_EQ(property({.topic = "T", .body = "b", .delayLevel = 3}, "DELAY"), "3");
    EXPECT_EQ(property({.topic = "T", .body = "b", .delay = std::chrono::seconds(2)}, "TIMER_DELAY_MS"), "2000");
    const std::chrono::system_clock::time_point time(std::chrono::milliseconds(1234567));
    EXPECT_EQ(property({.topic = "T", .body = "b", .deliverAt = time}, "TIMER_DELIVER_MS"), "1234567");
}

TEST_F(Outfitting, ABatchKeepsEveryMessagesOwnId) {
    const std::vector<Message> messages{{.topic = "T", .body = "one"}, {.topic = "T", .body = "two", .tags = "B"}};
    const auto out = outfitter_.batch(messages);
    ASSERT_TRUE(out) << out.error().toString();
    EXPECT_TRUE(out->batch);
    protocol::BatchReader reader(out->body);
    protocol::BatchEntry entry;
    std::string ids;
    while (reader.next(entry)) ids.append(ids.empty() ? "" : ",").append(protocol::findProperty(entry.properties, "UNIQ_KEY"));
    EXPECT_EQ(ids, out->id);
    EXPECT_TRUE(protocol::findProperty(out->properties, "UNIQ_KEY").empty());
}

TEST_F(Outfitting, ABatchGoesToOneTopicAtOnce) {
    const std::vector<Message> mixed{{.topic = "T", .body = "x"}, {.topic = "U", .body = "x"}};
    const std::vector<Message> late{{.topic = "T", .body = "x", .delayLevel = 1}};
    const std::vector<Message> waiting{{.topic = "T", .body = "x"}, {.topic = "T", .body = "x", .waitForStore = false}};
    EXPECT_FALSE(outfitter_.batch(mixed));
    EXPECT_FALSE(outfitter_.batch(late));
    EXPECT_FALSE(outfitter_.batch(waiting));
}

TEST(Namespaces, ArePutBeforeNamesAndTakenOffAgain) {
    EXPECT_EQ(withNamespace("ns", "T"), "ns%T");
    EXPECT_EQ(withNamespace("ns", "%RETRY%g"), "%RETRY%ns%g");
    EXPECT_EQ(withNamespace("ns", "ns%T"), "ns%T");
    EXPECT_EQ(withNamespace("ns", "TBW102"), "TBW102");
    EXPECT_EQ(withNamespace("ns", "C_REPLY_TOPIC"), "C_REPLY_TOPIC");
    EXPECT_EQ(withNamespace("", "T"), "T");
    EXPECT_EQ(withoutNamespace("ns", "ns%T"), "T");
    EXPECT_EQ(withoutNamespace("ns", "%RETRY%ns%g"), "%RETRY%g");
    EXPECT_EQ(withoutNamespace("ns", "T"), "T");
}

}  // namespace
}  // namespace patchbay::client
