// Proved: the fakes behave as the kernel's contract says, and a test that uses them can fail.
// How: a small plugin that answers, holds, defers and loses requests, run by PluginRunner.
// Left to others: the real kernel (tests/integration), the store contract (tests/contract).
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/TempDir.h"

#include <filesystem>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

namespace patchbay::testkit {
namespace {

using plugin::ConfigKey;
using plugin::ConfigType;
using protocol::RequestCode;
using protocol::ResponseCode;

class EchoPlugin final : public plugin::Plugin, private plugin::Processor, private plugin::PeerListener {
public:
    static constexpr ConfigKey kKeys[] = {
        {"greeting", ConfigType::Text, "hello", "Said first.", plugin::kReloadable},
        {"hold", ConfigType::Millis, "2s", "How long 11 is held."},
    };

    std::span<const ConfigKey> configKeys() const noexcept override { return kKeys; }
    Status configure(const plugin::ConfigView& config) override {
        greeting_ = config.text("greeting");
        hold_ = config.millis("hold");
        return Status::ok();
    }
    Status init(plugin::PluginContext& context) override {
        context_ = &context;
        context.addPeerListener(*this);
        const RequestCode codes[] = {RequestCode::SendMessage, RequestCode::PullMessage, RequestCode::QueryMessage, RequestCode::HeartBeat};
        return context.processors().bind(codes, *this, {.loopSafe = true, .executor = {}});
    }
    Status reconfigure(const plugin::ConfigView& config, std::span<const std::string_view>) override { return configure(config); }
    void drain() noexcept override {
        for (auto& request : held_) std::move(request).redispatch();
        held_.clear();
    }

    int batches = 0;
    int closedPeers = 0;
    std::vector<plugin::Request> held_;

private:
    void process(plugin::Request request) override {
        switch (static_cast<RequestCode>(request.command().code)) {
            case RequestCode::SendMessage: {
                plugin::Response response;
                response.fields().add("greeting", greeting_);
                response.fields().add("name", request.command().find("name").value_or("nobody"));
                response.setBody(std::string(request.body()));
                return std::move(request).respond(std::move(response));
            }
            case RequestCode::PullMessage:
                if (request.again()) return std::move(request).respond(ResponseCode::PullNotFound, std::string(request.command().find("name").value_or("")));
                request.detach();
                held_.push_back(std::move(request));
                context_->timers().after(hold_, [this] { drain(); });
                return;
            case RequestCode::QueryMessage:
                if (!request.deferred()) return std::move(request).defer();
                return std::move(request).respond(ResponseCode::Success, std::to_string(request.lane()));
            case RequestCode::HeartBeat:
                if (request.body() == "throw") throw std::runtime_error("thrown by the plugin");
                return;
            default: return;
        }
    }
    void endOfBatch(plugin::Lane) noexcept override { ++batches; }
    void peerClosed(plugin::Peer&) noexcept override { ++closedPeers; }

