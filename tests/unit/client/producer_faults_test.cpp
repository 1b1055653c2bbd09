// Proved: a producer tries again where that may help, elsewhere if it can, within one deadline, and says what happened when it gives up.
// How: scripted name servers and brokers on 127.0.0.1.
// Left to others: what a real broker stores (integration), the table of slow brokers by itself (fault_table_test).
#include "ScriptedServer.h"

#include "patchbay/client/Producer.h"
#include "producer/SendJob.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <set>

namespace patchbay::test {
namespace {

using client::Producer;
using client::ProducerOptions;
using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;
using namespace std::chrono_literals;

std::optional<RemotingCommand> stored(const RemotingCommand& asked) {
    auto answer = answerTo(asked);
    answer.set("msgId", "7F00000100002A9F0000000000000000");
    answer.set("queueId", asked.find("e").value_or("0"));
    answer.set("queueOffset", "17");
    return answer;
}

bool isSend(const RemotingCommand& command) { return command.code == static_cast<std::int32_t>(RequestCode::SendMessageV2); }

/// A broker whose answers to sends a test decides.
class Broker {
public:
    explicit Broker(ResponseCode code = ResponseCode::Success) : code_(code) {}
    void answer(ResponseCode code) { code_ = code; }
    [[nodiscard]] ScriptedServer& server() noexcept { return server_; }
    [[nodiscard]] std::size_t sends() const { return server_.requests(RequestCode::SendMessageV2).size(); }

private:
    std::optional<RemotingCommand> script(const RemotingCommand& asked) {
        if (!isSend(asked)) return asked.isOneway() ? std::nullopt : std::optional(answerTo(asked));
        if (code_ == ResponseCode::RpcTimeOut) return std::nullopt;
        return code_ == ResponseCode::Success ? stored(asked) : answerTo(asked, code_);
    }
    std::atomic<ResponseCode> code_;
    ScriptedServer server_{[this](const auto& asked) { return script(asked); }};
};

class Faults : public ::testing::Test {
protected:
    Producer producer(ProducerOptions options = {}) {
        options.client.nameServers = names_.address();
        if (!options.client.log) options.client.log = [](auto, auto) {};
        options.group = "g";
        auto made = Producer::create(options);
        EXPECT_TRUE(made) << made.error().toString();
        return std::move(*made);
    }
    std::vector<std::pair<std::string, std::string>> brokers() { return {{"a", one_.server().address()}, {"b", two_.server().address()}}; }

