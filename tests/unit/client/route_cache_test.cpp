// Proved: a client finds its brokers where the newest answer says, and forgets topics that are gone, but not at once.
// How: a scripted name server, and a clock that the test sets.
// Left to others: what a route means (route_test), which name server is asked (remoting_test).
#include "ScriptedServer.h"

#include "instance/ClientInstance.h"
#include "patchbay/testkit/ManualClock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <mutex>

namespace patchbay::test {
namespace {

using client::ClientInstance;
using client::RoutePtr;
using protocol::RemotingCommand;
using protocol::ResponseCode;
using namespace std::chrono_literals;

class Routes : public ::testing::Test {
protected:
    void SetUp() override {
        instance_ = ClientInstance::make({.nameServers = names_.address(), .routeRefreshInterval = 24h, .log = [](auto, auto) {}}, runtime_, client::makeTcpDialer());
    }
    void TearDown() override {
        instance_.reset();
        for (int i = 0; i < 3; ++i) runtime_.call([] {});
    }
    std::optional<RemotingCommand> script(const RemotingCommand& asked) {
        const std::lock_guard lock(mutex_);
        const auto found = told_.find(std::string(asked.find("topic").value_or("")));
        if (found == told_.end()) return answerTo(asked, ResponseCode::TopicNotExist);
        auto answer = answerTo(asked);
        answer.body = routeBody({found->second}, 1);
        return answer;
    }
    void tell(const std::string& topic, const std::string& broker, const std::string& address) {
        const std::lock_guard lock(mutex_);
        told_[topic] = {broker, address};
    }
    void forget(const std::string& topic) {
        const std::lock_guard lock(mutex_);
        told_.erase(topic);
    }
    Result<RoutePtr> refresh(const std::string& topic) {
        std::promise<Result<RoutePtr>> answered;
        runtime_.loop().post([&] {
            instance_->routes().refresh(topic, clock_.now() + 10s, [&](Result<RoutePtr> route) { answered.set_value(std::move(route)); });
        });
        return answered.get_future().get();
    }
    /// Returns in a turn of the loop that has seen it, so that no timer is set by the time before.
    void advance(std::chrono::milliseconds by) {
        std::promise<void> seen;
        runtime_.loop().post([&] {
            runtime_.loop().after(1ms, [&] { seen.set_value(); });
            clock_.advance(by);
        });
        seen.get_future().wait();
    }
    [[nodiscard]] std::string addressOf(const std::string& broker) { return instance_->routes().addressOf(broker, 0); }
    /// How many questions a turn of the refresh asks.
    std::size_t refreshAll() {
        const auto before = names_.requests().size();
        runtime_.call([&] { instance_->routes().refreshAll(); });
        // Questions over one connection are read in order.
        EXPECT_FALSE(refresh("never"));
        return names_.requests().size() - before - 1;
    }

