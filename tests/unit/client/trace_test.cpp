// Proved: traces are the records that RocketMQ's Java client writes, field by field, and say what happened.
// How: a scripted broker takes what producers and consumers send to their trace topic.
// Left to others: Java's tools reading them (interop).
#include "ScriptedBroker.h"

#include "patchbay/client/Producer.h"
#include "patchbay/client/PullConsumer.h"
#include "patchbay/client/PushConsumer.h"
#include "patchbay/protocol/message/Properties.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <stdexcept>

namespace patchbay::test {
namespace {

using protocol::RequestCode;
using Fields = std::vector<std::string>;
using namespace std::chrono_literals;

std::vector<Fields> recordsIn(std::string_view body) {
    std::vector<Fields> records;
    Fields fields(1);
    for (const char c : body) {
        if (c == '\x02') records.push_back(std::exchange(fields, Fields(1)));
        else if (c == '\x01') fields.emplace_back();
        else fields.back() += c;
    }
    return records;
}

class Traces : public ::testing::Test {
protected:
    [[nodiscard]] client::ClientOptions options() {
        client::ClientOptions made;
        made.nameServers = broker_.server().address();
        made.log = [](auto, auto) {};
        return made;
    }
    [[nodiscard]] client::ConsumerOptions consumer() {
        client::ConsumerOptions made;
        made.client = options();
        made.group = "g";
        made.from = client::ConsumeFrom::FirstOffset;
        made.trace = true;
        return made;
    }
    /// All records of one kind that have come; waits for the first, up to 10 s.
    std::vector<Fields> records(const std::string& kind) {
        const auto deadline = std::chrono::steady_clock::now() + 10s;
        std::vector<Fields> found;
        while (found.empty() && std::chrono::steady_clock::now() < deadline) {
            for (const auto& sent : broker_.server().requests(RequestCode::SendMessageV2)) {
                if (sent.find("b") != "RMQ_SYS_TRACE_TOPIC") continue;
                keys_.insert(std::string(protocol::findProperty(sent.find("i").value_or(""), "KEYS")));
                groups_.insert(std::string(sent.find("a").value_or("")));
                for (const auto& record : recordsIn(sent.body)) {
                    if (record.front() == kind) found.push_back(record);
                }
            }
            std::this_thread::yield();
        }
        EXPECT_FALSE(found.empty()) << kind;
        return found;
    }
    void consumeOne(client::PushConsumer reader, const client::Listener& listener) {
        std::promise<void> called;
        ASSERT_TRUE(reader.subscribe("T"));
        ASSERT_TRUE(reader.consume([&, first = true](auto messages, auto& context) mutable {
            if (std::exchange(first, false)) called.set_value();
            return listener(messages, context);
        }));
        called.get_future().wait();
        reader.close();
    }