    Broker one_;
    Broker two_;
    std::atomic<bool> both_{true};
    ScriptedServer names_{[this](const RemotingCommand& asked) {
        auto answer = answerTo(asked);
        auto all = brokers();
        if (!both_) all.pop_back();
        answer.body = routeBody(all, 2);
        return answer;
    }};
};

TEST_F(Faults, ABusyBrokerIsAvoided) {
    one_.answer(ResponseCode::SystemBusy);
    auto sender = producer();
    for (int i = 0; i < 8; ++i) {
        const auto receipt = sender.send({.topic = "T", .body = "x"});
        ASSERT_TRUE(receipt) << receipt.error().toString();
        EXPECT_EQ(receipt->queue.brokerName, "b");
        EXPECT_EQ(receipt->queueOffset, 17);
    }
    EXPECT_EQ(two_.sends(), 8U);
    EXPECT_GT(one_.sends(), 0U);
}

TEST_F(Faults, AttemptsAreCounted) {
    both_ = false;
    one_.answer(ResponseCode::SystemBusy);
    auto sender = producer({.retries = 2});
    const auto lost = sender.send({.topic = "T", .body = "x"});
    EXPECT_EQ(lost.error().code(), StatusCode::Busy) << lost.error().toString();
    EXPECT_EQ(one_.sends(), 3U);
}

TEST_F(Faults, WhatTheMessageIsToBlameForIsNotTriedAgain) {
    both_ = false;
    one_.answer(ResponseCode::MessageIllegal);
    auto sender = producer();
    EXPECT_EQ(sender.send({.topic = "T", .body = "x"}).error().code(), StatusCode::InvalidArgument);
    EXPECT_EQ(one_.sends(), 1U);
}

TEST_F(Faults, OneDeadlineIsForAllAttempts) {
    one_.answer(ResponseCode::RpcTimeOut);
    two_.answer(ResponseCode::RpcTimeOut);
    auto sender = producer({.sendTimeout = 300ms});
    const auto begun = std::chrono::steady_clock::now();
    const auto lost = sender.send({.topic = "T", .body = "x"});
    EXPECT_EQ(lost.error().code(), StatusCode::DeadlineExceeded) << lost.error().toString();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s);
}

TEST_F(Faults, ABrokerThatDropsItsConnectionsIsTriedAgain) {
    auto sender = producer();
    ASSERT_TRUE(sender.send({.topic = "T", .body = "x"}));
    for (int i = 0; i < 10; ++i) {
        one_.server().dropAll();
        two_.server().dropAll();
        const auto receipt = sender.send({.topic = "T", .body = "x"});
        ASSERT_TRUE(receipt) << receipt.error().toString();
    }
}

TEST_F(Faults, GoingAwayIsNoFailure) {
    std::atomic<int> count{0};
    ScriptedServer leaving([&](const RemotingCommand& asked) -> std::optional<RemotingCommand> {
        if (!isSend(asked)) return answerTo(asked);
        return ++count == 1 ? answerTo(asked, ResponseCode::GoAway) : stored(asked);
    });
    ScriptedServer names([&](const RemotingCommand& asked) {
        auto answer = answerTo(asked);
        answer.body = routeBody({{"a", leaving.address()}}, 1);
        return answer;
    });
    ProducerOptions options;
    options.client.nameServers = names.address();
    options.group = "g";
    auto sender = Producer::create(options);
    ASSERT_TRUE(sender);
    EXPECT_TRUE(sender->send({.topic = "T", .body = "x"}));
    EXPECT_EQ(leaving.connections(), 2);
}

TEST_F(Faults, ASlowBrokerIsLeftOutForAWhile) {
    one_.answer(ResponseCode::SystemBusy);
    auto sender = producer({.avoidSlowBrokers = true});
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(sender.send({.topic = "T", .body = "x"}));
    // After its first failure it is not asked again.
    EXPECT_LE(one_.sends(), 1U);
}

TEST_F(Faults, ALateFlushIsASuccessWithAWarning) {
    both_ = false;
    ScriptedServer late([](const RemotingCommand& asked) -> std::optional<RemotingCommand> {
        if (!isSend(asked)) return answerTo(asked);
        auto answer = stored(asked);
        answer->code = static_cast<std::int32_t>(ResponseCode::FlushDiskTimeout);
        return answer;
    });
    ScriptedServer names([&](const RemotingCommand& asked) {
        auto answer = answerTo(asked);
        answer.body = routeBody({{"a", late.address()}}, 1);
        return answer;
    });
    ProducerOptions options;
    options.client.nameServers = names.address();
    options.group = "g";
    auto sender = Producer::create(options);
    ASSERT_TRUE(sender);
    const auto receipt = sender->send({.topic = "T", .body = "x"});
    ASSERT_TRUE(receipt);
    EXPECT_EQ(receipt->status, client::SendStatus::FlushDiskTimeout);
}

TEST_F(Faults, TooMuchUnderWayIsBusy) {
    both_ = false;
    one_.answer(ResponseCode::RpcTimeOut);
    auto sender = producer({.sendTimeout = 400ms, .retries = 0, .inFlightMax = 3});
    std::vector<std::future<Result<client::SendReceipt>>> waiting;
    for (int i = 0; i < 3; ++i) waiting.push_back(sender.sendAsync({.topic = "T", .body = "x"}));
    const auto refused = sender.send({.topic = "T", .body = "x"}, {.timeout = 50ms});
    EXPECT_EQ(refused.error().code(), StatusCode::Busy) << refused.error().toString();
    for (auto& one : waiting) EXPECT_FALSE(one.get());
}

TEST_F(Faults, ASelectorThatThrowsSendsNothingAndHoldsUpNothing) {
    auto sender = producer({.inFlightMax = 1});
    const client::SendOptions options{.selector = [](auto) -> std::size_t { throw std::runtime_error("no such region"); }};
    // First on the client's thread, which asks for the route; then on this one.
    for (int i = 0; i < 3; ++i) {
        const auto refused = sender.send({.topic = "T", .body = "x"}, options);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), StatusCode::InvalidArgument);
        EXPECT_NE(refused.error().message().find("no such region"), std::string::npos) << refused.error().message();
        ASSERT_TRUE(sender.sendOneway({.topic = "T", .body = "x"}, options));
    }
    EXPECT_TRUE(sender.send({.topic = "T", .body = "x"}));
    sender.close();
    EXPECT_EQ(one_.sends() + two_.sends(), 1U);
}

