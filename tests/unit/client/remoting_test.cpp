// Proved: the connection layer ends every question once, at the right time, and finds its way to servers that come, go and fail.
// How: an administrator's client (its thinnest user) against scripted servers on 127.0.0.1.
// Left to others: sockets and frames (unit_net), real brokers (integration).
#include "ScriptedServer.h"

#include "patchbay/client/AdminClient.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>

namespace patchbay::test {
namespace {

using client::AdminClient;
using client::ClientOptions;
using protocol::RemotingCommand;
using protocol::ResponseCode;
using namespace std::chrono_literals;

AdminClient clientOf(const std::string& nameServers, client::LogSink log = [](auto, auto) {}) {
    ClientOptions options;
    options.nameServers = nameServers;
    options.log = std::move(log);
    auto made = AdminClient::create(options);
    EXPECT_TRUE(made);
    return std::move(*made);
}

RemotingCommand question(std::int32_t code = 28) {
    RemotingCommand command;
    command.code = code;
    return command;
}

TEST(Remoting, ManyQuestionsShareOneConnection) {
    ScriptedServer server([](const auto& asked) { return answerTo(asked); });
    auto tool = clientOf(server.address());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(tool.invoke(server.address(), question()));
    EXPECT_EQ(server.connections(), 1);
    EXPECT_EQ(server.requests().front().language, protocol::Language::Cpp);
}

TEST(Remoting, AnAnswerThatDoesNotComeEndsAtItsDeadline) {
    ScriptedServer server([](const auto&) { return std::optional<RemotingCommand>(); });
    auto tool = clientOf(server.address());
    const auto begun = std::chrono::steady_clock::now();
    const auto answer = tool.invoke(server.address(), question(), 150ms);
    const auto took = std::chrono::steady_clock::now() - begun;
    EXPECT_EQ(answer.error().code(), StatusCode::DeadlineExceeded) << answer.error().toString();
    EXPECT_GE(took, 145ms);
    EXPECT_LT(took, 2s);
}

TEST(Remoting, AConnectionThatBreaksFailsItsQuestionsAndIsMadeAnew) {
    std::optional<ScriptedServer> server;
    server.emplace([&](const RemotingCommand& asked) -> std::optional<RemotingCommand> {
        if (asked.code == 1) return std::nullopt;
        return answerTo(asked);
    });
    auto tool = clientOf(server->address());
    ASSERT_TRUE(tool.invoke(server->address(), question()));
    auto waiting = std::async(std::launch::async, [&] { return tool.invoke(server->address(), question(1), 10s); });
    while (server->requests().size() < 2) std::this_thread::yield();
    server->dropAll();
    const auto broken = waiting.get();
    EXPECT_EQ(broken.error().code(), StatusCode::Unavailable) << broken.error().toString();
    EXPECT_TRUE(tool.invoke(server->address(), question()));
    EXPECT_EQ(server->connections(), 2);
}

TEST(Remoting, AServerThatIsNotThereIsReportedAndFoundWhenItIs) {
    std::string address;
    std::uint16_t port = 0;
    {
        ScriptedServer server([](const auto& asked) { return answerTo(asked); });
        address = server.address();
        port = server.port();
    }
    auto tool = clientOf(address);
    EXPECT_EQ(tool.invoke(address, question()).error().code(), StatusCode::Unavailable);
    // Within the back-off it is not even tried.
    const auto again = tool.invoke(address, question());
    EXPECT_NE(again.error().message().find("tried again"), std::string::npos) << again.error().toString();
    ScriptedServer server([](const auto& asked) { return answerTo(asked); }, port);
    const auto deadline = std::chrono::steady_clock::now() + 5s;
    while (!tool.invoke(address, question()) && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_TRUE(tool.invoke(address, question()));
}

TEST(Remoting, AServerThatGoesAwayIsAskedOnceMoreOverANewConnection) {
    std::atomic<int> count{0};
    ScriptedServer server([&](const auto& asked) { return answerTo(asked, ++count == 1 ? ResponseCode::GoAway : ResponseCode::Success); });
    auto tool = clientOf(server.address());
    const auto answer = tool.invoke(server.address(), question());
    ASSERT_TRUE(answer) << answer.error().toString();
    EXPECT_EQ(answer->code, 0);
    EXPECT_EQ(server.connections(), 2);
}

TEST(Remoting, ASecondGoAwayIsTheAnswer) {
    ScriptedServer server([](const auto& asked) { return answerTo(asked, ResponseCode::GoAway); });
    auto tool = clientOf(server.address());
    const auto answer = tool.invoke(server.address(), question());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->code, static_cast<std::int32_t>(ResponseCode::GoAway));
}

TEST(Remoting, ASilentNameServerCostsItsShareOfTheTimeOnly) {
    ScriptedServer silent([](const auto&) { return std::optional<RemotingCommand>(); });
    ScriptedServer good([](const RemotingCommand& asked) {
        auto answer = answerTo(asked);
        answer.body = R"({"topicList":["T"]})";
        return answer;
    });
    auto tool = clientOf(silent.address() + ";" + good.address());
    for (int i = 0; i < 3; ++i) {
        const auto topics = tool.topics();
        ASSERT_TRUE(topics) << topics.error().toString();
        EXPECT_EQ(topics->size(), 1U);
    }
    // Whichever was first, it stayed with the one that answers.
    EXPECT_LE(silent.requests().size(), 1U);
}

TEST(Remoting, AnUnknownRequestOfAServerIsAnsweredSo) {
    ScriptedServer server([](const RemotingCommand& asked) -> std::optional<RemotingCommand> {
        if (asked.isResponse()) return std::nullopt;
        return answerTo(asked);
    });
    auto tool = clientOf(server.address());
    ASSERT_TRUE(tool.invoke(server.address(), question()));
    auto push = question(4711);
    push.opaque = 99;
    server.push(push);
    const auto deadline = std::chrono::steady_clock::now() + 5s;
    while (server.requests().size() < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    ASSERT_EQ(server.requests().size(), 2U);
    EXPECT_TRUE(server.requests().back().isResponse());
    EXPECT_EQ(server.requests().back().opaque, 99);
    EXPECT_EQ(server.requests().back().code, 3);
}

TEST(Remoting, AClientThatEndsFailsWhatIsUnderWay) {
    ScriptedServer server([](const auto&) { return std::optional<RemotingCommand>(); });
    std::future<Result<RemotingCommand>> waiting;
    {
        auto tool = clientOf(server.address());
        auto shared = std::make_shared<AdminClient>(std::move(tool));
        waiting = std::async(std::launch::async, [shared, address = server.address()] { return shared->invoke(address, question(), 200ms); });
    }
    EXPECT_FALSE(waiting.get());
}

TEST(Remoting, AnAnswerToNobodyIsIgnored) {
    ScriptedServer server([](const RemotingCommand& asked) -> std::optional<RemotingCommand> {
        auto answer = answerTo(asked);
        answer.opaque = asked.opaque + 1000;  // nobody's answer
        return answer;
    });
    auto tool = clientOf(server.address());
    EXPECT_EQ(tool.invoke(server.address(), question(), 100ms).error().code(), StatusCode::DeadlineExceeded);
}

}  // namespace
}  // namespace patchbay::test
