// Proved: messages that are sent one by one share requests, each with its own receipt; a bad one fails alone; order for one place is kept; nothing is left
// behind at the end.
// How: a scripted broker.
// Left to others: that brokers store them (integration_client_producer), what a batch looks like (outgoing_test).
#include "ScriptedBroker.h"

#include "patchbay/client/Producer.h"
#include "patchbay/protocol/message/Batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <set>
#include <string>
#include <vector>

namespace patchbay::test {
namespace {

using namespace std::chrono_literals;
using client::Message;
using protocol::RequestCode;
using Outcome = std::future<Result<client::SendReceipt>>;

class Gathering : public ::testing::Test {
protected:
    client::Producer producer(std::chrono::milliseconds time, std::size_t bytes = 32U << 10) {
        auto made = client::Producer::create({.client = {.nameServers = broker_.server().address(), .log = [](auto, auto) {}}, .group = "g",
                                              .sendTimeout = 10s, .gatherTime = time, .gatherBytes = bytes});
        EXPECT_TRUE(made) << made.error().toString();
        return std::move(*made);
    }
    /// The bodies of each request, in the order in which they came; "*" in front of a message that came by itself.
    std::vector<std::vector<std::string>> sent() {
        std::vector<std::vector<std::string>> all;
        for (const auto& asked : broker_.server().requests()) {
            if (asked.code == static_cast<std::int32_t>(RequestCode::SendMessageV2)) all.push_back({"*" + asked.body});
            if (asked.code != static_cast<std::int32_t>(RequestCode::SendBatchMessage)) continue;
            all.emplace_back();
            protocol::BatchReader reader(asked.body);
            for (protocol::BatchEntry entry; reader.next(entry);) all.back().emplace_back(entry.body);
        }
        return all;
    }
    ScriptedBroker broker_;
};

TEST_F(Gathering, MessagesShareARequestAndEachHasItsReceipt) {
    auto sender = producer(50ms);
    std::vector<Outcome> outcomes;
    for (int i = 0; i < 100; ++i) outcomes.push_back(sender.sendAsync({.topic = "T", .body = std::to_string(i)}));
    std::set<std::string> ids;
    for (auto& outcome : outcomes) {
        const auto receipt = outcome.get();
        ASSERT_TRUE(receipt) << receipt.error().toString();
        EXPECT_EQ(receipt->messageId.size(), 32U);
        ids.insert(receipt->messageId);
    }
    EXPECT_EQ(ids.size(), 100U);
    const auto requests = sent();
    EXPECT_LT(requests.size(), 50U);
    int next = 0;
    for (const auto& bodies : requests) {
        for (const auto& body : bodies) EXPECT_EQ(body.substr(body.starts_with('*') ? 1 : 0), std::to_string(next++));
    }
    EXPECT_EQ(next, 100);
}

TEST_F(Gathering, OffsetsOfABatchFollowEachOther) {
    auto sender = producer(1s, 200);
    std::vector<Outcome> outcomes;
    for (int i = 0; i < 2; ++i) outcomes.push_back(sender.sendAsync({.topic = "T", .body = std::string(150, 'x')}, {.orderKey = "k"}));
    sender.close();
    EXPECT_EQ(outcomes[0].get()->queueOffset, 3);
    EXPECT_EQ(outcomes[1].get()->queueOffset, 3) << "the second did not fit";
    auto other = producer(1s);
    outcomes.clear();
    for (int i = 0; i < 3; ++i) outcomes.push_back(other.sendAsync({.topic = "T", .body = "x"}));
    other.close();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(outcomes[static_cast<std::size_t>(i)].get()->queueOffset, 3 + i);
}

TEST_F(Gathering, AMessageThatStaysAloneIsNoBatch) {
    auto sender = producer(1ms);
    ASSERT_TRUE(sender.send({.topic = "T", .body = "alone"}));
    EXPECT_EQ(sent(), (std::vector<std::vector<std::string>>{{"*alone"}}));
}

TEST_F(Gathering, AMessageThatBreaksARuleFailsAlone) {
    auto sender = producer(1s);
    std::vector<Outcome> outcomes;
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = ""}));
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "good"}));
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "bad", .properties = {{"UNIQ_KEY", "mine"}}}));
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "good too"}));
    sender.close();
    EXPECT_EQ(outcomes[0].get().error().code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(outcomes[1].get());
    EXPECT_EQ(outcomes[2].get().error().code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(outcomes[3].get());
    EXPECT_EQ(sent(), (std::vector<std::vector<std::string>>{{"good", "good too"}}));
}

TEST_F(Gathering, WhatCannotShareARequestOvertakesNothing) {
    auto sender = producer(1s, 100);
    // The route is known from here on, so that everything leaves in the order of the calls.
    ASSERT_TRUE(sender.send({.topic = "T", .body = std::string(200, '0')}));
    std::vector<Outcome> outcomes;
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "a"}, {.orderKey = "k"}));
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "b"}, {.orderKey = "k"}));
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = std::string(200, 'c')}, {.orderKey = "k"}));
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "d", .delayLevel = 1}));
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "e"}, {.orderKey = "other"}));
    sender.close();
    for (auto& outcome : outcomes) EXPECT_TRUE(outcome.get());
    EXPECT_EQ(sent(), (std::vector<std::vector<std::string>>{{"*" + std::string(200, '0')}, {"a", "b"}, {"*" + std::string(200, 'c')}, {"*d"}, {"*e"}}));
}

