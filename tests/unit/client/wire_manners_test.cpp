// Proved: each request of ours carries the fields that RocketMQ's Java client sends, no less and nothing else, apart from named exceptions.
// How: a scripted broker records what our producer and consumers send; the recorded frames of the Java client are the measure.
// Left to others: the values' meaning, which brokers judge (integration).
#include "ScriptedBroker.h"

#include "patchbay/client/Producer.h"
#include "patchbay/client/PullConsumer.h"
#include "patchbay/client/PushConsumer.h"
#include "patchbay/client/TransactionProducer.h"
#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/route/AdminBodies.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace patchbay::test {
namespace {

using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;
using Names = std::set<std::string>;
using namespace std::chrono_literals;

/// Names of the fields of the first request with that code that the Java client sent in a recorded scenario.
Names javaFields(const std::string& scenario, RequestCode code) {
    std::ifstream file(PATCHBAY_TEST_DATA "/golden/frames/" + scenario + ".jsonl");
    std::string line;
    while (std::getline(file, line)) {
        const auto document = json::Document::parse(line);
        if (!document) continue;
        const auto root = document->root();
        if (root["code"].integer() != static_cast<std::int64_t>(code) || root["role"].string() != "client->broker") continue;
        const std::string text(root["request_header"].string().value_or(""));
        const auto header = json::Document::parse(text);
        if (!header) continue;
        Names names;
        for (const auto& [key, value] : header->root()["extFields"]) names.insert(std::string(key));
        return names;
    }
    ADD_FAILURE() << "no recorded " << static_cast<int>(code) << " in " << scenario;
    return {};
}

Names fieldsOf(const RemotingCommand& command) {
    Names names;
    for (const auto& [key, value] : command.fields) names.insert(key);
    return names;
}

/// Names of the members of a body, and of the first element of its lists, as paths.
void addPaths(json::Value value, const std::string& path, Names& into) {
    if (value.isArray() && value.size() > 0) return addPaths((*value.begin()).value, path + "[]", into);
    if (!value.isObject()) return;
    for (const auto& [key, member] : value) {
        into.insert(path + "." + std::string(key));
        addPaths(member, path + "." + std::string(key), into);
    }
}

class WireManners : public ::testing::Test {
protected:
    [[nodiscard]] client::ClientOptions options() const {
        client::ClientOptions made;
        made.nameServers = server_.address();
        made.log = [](auto, auto) {};
        return made;
    }
    RemotingCommand first(RequestCode code) { return broker_.first(code); }
    client::ConsumerOptions consumer() {
        client::ConsumerOptions made;
        made.client = options();
        made.group = "g";
        made.from = client::ConsumeFrom::FirstOffset;
        made.offsetInterval = 100ms;
        made.maxReconsumeTimes = 1;
        return made;
    }

