// Proved: every handle may end in every state it can be in: destroyed, closed twice, moved away, by two threads at once, or inside its own callback.
// How: scripted brokers that leave questions open, each state with each ending; most of what could be wrong is seen under ASan and TSan only.
// Left to others: that what ends has told its progress and finished its work (integration), the end of the process (endings_program).
#include "ScriptedBroker.h"

#include "patchbay/client/AdminClient.h"
#include "patchbay/client/Producer.h"
#include "patchbay/client/PullConsumer.h"
#include "patchbay/client/PushConsumer.h"
#include "patchbay/client/TransactionProducer.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace patchbay::test {
namespace {

using namespace std::chrono_literals;
using client::Producer;
using client::PullConsumer;
using client::PushConsumer;
using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;
using Decided = std::optional<std::optional<RemotingCommand>>;

constexpr auto kPatience = 20s;
constexpr const char* kTakesLong = "it waits 5 s for an answer; one ending is enough";

/// A broker that says nothing to some questions and "busy" to others.
class MoodyBroker {
public:
    void ignore(RequestCode code) { const std::lock_guard lock(mutex_); ignored_.insert(static_cast<std::int32_t>(code)); }
    void refuse(RequestCode code) { const std::lock_guard lock(mutex_); refused_.insert(static_cast<std::int32_t>(code)); }
    [[nodiscard]] client::ClientOptions options() {
        client::ClientOptions made;
        made.nameServers = broker_.server().address();
        made.requestTimeout = 200ms;
        made.log = [](auto, auto) {};
        return made;
    }
    [[nodiscard]] ScriptedBroker& broker() noexcept { return broker_; }

private:
    Decided decide(const RemotingCommand& asked) {
        const std::lock_guard lock(mutex_);
        if (ignored_.contains(asked.code)) return std::optional<RemotingCommand>();
        if (refused_.contains(asked.code)) return answerTo(asked, ResponseCode::SystemBusy);
        return {};
    }
    std::mutex mutex_;
    std::set<std::int32_t> ignored_;
    std::set<std::int32_t> refused_;
    ScriptedBroker broker_{[this](const auto& asked) { return decide(asked); }};
};

enum class Ending : std::uint8_t { Destroyed, ClosedTwice, MovedAway, ByTwoThreads, Overwritten };

template <typename Handle>
void end(std::optional<Handle>& handle, Ending ending) {
    switch (ending) {
        case Ending::Destroyed: break;
        case Ending::ClosedTwice:
            handle->close();
            handle->close();
            break;
        case Ending::MovedAway: {
            const Handle other(std::move(*handle));
            break;
        }
        case Ending::ByTwoThreads: {
            std::thread other([&] { handle->close(); });
            handle->close();
            other.join();
            break;
        }
        case Ending::Overwritten: {
            Handle other(std::move(*handle));
            *handle = std::move(other);
            break;
        }
    }
    handle.reset();
}

std::string nameOf(const ::testing::TestParamInfo<Ending>& info) {
    constexpr std::array kNames{"Destroyed", "ClosedTwice", "MovedAway", "ByTwoThreads", "Overwritten"};
    return kNames.at(static_cast<std::size_t>(info.param));
}

constexpr std::array kEndings{Ending::Destroyed, Ending::ClosedTwice, Ending::MovedAway, Ending::ByTwoThreads, Ending::Overwritten};

class EachEnding : public ::testing::TestWithParam<Ending> {
protected:
    MoodyBroker moody_;