    testkit::ManualClock clock_;
    std::mutex mutex_;
    std::map<std::string, std::pair<std::string, std::string>> told_;
    ScriptedServer names_{[this](const auto& asked) { return script(asked); }};
    client::Runtime runtime_{clock_, true};
    ClientInstance::Pointer instance_;
};

TEST_F(Routes, ABrokerIsWhereTheNewestAnswerSays) {
    tell("A", "a", "127.0.0.1:1");
    tell("B", "a", "127.0.0.1:1");
    ASSERT_TRUE(refresh("A"));
    ASSERT_TRUE(refresh("B"));
    EXPECT_EQ(addressOf("a"), "127.0.0.1:1");
    // It moved; the first topic in the order of names has not been asked for again.
    tell("B", "a", "127.0.0.1:2");
    ASSERT_TRUE(refresh("B"));
    EXPECT_EQ(addressOf("a"), "127.0.0.1:2");
    EXPECT_EQ(instance_->routes().brokers(true), (std::set<std::string>{"127.0.0.1:2"}));
    // An answer that changes nothing of its topic is the newest all the same.
    ASSERT_TRUE(refresh("A"));
    EXPECT_EQ(addressOf("a"), "127.0.0.1:1");
}

TEST_F(Routes, ATopicThatIsGoneIsForgottenButNotAtOnce) {
    tell("A", "a", "127.0.0.1:1");
    tell("B", "b", "127.0.0.1:2");
    ASSERT_TRUE(refresh("A"));
    ASSERT_TRUE(refresh("B"));
    forget("A");
    EXPECT_EQ(refresh("A").error().code(), StatusCode::NotFound);
    advance(60s);
    EXPECT_FALSE(refresh("A"));
    EXPECT_EQ(addressOf("a"), "127.0.0.1:1") << "a name server that was started again knows nothing yet";
    EXPECT_EQ(refreshAll(), 2U);
    // It is there again, and the time begins anew.
    tell("A", "a", "127.0.0.1:1");
    ASSERT_TRUE(refresh("A"));
    forget("A");
    advance(60s);
    EXPECT_FALSE(refresh("A"));
    EXPECT_NE(instance_->routes().known("A"), nullptr);
    advance(90s);
    EXPECT_FALSE(refresh("A"));
    EXPECT_EQ(instance_->routes().known("A"), nullptr);
    EXPECT_EQ(addressOf("a"), "");
    EXPECT_EQ(addressOf("b"), "127.0.0.1:2");
    EXPECT_EQ(refreshAll(), 1U);
}

TEST_F(Routes, ANameServerThatNoBrokerReachesDoesNotTakeThem) {
    std::atomic<int> blank{0};
    const auto script = [&](int self, const RemotingCommand& asked) {
        if (blank == self) return answerTo(asked, ResponseCode::TopicNotExist);
        auto answer = answerTo(asked);
        answer.body = routeBody({{"a", "127.0.0.1:1"}}, 1);
        return answer;
    };
    ScriptedServer one([&](const auto& asked) { return script(1, asked); });
    ScriptedServer two([&](const auto& asked) { return script(2, asked); });
    instance_ = ClientInstance::make({.nameServers = one.address() + ";" + two.address(), .routeRefreshInterval = 24h, .log = [](auto, auto) {}}, runtime_,
                                     client::makeTcpDialer());
    ASSERT_TRUE(refresh("A"));
    // Whichever is asked, it is the blank one at some time.
    for (const int isolated : {1, 2}) {
        blank = isolated;
        for (int i = 0; i < 6; ++i) {
            static_cast<void>(refresh("A"));
            advance(60s);
            EXPECT_EQ(addressOf("a"), "127.0.0.1:1") << i;
        }
    }
    TearDown();
}

TEST_F(Routes, ATopicThatNeverWasIsNotAskedForByItself) {
    tell("B", "b", "127.0.0.1:2");
    ASSERT_TRUE(refresh("B"));
    EXPECT_FALSE(refresh("typo"));
    EXPECT_EQ(refreshAll(), 1U);
}

TEST_F(Routes, AnImpossibleNumberOfQueuesIsRefusedAndWhatIsKnownStays) {
    std::atomic<std::int32_t> queues{4};
    ScriptedServer names([&](const RemotingCommand& asked) {
        auto answer = answerTo(asked);
        answer.body = routeBody({{"a", "127.0.0.1:1"}}, queues);
        return answer;
    });
    instance_ = ClientInstance::make({.nameServers = names.address(), .routeRefreshInterval = 24h, .log = [](auto, auto) {}}, runtime_, client::makeTcpDialer());
    ASSERT_TRUE(refresh("A"));
    queues = 2'000'000'000;
    EXPECT_EQ(refresh("A").error().code(), StatusCode::Corrupt);
    ASSERT_NE(instance_->routes().known("A"), nullptr);
    EXPECT_EQ(instance_->routes().known("A")->toWrite.size(), 4U);
    TearDown();
}

// What is wrong here is seen under ASan.
TEST_F(Routes, MayWaitForAListOfNameServersWhenTheirClientEnds) {
    // The list is asked for on another thread, whose answer comes behind everything here.
    std::promise<void> gate;
    auto opened = gate.get_future().share();
    runtime_.resolver().post([opened] { opened.wait(); });
    instance_ = ClientInstance::make({.nameServerUrl = "http://127.0.0.1:1/", .log = [](auto, auto) {}}, runtime_, client::makeTcpDialer());
    std::promise<StatusCode> ended;
    runtime_.call([&] {
        instance_->routes().refresh("A", clock_.now() + 10s, [&](const Result<RoutePtr>& route) { ended.set_value(route.error().code()); });
    });
    TearDown();
    EXPECT_EQ(ended.get_future().get(), StatusCode::Cancelled);
    gate.set_value();
}

}  // namespace
}  // namespace patchbay::test