TEST_F(Gathering, MessagesOfOneKeyLeaveInOrderWhateverTheyWaitFor) {
    auto sender = producer(1s);
    ASSERT_TRUE(sender.send({.topic = "T", .body = "0"}, {.timeout = 10s}));
    std::vector<Outcome> outcomes;
    for (const auto& [body, waits] : {std::pair{"1", true}, std::pair{"2", true}, std::pair{"3", false}, std::pair{"4", true}}) {
        outcomes.push_back(sender.sendAsync({.topic = "T", .body = body, .waitForStore = waits}, {.orderKey = "k"}));
    }
    // Those without a place have no order to keep, and share their requests all the same.
    for (const auto& [body, waits] : {std::pair{"5", true}, std::pair{"6", false}, std::pair{"7", true}}) {
        outcomes.push_back(sender.sendAsync({.topic = "T", .body = body, .waitForStore = waits}));
    }
    sender.close();
    for (auto& outcome : outcomes) EXPECT_TRUE(outcome.get());
    auto requests = sent();
    std::sort(requests.begin() + 3, requests.end());
    EXPECT_EQ(requests, (std::vector<std::vector<std::string>>{{"*0"}, {"1", "2"}, {"*3"}, {"*4"}, {"*6"}, {"5", "7"}}));
}

TEST_F(Gathering, EveryOtherWayOfSendingKeepsTheOrderOfAKey) {
    auto sender = producer(1s);
    ASSERT_TRUE(sender.send({.topic = "T", .body = "0"}, {.timeout = 10s}));
    std::vector<Outcome> outcomes;
    const client::SendOptions place{.orderKey = "k"};
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "1"}, place));
    const std::vector<Message> batch{{.topic = "T", .body = "2"}, {.topic = "T", .body = "3"}};
    EXPECT_TRUE(sender.send(batch, place));
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "4"}, place));
    EXPECT_TRUE(sender.sendOneway({.topic = "T", .body = "5"}, place));
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "6"}, place));
    // Nobody replies.
    EXPECT_FALSE(sender.request({.topic = "T", .body = "7"}, 100ms, place));
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "8"}, place));
    outcomes.push_back(sender.sendAsync({.topic = "T", .body = "9"}, {.orderKey = "k", .timeout = 10s}));
    sender.close();
    for (auto& outcome : outcomes) EXPECT_TRUE(outcome.get());
    EXPECT_EQ(sent(), (std::vector<std::vector<std::string>>{{"*0"}, {"*1"}, {"2", "3"}, {"*4"}, {"*5"}, {"*6"}, {"*7"}, {"*8"}, {"*9"}}));
}

TEST_F(Gathering, WhatBrokersRefuseInBatchesGoesByItself) {
    auto sender = producer(1s);
    std::vector<Outcome> outcomes;
    for (const auto* body : {"a", "b"}) outcomes.push_back(sender.sendAsync({.topic = "%RETRY%g", .body = body}));
    sender.close();
    for (auto& outcome : outcomes) EXPECT_TRUE(outcome.get());
    EXPECT_EQ(sent(), (std::vector<std::vector<std::string>>{{"*a"}, {"*b"}}));
}

TEST_F(Gathering, SendersOnManyThreadsLoseNothing) {
    auto sender = producer(1ms, 500);
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) sender.sendAsync({.topic = "T", .body = std::string(100, 'x')}, [&](const auto& receipt) { good += receipt ? 1 : 0; });
        });
    }
    for (auto& thread : threads) thread.join();
    sender.close();
    EXPECT_EQ(good, 800);
    std::size_t count = 0;
    for (const auto& bodies : sent()) count += bodies.size();
    EXPECT_EQ(count, 800U);
}

TEST_F(Gathering, OptionsThatCannotBeAreRefused) {
    for (const auto& [time, bytes] : {std::pair{-1ms, 1000UL}, std::pair{2000ms, 1000UL}, std::pair{1ms, 0UL}, std::pair{1ms, 3UL << 20}}) {
        EXPECT_FALSE(client::Producer::create({.group = "g", .gatherTime = time, .gatherBytes = bytes}));
    }
    EXPECT_FALSE(client::Producer::create({.group = "g", .sendTimeout = 100ms, .gatherTime = 51ms})) << "no time would be left to send";
    EXPECT_TRUE(client::Producer::create({.client = {.nameServers = broker_.server().address()}, .group = "g", .messageBytesMax = 1000})) << "nothing is gathered";
}

}  // namespace
}  // namespace patchbay::test