    Producer producer() {
        auto made = Producer::create({.client = moody_.options(), .group = "g", .sendTimeout = 200ms});
        EXPECT_TRUE(made);
        return std::move(*made);
    }
    client::ConsumerOptions consuming() {
        client::ConsumerOptions made;
        made.client = moody_.options();
        made.group = "g";
        made.from = client::ConsumeFrom::FirstOffset;
        made.offsetInterval = 100ms;
        made.threads = 4;
        return made;
    }
    PushConsumer pushConsumer() {
        auto made = PushConsumer::create(consuming());
        EXPECT_TRUE(made);
        EXPECT_TRUE(made->subscribe("T"));
        return std::move(*made);
    }
    PullConsumer pullConsumer() {
        auto made = PullConsumer::create({.consumer = consuming()});
        EXPECT_TRUE(made);
        return std::move(*made);
    }
};

class AProducerEnds : public EachEnding {};

TEST_P(AProducerEnds, Unused) {
    std::optional sender(producer());
    end(sender, GetParam());
}

TEST_P(AProducerEnds, WhileItsRouteIsAskedFor) {
    moody_.ignore(RequestCode::GetRouteinfoByTopic);
    std::optional sender(producer());
    auto outcome = sender->sendAsync({.topic = "T", .body = "x"});
    ASSERT_TRUE(moody_.broker().asked(RequestCode::GetRouteinfoByTopic, 1));
    end(sender, GetParam());
    EXPECT_FALSE(outcome.get());
}

TEST_P(AProducerEnds, WithoutAServer) {
    std::string gone;
    {
        const ScriptedServer server([](const auto& asked) { return answerTo(asked); });
        gone = server.address();
    }
    auto options = moody_.options();
    options.nameServers = gone;
    auto made = Producer::create({.client = options, .group = "g", .sendTimeout = 200ms});
    ASSERT_TRUE(made);
    std::optional sender(std::move(*made));
    auto outcome = sender->sendAsync({.topic = "T", .body = "x"});
    end(sender, GetParam());
    EXPECT_FALSE(outcome.get());
}

TEST_P(AProducerEnds, WithAnswersOutstanding) {
    moody_.ignore(RequestCode::SendMessageV2);
    std::optional sender(producer());
    std::vector<std::future<Result<client::SendReceipt>>> outcomes;
    for (int i = 0; i < 10; ++i) outcomes.push_back(sender->sendAsync({.topic = "T", .body = "x"}));
    ASSERT_TRUE(moody_.broker().asked(RequestCode::SendMessageV2, 10));
    end(sender, GetParam());
    for (auto& outcome : outcomes) EXPECT_FALSE(outcome.get());
}

TEST_P(AProducerEnds, BetweenTwoAttempts) {
    moody_.refuse(RequestCode::SendMessageV2);
    std::optional sender(producer());
    auto outcome = sender->sendAsync({.topic = "T", .body = "x"});
    ASSERT_TRUE(moody_.broker().asked(RequestCode::SendMessageV2, 1));
    end(sender, GetParam());
    EXPECT_FALSE(outcome.get());
}

TEST_P(AProducerEnds, WithOnewayMessagesUnderWay) {
    std::optional sender(producer());
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(sender->sendOneway({.topic = "T", .body = "x"}));
    end(sender, GetParam());
}

TEST_P(AProducerEnds, WhileItWaitsForAReply) {
    std::optional sender(producer());
    std::promise<bool> came;
    sender->requestAsync({.topic = "T", .body = "?"}, 300ms, [&](const auto& reply) { came.set_value(reply.has_value()); });
    ASSERT_TRUE(moody_.broker().asked(RequestCode::SendMessageV2, 1));
    end(sender, GetParam());
    EXPECT_FALSE(came.get_future().get());
}

TEST_P(AProducerEnds, WhileItsConnectionsBreak) {
    moody_.ignore(RequestCode::SendMessageV2);
    std::optional sender(producer());
    auto outcome = sender->sendAsync({.topic = "T", .body = "x"});
    ASSERT_TRUE(moody_.broker().asked(RequestCode::SendMessageV2, 1));
    moody_.broker().server().dropAll();
    end(sender, GetParam());
    EXPECT_FALSE(outcome.get());
}

TEST_P(AProducerEnds, InItsOwnCallback) {
    std::optional sender(producer());
    std::promise<void> ended;
    sender->sendAsync({.topic = "T", .body = "x"}, [&](const auto&) {
        end(sender, GetParam() == Ending::ByTwoThreads ? Ending::ClosedTwice : GetParam());
        ended.set_value();
    });
    EXPECT_EQ(ended.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_P(AProducerEnds, InTheCallbackOfAnother) {
    moody_.ignore(RequestCode::SendBatchMessage);
    std::optional sender(producer());
    auto other = producer();
    auto outcome = sender->sendAsync({.topic = "T", .body = "x"});
    std::promise<void> ended;
    other.sendAsync({.topic = "T", .body = "x"}, [&](const auto&) {
        end(sender, GetParam());
        ended.set_value();
    });
    EXPECT_EQ(ended.get_future().wait_for(kPatience), std::future_status::ready);
    EXPECT_TRUE(outcome.get());
}

class APushConsumerEnds : public EachEnding {};

TEST_P(APushConsumerEnds, BeforeItsStart) {
    std::optional reader(pushConsumer());
    end(reader, GetParam());
}

TEST_P(APushConsumerEnds, WithoutARoute) {
    moody_.ignore(RequestCode::GetRouteinfoByTopic);
    std::optional reader(pushConsumer());
    static_cast<void>(reader->consume([](auto, auto&) { return client::ConsumeResult::Success; }));
    end(reader, GetParam());
}

TEST_P(APushConsumerEnds, WhileQueuesAreDivided) {
    moody_.ignore(RequestCode::GetConsumerListByGroup);
    std::optional reader(pushConsumer());
    ASSERT_TRUE(reader->consume([](auto, auto&) { return client::ConsumeResult::Success; }));
    ASSERT_TRUE(moody_.broker().asked(RequestCode::GetConsumerListByGroup, 1));
    end(reader, GetParam());
}

TEST_P(APushConsumerEnds, WhileItAsksWhereToBegin) {
    moody_.ignore(RequestCode::QueryConsumerOffset);
    std::optional reader(pushConsumer());
    ASSERT_TRUE(reader->consume([](auto, auto&) { return client::ConsumeResult::Success; }));
    ASSERT_TRUE(moody_.broker().asked(RequestCode::QueryConsumerOffset, 1));
    end(reader, GetParam());
}

TEST_P(APushConsumerEnds, WithPollsOpen) {
    std::optional reader(pushConsumer());
    ASSERT_TRUE(reader->consume([](auto, auto&) { return client::ConsumeResult::Success; }));
    ASSERT_TRUE(moody_.broker().asked(RequestCode::PullMessage, 2));
    end(reader, GetParam());
}

TEST_P(APushConsumerEnds, Suspended) {
    std::optional reader(pushConsumer());
    ASSERT_TRUE(reader->consume([](auto, auto&) { return client::ConsumeResult::Success; }));
    reader->suspend();
    end(reader, GetParam());
}

TEST_P(APushConsumerEnds, WhileItsConnectionsBreak) {
    std::optional reader(pushConsumer());
    ASSERT_TRUE(reader->consume([](auto, auto&) { return client::ConsumeResult::Success; }));
    ASSERT_TRUE(moody_.broker().asked(RequestCode::PullMessage, 2));
    moody_.broker().server().dropAll();
    end(reader, GetParam());
}

TEST_P(APushConsumerEnds, WhileTheBrokerTakesNoProgress) {
    if (GetParam() != Ending::Destroyed) GTEST_SKIP() << kTakesLong;
    moody_.ignore(RequestCode::UpdateConsumerOffset);
    moody_.ignore(RequestCode::UnregisterClient);
    std::optional reader(pushConsumer());
    ASSERT_TRUE(reader->consume([](auto, auto&) { return client::ConsumeResult::Success; }));
    ASSERT_TRUE(moody_.broker().asked(RequestCode::UpdateConsumerOffset, 1));
    end(reader, GetParam());
}

TEST_P(APushConsumerEnds, WhileAMessageIsHandedBack) {
    if (GetParam() != Ending::Destroyed) GTEST_SKIP() << kTakesLong;
    moody_.ignore(RequestCode::ConsumerSendMsgBack);
    std::optional reader(pushConsumer());
    ASSERT_TRUE(reader->consume([](auto, auto&) { return client::ConsumeResult::Later; }));
    ASSERT_TRUE(moody_.broker().asked(RequestCode::ConsumerSendMsgBack, 1));
    end(reader, GetParam());
}

TEST_P(APushConsumerEnds, WithAListenerAtWork) {
    std::promise<void> begun;
    std::promise<void> gate;
    auto opened = gate.get_future().share();
    std::optional reader(pushConsumer());
    ASSERT_TRUE(reader->consume([&](auto, auto&) {
        begun.set_value();
        opened.wait();
        return client::ConsumeResult::Success;
    }));
    begun.get_future().wait();
    std::thread ending([&] { end(reader, GetParam()); });
    gate.set_value();
    ending.join();
}

TEST_P(APushConsumerEnds, InItsListener) {
    std::optional reader(pushConsumer());
    std::promise<void> ended;
    ASSERT_TRUE(reader->consume([&](auto, auto&) {
        end(reader, GetParam() == Ending::ByTwoThreads ? Ending::ClosedTwice : GetParam());
        ended.set_value();
        return client::ConsumeResult::Success;
    }));
    EXPECT_EQ(ended.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_P(APushConsumerEnds, OrderlyWhileItsQueuesAreLocked) {
    moody_.ignore(RequestCode::LockBatchMq);
    std::optional reader(pushConsumer());
    ASSERT_TRUE(reader->consumeOrderly([](auto, auto&) { return client::OrderlyResult::Success; }));
    ASSERT_TRUE(moody_.broker().asked(RequestCode::LockBatchMq, 1));
    end(reader, GetParam());
}

TEST_P(APushConsumerEnds, OrderlyWhileAQueueIsSuspended) {
    std::optional reader(pushConsumer());
    std::promise<void> suspended;
    std::atomic<int> calls{0};
    ASSERT_TRUE(reader->consumeOrderly([&](auto, auto&) {
        if (++calls == 1) suspended.set_value();
        return client::OrderlyResult::Suspend;
    }));
    suspended.get_future().wait();
    end(reader, GetParam());
}

TEST_P(APushConsumerEnds, OrderlyInItsListener) {
    std::optional reader(pushConsumer());
    std::promise<void> ended;
    ASSERT_TRUE(reader->consumeOrderly([&](auto, auto&) {
        end(reader, GetParam() == Ending::ByTwoThreads ? Ending::ClosedTwice : GetParam());
        ended.set_value();
        return client::OrderlyResult::Success;
    }));
    EXPECT_EQ(ended.get_future().wait_for(kPatience), std::future_status::ready);
}

class APullConsumerEnds : public EachEnding {};

TEST_P(APullConsumerEnds, Unused) {
    std::optional reader(pullConsumer());
    end(reader, GetParam());
}

TEST_P(APullConsumerEnds, WithPollsOpen) {
    std::optional reader(pullConsumer());
    ASSERT_TRUE(reader->subscribe("T"));
    ASSERT_TRUE(moody_.broker().asked(RequestCode::LitePullMessage, 2));
    end(reader, GetParam());
}

TEST_P(APullConsumerEnds, WithMessagesThatWereNotCommitted) {
    if (GetParam() != Ending::Destroyed) GTEST_SKIP() << kTakesLong;
    moody_.ignore(RequestCode::UpdateConsumerOffset);
    std::optional reader(pullConsumer());
    ASSERT_TRUE(reader->assign({{"T", "broker-a", 0}}));
    const auto messages = reader->poll(10s);
    ASSERT_TRUE(messages);
    ASSERT_EQ(messages->size(), 1U);
    end(reader, GetParam());
    EXPECT_EQ(messages->front().body(), "x") << "a message outlives its consumer";
}

TEST_P(APullConsumerEnds, WhileAnotherThreadPolls) {
    // A handle that a thread uses may be closed, not moved or destroyed.
    if (GetParam() != Ending::ClosedTwice && GetParam() != Ending::ByTwoThreads) GTEST_SKIP();
    std::optional reader(pullConsumer());
    ASSERT_TRUE(reader->subscribe("T"));
    ASSERT_EQ(reader->poll(10s)->size(), 1U);
    std::promise<void> polling;
    std::thread other([&] {
        polling.set_value();
        EXPECT_EQ(reader->poll(60s).error().code(), StatusCode::Unavailable);
    });
    polling.get_future().wait();
    reader->close();
    other.join();
    end(reader, GetParam());
}

class Accountant final : public client::TransactionListener {
public:
    std::function<void()> inside = [] {};
    client::TransactionState execute(const client::Message&, const client::SendReceipt&) override { return inside(), client::TransactionState::Commit; }
    client::TransactionState check(const client::ReceivedMessage&) override { return inside(), client::TransactionState::Commit; }
};

class ATransactionProducerEnds : public EachEnding {
protected:
    client::TransactionProducer transactions() {
        auto made = client::TransactionProducer::create({.client = moody_.options(), .group = "g", .sendTimeout = 200ms}, listener_);
        EXPECT_TRUE(made);
        return std::move(*made);
    }
    Accountant listener_;
};

TEST_P(ATransactionProducerEnds, Unused) {
    std::optional sender(transactions());
    end(sender, GetParam());
}

TEST_P(ATransactionProducerEnds, AfterTheEndOfATransactionWasTold) {
    std::optional sender(transactions());
    ASSERT_TRUE(sender->send({.topic = "T", .body = "x"}));
    end(sender, GetParam());
}

TEST_P(ATransactionProducerEnds, ClosedInTheLocalTransaction) {
    std::optional sender(transactions());
    listener_.inside = [&] { sender->close(); };
    ASSERT_TRUE(sender->send({.topic = "T", .body = "x"}));
    end(sender, GetParam());
}

class AnAdministratorEnds : public EachEnding {};

TEST_P(AnAdministratorEnds, AfterAnUnansweredQuestion) {
    moody_.ignore(RequestCode::GetBrokerClusterInfo);
    auto made = client::AdminClient::create(moody_.options());
    ASSERT_TRUE(made);
    EXPECT_FALSE(made->cluster());
}

INSTANTIATE_TEST_SUITE_P(, AProducerEnds, ::testing::ValuesIn(kEndings), nameOf);
INSTANTIATE_TEST_SUITE_P(, APushConsumerEnds, ::testing::ValuesIn(kEndings), nameOf);
INSTANTIATE_TEST_SUITE_P(, APullConsumerEnds, ::testing::ValuesIn(kEndings), nameOf);
INSTANTIATE_TEST_SUITE_P(, ATransactionProducerEnds, ::testing::ValuesIn(kEndings), nameOf);
INSTANTIATE_TEST_SUITE_P(, AnAdministratorEnds, ::testing::Values(Ending::Destroyed), nameOf);

}  // namespace
}  // namespace patchbay::test