    std::set<std::string> keys_;
    std::set<std::string> groups_;
    ScriptedBroker broker_;
};

TEST_F(Traces, OfAPushConsumer) {
    const auto before = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    consumeOne(*client::PushConsumer::create(consumer()), [](auto, auto&) { return client::ConsumeResult::Success; });
    const auto begun = records("SubBefore");
    ASSERT_EQ(begun.size(), 1U);
    ASSERT_EQ(begun[0].size(), 8U);
    EXPECT_GE(std::stoll(begun[0][1]), before);
    EXPECT_EQ(begun[0][2], "north");
    EXPECT_EQ(begun[0][3], "g");
    EXPECT_EQ(begun[0][4].size(), 32U);
    EXPECT_EQ(begun[0][5], "AB");
    EXPECT_EQ(begun[0][6], "0");
    EXPECT_EQ(begun[0][7], "k1 k2");
    const auto ended = records("SubAfter");
    ASSERT_EQ(ended.size(), 1U);
    ASSERT_EQ(ended[0].size(), 9U);
    EXPECT_EQ(ended[0][1], begun[0][4]);
    EXPECT_EQ(ended[0][2], "AB");
    EXPECT_LT(std::stoi(ended[0][3]), 10'000);
    EXPECT_EQ(ended[0][4], "true");
    EXPECT_EQ(ended[0][5], "k1 k2");
    EXPECT_EQ(ended[0][6], "0");
    EXPECT_GE(std::stoll(ended[0][7]), std::stoll(begun[0][1]));
    EXPECT_EQ(ended[0][8], "g");
    EXPECT_EQ(keys_, (std::set<std::string>{"AB k1 k2"}));
    EXPECT_EQ(groups_, (std::set<std::string>{"_INNER_TRACE_PRODUCER-g-CONSUME-1"}));
}

TEST_F(Traces, SayWhyACallFailed) {
    consumeOne(*client::PushConsumer::create(consumer()), [](auto, auto&) { return client::ConsumeResult::Later; });
    const auto later = records("SubAfter");
    EXPECT_EQ(later[0][4], "false");
    EXPECT_EQ(later[0][6], "4");
}

TEST_F(Traces, SayThatAListenerThrew) {
    consumeOne(*client::PushConsumer::create(consumer()), [](auto, auto&) -> client::ConsumeResult { throw std::runtime_error("x"); });
    const auto thrown = records("SubAfter");
    EXPECT_EQ(thrown[0][4], "false");
    EXPECT_EQ(thrown[0][6], "2");
}

TEST_F(Traces, OfAnOrderlyConsumer) {
    auto reader = client::PushConsumer::create(consumer());
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T"));
    std::promise<void> called;
    ASSERT_TRUE(reader->consumeOrderly([&](auto, auto&) {
        called.set_value();
        return client::OrderlyResult::Success;
    }));
    called.get_future().wait();
    reader->close();
    EXPECT_EQ(records("SubBefore").size(), 1U);
    EXPECT_EQ(records("SubAfter")[0][4], "true");
}

TEST_F(Traces, OfAPullConsumerInANamespace) {
    auto options = consumer();
    options.client.nameSpace = "shop";
    auto reader = client::PullConsumer::create({.consumer = options});
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T"));
    ASSERT_EQ(reader->poll(10s)->size(), 1U);
    reader->close();
    EXPECT_EQ(records("SubBefore")[0][3], "g");
    EXPECT_EQ(records("SubAfter")[0][8], "g");
}

TEST_F(Traces, OfAProducerInANamespace) {
    auto made = options();
    made.nameSpace = "shop";
    auto sender = client::Producer::create({.client = made, .group = "g", .trace = true});
    ASSERT_TRUE(sender);
    const auto receipt = sender->send({.topic = "T", .body = "body", .keys = {"k1", "k2"}});
    ASSERT_TRUE(receipt);
    sender->close();
    const auto sent = records("Pub");
    ASSERT_EQ(sent.size(), 1U);
    ASSERT_EQ(sent[0].size(), 14U);
    EXPECT_EQ(sent[0][2], "north");
    EXPECT_EQ(sent[0][3], "g");
    EXPECT_EQ(sent[0][4], "T");
    EXPECT_EQ(sent[0][5], receipt->messageId);
    EXPECT_EQ(sent[0][6], "null");
    EXPECT_EQ(sent[0][7], "k1 k2");
    EXPECT_EQ(sent[0][8], broker_.server().address());
    EXPECT_EQ(sent[0][9], "4");
    EXPECT_EQ(sent[0][11], "0");
    EXPECT_EQ(sent[0][13], "true");
    EXPECT_EQ(keys_, (std::set<std::string>{receipt->messageId + " k1 k2"}));
    EXPECT_EQ(groups_, (std::set<std::string>{"_INNER_TRACE_PRODUCER-g-PRODUCE-1"}));
}

TEST_F(Traces, OfMessagesThatWereGathered) {
    auto sender = client::Producer::create({.client = options(), .group = "g", .gatherTime = 1s, .trace = true});
    ASSERT_TRUE(sender);
    auto one = sender->sendAsync({.topic = "T", .body = "body", .tags = "Tag", .keys = {"k1", "k2"}});
    auto two = sender->sendAsync({.topic = "T", .body = "longer body"});
    sender->close();
    const auto first = one.get();
    const auto second = two.get();
    ASSERT_TRUE(first && second);
    ASSERT_EQ(broker_.server().requests(RequestCode::SendBatchMessage).size(), 1U);
    const auto sent = records("Pub");
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ((Fields{sent[0][5], sent[0][6], sent[0][7], sent[0][9], sent[0][12]}), (Fields{first->messageId, "Tag", "k1 k2", "4", first->offsetMessageId}));
    EXPECT_EQ((Fields{sent[1][5], sent[1][6], sent[1][7], sent[1][9], sent[1][12]}), (Fields{second->messageId, "null", "null", "11", second->offsetMessageId}));
    ASSERT_EQ(keys_.size(), 1U);
    EXPECT_NE(keys_.begin()->find(second->messageId), std::string::npos) << *keys_.begin();
    EXPECT_EQ(keys_.begin()->find(','), std::string::npos) << *keys_.begin();
}

}  // namespace
}  // namespace patchbay::test