TEST_F(Faults, ACallbackThatThrowsIsLogged) {
    std::promise<std::string> logged;
    ProducerOptions options;
    options.client.log = [&](auto, std::string_view text) {
        if (text.find("my mistake") != std::string_view::npos) logged.set_value(std::string(text));
    };
    auto sender = producer(options);
    sender.sendAsync({.topic = "T", .body = "x"}, [](const auto&) { throw std::runtime_error("my mistake"); });
    EXPECT_EQ(logged.get_future().get(), "a callback threw: my mistake");
    // One that is refused at once is told on the same thread.
    std::promise<StatusCode> told;
    sender.sendAsync({.topic = "T", .body = ""}, [&](const auto& receipt) {
        told.set_value(receipt.error().code());
        throw 1;
    });
    EXPECT_EQ(told.get_future().get(), StatusCode::InvalidArgument);
}

TEST_F(Faults, ALogThatThrowsLosesNoMessage) {
    both_ = false;
    std::atomic<int> lines{0};
    ProducerOptions options;
    options.client.log = [&](auto, auto) {
        ++lines;
        throw std::runtime_error("the disk is full");
    };
    auto sender = producer(options);
    ASSERT_TRUE(sender.send({.topic = "T", .body = "x"}));
    one_.server().dropAll();
    EXPECT_TRUE(sender.send({.topic = "T", .body = "x"}));
    EXPECT_GT(lines, 0);
}

TEST_F(Faults, AMessageThatIsDroppedOnItsWayGivesItsPlaceBack) {
    one_.answer(ResponseCode::RpcTimeOut);
    both_ = false;
    ProducerOptions options{.group = "g", .retries = 0, .inFlightMax = 1};
    options.client.nameServers = names_.address();
    options.client.log = [](auto, auto) {};
    auto instance = client::ClientInstance::acquire(options.client, {false, "g"});
    ASSERT_TRUE(instance);
    const auto core = std::make_shared<client::ProducerCore>(*instance, options);
    std::promise<void> over;
    const auto message = *core->outfitter().one({.topic = "T", .body = "x"});
    core->send(message, {}, core->deadlineIn(300ms), [&](const auto&) { over.set_value(); });
    // The place is this one's now, as if the first were still to be sent.
    std::make_unique<client::SendJob>(core, message, client::ProducerCore::Target{}, core->deadlineIn(1s), [](const auto&) {}).reset();
    auto second = core->deadlineIn(50ms);
    std::promise<StatusCode> ended;
    core->send(message, {}, second, [&](const auto& receipt) { ended.set_value(receipt.error().code()); });
    EXPECT_EQ(ended.get_future().get(), StatusCode::DeadlineExceeded);
    over.get_future().wait();
}