    ScriptedBroker broker_;
    ScriptedServer& server_ = broker_.server();
};

TEST_F(WireManners, Sends) {
    auto sender = client::Producer::create({.client = options(), .group = "g"});
    ASSERT_TRUE(sender);
    ASSERT_TRUE(sender->send({.topic = "T", .body = "x"}));
    EXPECT_EQ(fieldsOf(first(RequestCode::SendMessageV2)), javaFields("send-plain", RequestCode::SendMessageV2));
    const std::vector<client::Message> batch{{.topic = "T", .body = "x"}, {.topic = "T", .body = "y"}};
    ASSERT_TRUE(sender->send(batch));
    const auto sent = first(RequestCode::SendBatchMessage);
    EXPECT_EQ(fieldsOf(sent), javaFields("send-batch", RequestCode::SendBatchMessage));
    EXPECT_EQ(sent.find("m"), "true");
    ASSERT_TRUE(sender->sendOneway({.topic = "T", .body = "z"}));
    const auto sends = [&] { return server_.requests(RequestCode::SendMessageV2); };
    while (sends().size() < 2) std::this_thread::yield();
    EXPECT_TRUE(sends().back().isOneway());
    EXPECT_EQ(sends().back().version, protocol::kVersion);
}

TEST_F(WireManners, ATransaction) {
    class Yes final : public client::TransactionListener {
        client::TransactionState execute(const client::Message&, const client::SendReceipt&) override { return client::TransactionState::Commit; }
        client::TransactionState check(const client::ReceivedMessage&) override { return client::TransactionState::Commit; }
    } yes;
    auto sender = client::TransactionProducer::create({.client = options(), .group = "g"}, yes);
    ASSERT_TRUE(sender);
    ASSERT_TRUE(sender->send({.topic = "T", .body = "x"}));
    const auto half = first(RequestCode::SendMessageV2);
    EXPECT_EQ(half.find("f"), "4");
    EXPECT_EQ(protocol::findProperty(half.find("i").value_or(""), "TRAN_MSG"), "true");
    EXPECT_EQ(protocol::findProperty(half.find("i").value_or(""), "PGROUP"), "g");
    const auto end = first(RequestCode::EndTransaction);
    auto ours = fieldsOf(end);
    ours.insert("transactionId");  // our scripted broker names none
    EXPECT_EQ(ours, javaFields("transaction-commit", RequestCode::EndTransaction));
    EXPECT_TRUE(end.isOneway());
    EXPECT_EQ(end.find("commitOrRollback"), "8");
    EXPECT_EQ(end.find("tranStateTableOffset"), "3");
}

TEST_F(WireManners, APushConsumer) {
    auto reader = client::PushConsumer::create(consumer());
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T"));
    ASSERT_TRUE(reader->consume([](auto, auto&) { return client::ConsumeResult::Later; }));
    EXPECT_EQ(fieldsOf(first(RequestCode::PullMessage)), javaFields("push-concurrent", RequestCode::PullMessage));
    EXPECT_EQ(fieldsOf(first(RequestCode::QueryConsumerOffset)), javaFields("push-concurrent", RequestCode::QueryConsumerOffset));
    EXPECT_EQ(fieldsOf(first(RequestCode::GetConsumerListByGroup)), javaFields("push-concurrent", RequestCode::GetConsumerListByGroup));
    EXPECT_EQ(fieldsOf(first(RequestCode::ConsumerSendMsgBack)), javaFields("push-retry-and-dlq", RequestCode::ConsumerSendMsgBack));
    EXPECT_EQ(fieldsOf(first(RequestCode::UpdateConsumerOffset)), javaFields("push-orderly", RequestCode::UpdateConsumerOffset));
    EXPECT_EQ(first(RequestCode::PullMessage).find("sysFlag"), "2");
    const auto beat = first(RequestCode::HeartBeat);
    Names paths;
    addPaths(json::Document::parse(beat.body)->root(), "", paths);
    for (const auto* path : {".clientID", ".consumerDataSet", ".producerDataSet", ".heartbeatFingerprint", ".withoutSub", ".consumerDataSet[].groupName",
                             ".consumerDataSet[].consumeType", ".consumerDataSet[].messageModel", ".consumerDataSet[].consumeFromWhere",
                             ".consumerDataSet[].unitMode", ".consumerDataSet[].subscriptionDataSet[].topic",
                             ".consumerDataSet[].subscriptionDataSet[].subVersion", ".consumerDataSet[].subscriptionDataSet[].tagsSet"}) {
        EXPECT_TRUE(paths.contains(path)) << path;
    }
    reader->close();
    const auto farewell = first(RequestCode::UnregisterClient);
    EXPECT_EQ(farewell.find("consumerGroup"), "g");
}

TEST_F(WireManners, AnOrderlyConsumerLocksAndUnlocks) {
    auto reader = client::PushConsumer::create(consumer());
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T"));
    ASSERT_TRUE(reader->consumeOrderly([](auto, auto&) { return client::OrderlyResult::Success; }));
    const auto lock = first(RequestCode::LockBatchMq);
    const auto body = protocol::LockBatchRequest::fromJson(lock.body);
    ASSERT_TRUE(body);
    EXPECT_EQ(body->consumerGroup, "g");
    EXPECT_FALSE(body->onlyThisBroker);
    static_cast<void>(first(RequestCode::PullMessage));
    reader->close();
    EXPECT_TRUE(first(RequestCode::UnlockBatchMq).isOneway());
}

TEST_F(WireManners, AFilterIsShownToTheBroker) {
    auto reader = client::PushConsumer::create(consumer());
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T", client::Filter::sql("a > 5")));
    ASSERT_TRUE(reader->consume([](auto, auto&) { return client::ConsumeResult::Success; }));
    const auto check = first(RequestCode::CheckClientConfig);
    const auto document = json::Document::parse(check.body);
    ASSERT_TRUE(document);
    EXPECT_EQ(document->root()["group"].string(), "g");
    EXPECT_EQ(document->root()["subscriptionData"]["expressionType"].string(), "SQL92");
    EXPECT_EQ(first(RequestCode::PullMessage).find("expressionType"), "TAG");  // of the retry topic
}

TEST_F(WireManners, APullConsumer) {
    client::PullOptions made;
    made.consumer = consumer();
    auto reader = client::PullConsumer::create(made);
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T"));
    ASSERT_EQ(reader->poll(10s)->size(), 1U);
    auto java = javaFields("lite-pull-subscribe", RequestCode::LitePullMessage);
    java.erase("ReqT");  // a mark of Java's for clients that share connections with others
    const auto pull = first(RequestCode::LitePullMessage);
    EXPECT_EQ(fieldsOf(pull), java);
    EXPECT_EQ(pull.find("sysFlag"), "22");
    EXPECT_EQ(pull.find("subscription"), "*");
}

}  // namespace
}  // namespace patchbay::test