    plugin::PluginContext* context_ = nullptr;
    std::string greeting_;
    std::chrono::milliseconds hold_{};
};

class Harness : public testing::Test {
protected:
    EchoPlugin& start(Settings settings = {}) {
        auto& echo = runner.add<EchoPlugin>(std::move(settings));
        const Status started = runner.start();
        EXPECT_TRUE(started) << started.toString();
        return echo;
    }
    FakeContext context;
    PluginRunner runner{context};
};

TEST_F(Harness, AnswersThroughTheWireFormInBothEncodings) {
    auto& echo = start({{"greeting", "good morning"}});
    for (const auto type : {protocol::SerializeType::Json, protocol::SerializeType::Binary}) {
        CallOptions options;
        options.serializeType = type;
        const auto result = context.call(RequestCode::SendMessage, {{"name", "a \"quoted\" one"}}, "body", options);
        ASSERT_TRUE(result.answered());
        EXPECT_EQ(result.code(), ResponseCode::Success);
        EXPECT_EQ(result.field("greeting"), "good morning");
        EXPECT_EQ(result.field("name"), "a \"quoted\" one");
        EXPECT_EQ(result.body(), "body");
    }
    EXPECT_EQ(echo.batches, 2);
}

TEST_F(Harness, HoldsARequestUntilItsTimerRedispatchesIt) {
    start({{"hold", "500ms"}});
    auto result = context.call(RequestCode::PullMessage, {{"name", "kept by detach"}}, "dropped");
    EXPECT_TRUE(result.held());
    context.advance(std::chrono::milliseconds(499));
    EXPECT_TRUE(result.held());
    context.advance(std::chrono::milliseconds(1));
    ASSERT_TRUE(result.answered());
    EXPECT_EQ(result.code(), ResponseCode::PullNotFound);
    EXPECT_EQ(result.remark(), "kept by detach");
    EXPECT_EQ(result.rounds(), 2);
}

TEST_F(Harness, AwaitSeesAnAnswerFromAnotherThread) {
    auto& echo = start();
    auto result = context.call(RequestCode::PullMessage);
    ASSERT_EQ(echo.held_.size(), 1U);
    std::thread other([request = std::move(echo.held_.front())]() mutable { std::move(request).respond(ResponseCode::Success); });
    echo.held_.clear();
    EXPECT_TRUE(result.await());
    other.join();
    EXPECT_EQ(result.code(), ResponseCode::Success);
}

TEST_F(Harness, DeferredRequestsRunOnTheExecutorsLane) {
    start();
    EXPECT_EQ(context.call(RequestCode::QueryMessage).remark(), "1");
}

TEST_F(Harness, OnewayRequestsAreConsumedAndNotAnswered) {
    start();
    CallOptions options;
    options.oneway = true;
    const auto result = context.call(RequestCode::SendMessage, {}, "", options);
    EXPECT_TRUE(result.consumed());
    EXPECT_FALSE(result.answered());
}

TEST_F(Harness, ALostRequestIsATestFailure) {
    start();
    FakeContext* at = &context;
    static FakeContext* shared;
    shared = at;
    EXPECT_NONFATAL_FAILURE(shared->call(RequestCode::HeartBeat), "destroyed without an answer");
    CallOptions options;
    options.mayBeAbandoned = true;
    EXPECT_TRUE(context.call(RequestCode::HeartBeat, {}, "", options).abandoned());
}

TEST_F(Harness, AnExceptionIsAnsweredWithSystemError) {
    start();
    const auto result = context.call(RequestCode::HeartBeat, {}, "throw");
    EXPECT_EQ(result.code(), ResponseCode::SystemError);
    EXPECT_EQ(result.remark(), "thrown by the plugin");
}

TEST_F(Harness, UnboundCodesAreNotSupported) {
    start();
    EXPECT_EQ(context.call(RequestCode::EndTransaction).code(), ResponseCode::RequestCodeNotSupported);
}

TEST_F(Harness, StoppingAnswersWhatADrainGivesBack) {
    start();
    auto result = context.call(RequestCode::PullMessage);
    ASSERT_TRUE(result.held());
    runner.stop();
    EXPECT_EQ(result.code(), ResponseCode::GoAway);
}

TEST_F(Harness, ClosedPeersAreToldOnce) {
    auto& echo = start();
    const auto peer = context.peer("127.0.0.1:4711");
    peer->close("by the plugin");
    context.pump();
    context.disconnect(peer);
    EXPECT_EQ(echo.closedPeers, 1);
    EXPECT_EQ(peer->closeReason(), "by the plugin");
    EXPECT_EQ(peer->push(protocol::RemotingCommand::request(RequestCode::NotifyConsumerIdsChanged)).code(), StatusCode::Unavailable);
}

TEST_F(Harness, ReconfigureRefusesKeysThatNeedARestart) {
    auto& echo = start();
    EXPECT_TRUE(runner.reconfigure(echo, {{"greeting", "bye"}}));
    EXPECT_EQ(context.call(RequestCode::SendMessage).field("greeting"), "bye");
    EXPECT_EQ(runner.reconfigure(echo, {{"hold", "1s"}}).code(), StatusCode::Unsupported);
}

TEST_F(Harness, RemoteCallsTimeOutOnTheManualClock) {
    std::vector<std::string> outcomes;
    const auto done = [&](const Result<protocol::RemotingCommand>& answer) {
        outcomes.push_back(answer ? "answer" : answer.error().toString());
    };
    context.remoting().invoke("127.0.0.1:9876", protocol::RemotingCommand::request(RequestCode::RegisterBroker), std::chrono::seconds(3), done);
    context.advance(std::chrono::seconds(3));
    context.remoting().setHandler([](const FakeRemoting::Call&) { return protocol::RemotingCommand::response(ResponseCode::Success, 0); });
    context.remoting().invoke("127.0.0.1:9876", protocol::RemotingCommand::request(RequestCode::RegisterBroker), std::chrono::seconds(3), done);
    context.pump();
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_EQ(outcomes[0], "DeadlineExceeded: no answer in time");
    EXPECT_EQ(outcomes[1], "answer");
    EXPECT_EQ(context.remoting().calls().size(), 2U);
}

TEST(FakeTimers, RunInTheOrderOfTheirTimes) {
    FakeContext context;
    std::string order;
    context.timers().after(std::chrono::milliseconds(20), [&] { order += 'c'; });
    context.timers().every(std::chrono::milliseconds(5), std::chrono::milliseconds(10), [&] { order += 'a'; });
    const auto cancelled = context.timers().after(std::chrono::milliseconds(1), [&] { order += 'x'; });
    context.timers().cancel(cancelled);
    context.timers().post([&] { order += 'p'; });
    context.advance(std::chrono::milliseconds(20));
    EXPECT_EQ(order, "paac");
    EXPECT_EQ(context.timers().count(), 1U);
}

TEST(FakeConfig, ParsesUnitsAliasesAndLimitsAsTheKernelDoes) {
    static constexpr ConfigKey keys[] = {
        {"size", ConfigType::Bytes, "1M", "A size.", 0, 1, 1 << 30, "bytes sizeBytes"},
        {"wait", ConfigType::Millis, "3m", "A time."},
        {"ratio", ConfigType::Double, "0.5", "A share."},
        {"mode", ConfigType::Text, "ASYNC", "A word.", 0, 0, 0, "", "ASYNC SYNC"},
        {"on", ConfigType::Bool, "false", "A switch."},
    };
    const auto defaults = FakeConfig::parse(keys, {});
    ASSERT_TRUE(defaults);
    EXPECT_EQ(defaults->integer("size"), 1 << 20);
    EXPECT_EQ(defaults->millis("wait"), std::chrono::minutes(3));
    EXPECT_FALSE(defaults->isSet("size"));

    const auto set = FakeConfig::parse(keys, {{"sizeBytes", "64K"}, {"wait", "20"}, {"on", "true"}, {"ratio", "0.25"}});
    ASSERT_TRUE(set);
    EXPECT_EQ(set->integer("size"), 65'536);
    EXPECT_EQ(set->integer("wait"), 20);
    EXPECT_TRUE(set->flag("on"));
    EXPECT_EQ(set->number("ratio"), 0.25);
    EXPECT_TRUE(set->isSet("size"));

    EXPECT_EQ(FakeConfig::parse(keys, {{"sise", "1"}}).error().code(), StatusCode::NotFound);
    EXPECT_EQ(FakeConfig::parse(keys, {{"size", "2G"}}).error().code(), StatusCode::OutOfRange);
    EXPECT_EQ(FakeConfig::parse(keys, {{"size", "1 M"}}).error().code(), StatusCode::InvalidArgument);
    EXPECT_EQ(FakeConfig::parse(keys, {{"size", "1"}, {"bytes", "2"}}).error().code(), StatusCode::AlreadyExists);
    EXPECT_EQ(FakeConfig::parse(keys, {{"mode", "async"}}).error().code(), StatusCode::InvalidArgument);
    EXPECT_EQ(FakeConfig::parse(keys, {{"on", "yes"}}).error().code(), StatusCode::InvalidArgument);
}

TEST(TempDir, IsGoneAfterwards) {
    std::string path;
    {
        const TempDir dir;
        path = dir.path();
        std::filesystem::create_directories(dir.file("a/b"));
        EXPECT_TRUE(std::filesystem::exists(path));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace patchbay::testkit