TEST_F(Faults, OnewayMessagesThatNobodyTakesAreLimited) {
    std::promise<void> gate;
    auto opened = gate.get_future().share();
    std::atomic<int> arrived{0};
    // It reads no further while it is in the script.
    ScriptedServer full([&](const RemotingCommand& asked) -> std::optional<RemotingCommand> {
        if (!isSend(asked)) return asked.isOneway() ? std::nullopt : std::optional(answerTo(asked));
        opened.wait();
        ++arrived;
        return std::nullopt;
    });
    ScriptedServer names([&](const RemotingCommand& asked) {
        auto answer = answerTo(asked);
        answer.body = routeBody({{"a", full.address()}}, 1);
        return answer;
    });
    auto made = Producer::create({.client = {.nameServers = names.address(), .log = [](auto, auto) {}}, .group = "g", .sendTimeout = 100ms,
                                  .compression = client::Compression::None, .inFlightMax = 4});
    ASSERT_TRUE(made);
    const client::Message megabyte{.topic = "T", .body = std::string(1 << 20, 'x')};
    int taken = 0;
    Status last;
    // What the system buffers for the socket comes to a few of these.
    while (taken < 64 && (last = made->sendOneway(megabyte))) ++taken;
    EXPECT_EQ(last.code(), StatusCode::Busy) << last.toString();
    EXPECT_LT(taken, 64);
    gate.set_value();
    // Their places come back, and nothing that was handed over is lost.
    EXPECT_TRUE(made->sendOneway({.topic = "T", .body = "last"}, {.timeout = 10s}));
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (arrived < taken + 1 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_EQ(arrived, taken + 1);
}

TEST_F(Faults, RoundRobinGoesOnBehindEveryLargestNumber) {
    ProducerOptions options{.group = "g"};
    options.client.nameServers = names_.address();
    auto instance = client::ClientInstance::acquire(options.client, {false, "g"});
    ASSERT_TRUE(instance);
    protocol::TopicRouteData data;
    data.queueDatas = {{.brokerName = "a", .readQueueNums = 4, .writeQueueNums = 4, .perm = 6}};
    data.brokerDatas = {{.cluster = "C", .brokerName = "a", .brokerAddrs = {{0, "a0"}}, .zoneName = {}}};
    const auto route = client::Route::from("T", data);
    for (const std::uint64_t largest : {0x7FFF'FFFFULL, 0xFFFF'FFFFULL, 0x7FFF'FFFF'FFFF'FFFFULL, 0xFFFF'FFFF'FFFF'FFFFULL}) {
        const auto core = std::make_shared<client::ProducerCore>(*instance, options, largest - 1);
        std::vector<std::int32_t> chosen;
        for (int i = 0; i < 5; ++i) {
            const auto queue = core->choose(*route, {}, {});
            ASSERT_TRUE(queue) << queue.error().toString();
            chosen.push_back(queue->queueId);
        }
        EXPECT_EQ(chosen, (std::vector<std::int32_t>{2, 3, 0, 1, 2})) << largest;
    }
}

TEST_F(Faults, RoundRobinStaysEvenOverManyMessages) {
    both_ = false;
    auto sender = producer();
    std::map<std::int32_t, int> used;
    for (int i = 0; i < 40; ++i) ++used[sender.send({.topic = "T", .body = "x"})->queue.queueId];
    EXPECT_EQ(used[0], 20);
    EXPECT_EQ(used[1], 20);
}

TEST_F(Faults, AProducerMayEndInItsCallback) {
    both_ = false;
    std::optional<Producer> sender(producer());
    std::promise<void> ended;
    sender->sendAsync({.topic = "T", .body = "x"}, [&](const auto&) {
        sender->close();
        ended.set_value();
    });
    EXPECT_EQ(ended.get_future().wait_for(10s), std::future_status::ready);
}

TEST_F(Faults, AProducerMayEndWithMessagesUnderWay) {
    both_ = false;
    one_.answer(ResponseCode::RpcTimeOut);
    std::atomic<int> failed{0};
    {
        auto sender = producer({.sendTimeout = 200ms, .retries = 0});
        for (int i = 0; i < 5; ++i) sender.sendAsync({.topic = "T", .body = "x"}, [&](const auto& receipt) { failed += receipt ? 0 : 1; });
    }
    EXPECT_EQ(failed, 5);
}

TEST_F(Faults, TwoProducersOfOneGroupHaveTwoClientIds) {
    auto one = producer();
    auto two = producer();
    EXPECT_NE(one.clientId(), two.clientId());
}

}  // namespace
}  // namespace patchbay::test
