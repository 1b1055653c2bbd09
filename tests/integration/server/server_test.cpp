// Proved: connections from accept to close: pipelining, back-pressure, limits, idle reaping, pushes, calls out, graceful stop.
// How: a server on the loopback with processors made of functions; its clock is the test's.
// Left to others: malformed input (malformed_test.cpp), routing (unit/kernel/dispatch).
#include "integration/server/ServerFixture.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <future>
#include <mutex>
#include <sys/resource.h>
#include <thread>

namespace patchbay::kernel {
namespace {

using namespace std::chrono_literals;
using plugin::Request;
using plugin::Response;

class ServerTest : public ServerFixture {
protected:
    void serveEcho() {
        serve(30, [](Request r) {
            Response response;
            response.setBody(std::string(r.body()));
            std::move(r).respond(std::move(response));
        });
    }
    /// Until the condition holds; at most ten seconds.
    static bool eventually(const std::function<bool()>& condition) {
        const auto end = std::chrono::steady_clock::now() + 10s;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::yield();
        }
        return true;
    }
};

TEST_F(ServerTest, AnswersAreMatchedByOpaqueAndMayComeInAnyOrder) {
    start();
    std::vector<Request> held;
    serve(30, [&](Request r) {
        held.push_back(std::move(r));
        if (held.size() < 3) return;
        for (auto one = held.rbegin(); one != held.rend(); ++one) std::move(*one).respond(ResponseCode::Success);
        held.clear();
    });
    TestClient client(ports[0]);
    for (int opaque = 1; opaque <= 3; ++opaque) client.send(request(30, opaque));
    for (int opaque = 3; opaque >= 1; --opaque) EXPECT_EQ(client.receive()->opaque, opaque);
    server.reset();  // ends the loop that uses `held`
}

TEST_F(ServerTest, FramesOfAllSizesComeBackWhole) {
    start();
    serveEcho();
    TestClient client(ports[1]);
    for (const std::size_t size : {0U, 1U, 511U, 512U, 65'000U, 70'000U, 300'000U, 4U << 20, 15U << 20}) {
        std::string body(size, 'x');
        for (std::size_t i = 0; i < size; i += 997) body[i] = static_cast<char>('a' + i % 26);
        EXPECT_EQ(client.call(request(30, static_cast<std::int32_t>(size), body)).body, body) << size;
    }
}

TEST_F(ServerTest, AReaderThatDoesNotReadIsNotReadEither) {
    limits.ioThreads = 1;  // so that whoever is answered later proves that the turns before are over
    limits.outboundHigh = 256U << 10;
    limits.outboundLow = 64U << 10;
    limits.socketSendBuffer = 64 << 10;
    start();
    std::atomic<int> served{0};
    serve(30, [&](Request r) {
        served.fetch_add(1);
        Response response;
        response.setBody(std::string(100'000, 'b'));
        std::move(r).respond(std::move(response));
    });
    TestClient lazy(ports[0], 64 << 10);
    const auto frame = request(30, 1).encode(protocol::SerializeType::Json).value();
    constexpr int kAsked = 2'000;  // 200 MB of answers, had the server gone on
    std::thread sender([&] { for (int i = 0; i < kAsked; ++i) lazy.send(frame); });
    sender.join();
    TestClient other(ports[0]);
    other.send(request(30, 7));
    EXPECT_EQ(other.receive()->opaque, 7);
    EXPECT_LT(served.load(), 50);  // the mark, and what the system's buffers took
    for (int i = 0; i < kAsked; ++i) ASSERT_TRUE(lazy.receive()) << i;
    EXPECT_EQ(served.load(), kAsked + 1);
}

TEST_F(ServerTest, ManyLazyReadersTogetherStayUnderTheTotalAndTheirQuestionsKeepTheirOrder) {
    limits.ioThreads = 1;
    limits.outboundTotalMax = 1U << 20;
    limits.socketSendBuffer = 64 << 10;
    start();
    std::atomic<int> served{0};
    serve(30, [&](Request r) {
        served.fetch_add(1);
        Response response;
        response.setBody(std::string(64'000, 'b'));
        std::move(r).respond(std::move(response));
    });
    constexpr int kAsked = 200;
    std::string questions;
    for (int i = 0; i < kAsked; ++i) questions += request(30, i).encode(protocol::SerializeType::Json).value();
    std::vector<std::unique_ptr<TestClient>> lazy;
    for (int i = 0; i < 8; ++i) lazy.push_back(std::make_unique<TestClient>(ports[0], 64 << 10));
    for (const auto& one : lazy) one->send(questions);
    TestClient other(ports[0]);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(other.call(request(31, i)).code, 3);
    EXPECT_LT(served.load(), 150);  // 1 MB, and what the system's buffers took; asked for were 100 MB
    for (const auto& one : lazy) {
        for (int i = 0; i < kAsked; ++i) {
            const auto answer = one->receive();
            ASSERT_TRUE(answer) << i;
            ASSERT_EQ(answer->opaque, i);
        }
    }
}

class LazyReaders : public ServerTest {
protected:
    static constexpr int kAsked = 200;
    static constexpr std::size_t kAnswer = 64'000;
    /// Eight ask for 100 MB that an executor makes, and take none of it.
    void ask() {
        limits.ioThreads = 1;
        limits.outboundHigh = 256U << 10;
        limits.outboundLow = 64U << 10;
        limits.outboundTotalMax = 1U << 20;
        limits.socketSendBuffer = 64 << 10;
        start();
        serve(30, [this](Request r) {
            served.fetch_add(1);
            Response response;
            response.setBody(std::string(kAnswer, 'b'));
            std::move(r).respond(std::move(response));
        }, {"broker"}, {.name = "slow", .threads = 1, .queueCapacity = 10'000});
        std::string questions;
        for (int i = 0; i < kAsked; ++i) questions += request(30, i).encode(protocol::SerializeType::Json).value();
        for (int i = 0; i < 8; ++i) lazy.push_back(std::make_unique<TestClient>(ports[0], 64 << 10));
        for (const auto& one : lazy) one->send(questions);
        // Behind all of them on the loop, and what it asks last also on the executor.
        TestClient other(ports[0]);
        for (int i = 0; i < 20; ++i) EXPECT_EQ(other.call(request(31, i)).code, 3);
        for (int i = 0; i < 20; ++i) EXPECT_EQ(other.call(request(30, i)).opaque, i);
    }
    std::atomic<int> served{0};
    std::vector<std::unique_ptr<TestClient>> lazy;
};

TEST_F(LazyReaders, AnExecutorMakesNoMoreAnswersThanTheTotalAllowsAndGoesOnWhenTheyAreTaken) {
    ask();
    EXPECT_LT(served.load(), 150);  // 1 MB, and what the system's buffers took
    for (const auto& one : lazy) {
        std::vector<bool> came(kAsked, false);
        for (int i = 0; i < kAsked; ++i) {
            const auto answer = one->receive();
            ASSERT_TRUE(answer) << i;
            ASSERT_EQ(answer->body.size(), kAnswer) << answer->remark.value_or("");
            came[static_cast<std::size_t>(answer->opaque)] = true;
        }
        EXPECT_EQ(std::count(came.begin(), came.end(), true), kAsked);
    }
    EXPECT_TRUE(eventually([&] { return server->flush(0ms); }));
}

TEST_F(LazyReaders, WhatWaitsForThemEndsWithTheirConnections) {
    ask();
    EXPECT_GT(server->dispatcher().active(), 1'000U);
    lazy.clear();
    EXPECT_TRUE(eventually([&] { return server->connectionCount() == 0 && server->dispatcher().active() == 0; }));
    EXPECT_LT(served.load(), 150);
    EXPECT_TRUE(server->flush(0ms));
}

TEST_F(LazyReaders, TheServerStopsWhileRequestsWaitForThem) {
    ask();
    EXPECT_FALSE(server->flush(0ms));
    server->closeConnections();
    EXPECT_EQ(server->dispatcher().active(), 0U);
}

TEST_F(ServerTest, TooManyRequestsInFlightStopTheReadingUntilHalfAreAnswered) {
    limits.inFlightMax = 100;
    start();
    std::mutex mutex;
    std::vector<Request> held;
    serve(30, [&](Request r) {
        const std::lock_guard lock(mutex);
        held.push_back(std::move(r));
    });
    const auto count = [&] {
        const std::lock_guard lock(mutex);
        return held.size();
    };
    TestClient client(ports[0]);
    constexpr std::size_t kAsked = 5'000;
    std::thread sender([&] { for (std::size_t i = 0; i < kAsked; ++i) client.send(request(30, static_cast<std::int32_t>(i))); });
    sender.join();
    ASSERT_TRUE(eventually([&] { return count() >= 100; }));
    std::size_t answered = 0;
    while (answered < kAsked) {
        EXPECT_LE(count(), 101U);
        std::vector<Request> some;
        {
            const std::lock_guard lock(mutex);
            some.swap(held);
        }
        for (auto& one : some) std::move(one).respond(ResponseCode::Success);
        for (std::size_t i = 0; i < some.size(); ++i, ++answered) ASSERT_TRUE(client.receive());
    }
}

TEST_F(ServerTest, ConnectionsBeyondTheLimitAreClosedAndPlacesAreFreedAgain) {
    limits.connectionsMax = 2;
    start();
    serveEcho();
    auto first = std::make_unique<TestClient>(ports[0]);
    TestClient second(ports[1]);
    EXPECT_EQ(first->call(request(30, 1)).opaque, 1);
    EXPECT_EQ(second.call(request(30, 1)).opaque, 1);
    TestClient third(ports[0]);
    EXPECT_TRUE(third.closedByServer());
    EXPECT_TRUE(log.contains("too many connections"));
    first.reset();
    ASSERT_TRUE(eventually([&] { return server->connectionCount() == 1; }));
    TestClient fourth(ports[0]);
    EXPECT_EQ(fourth.call(request(30, 4)).opaque, 4);
}

TEST_F(ServerTest, SilentConnectionsAreClosedAfterTwoMinutesAndBusyOnesAreNot) {
    start();
    serveEcho();
    TestClient silent(ports[0]);
    TestClient busy(ports[0]);
    EXPECT_EQ(silent.call(request(30, 1)).opaque, 1);
    for (int i = 0; i < 13; ++i) {
        EXPECT_EQ(busy.call(request(30, i)).opaque, i);
        EXPECT_EQ(server->connectionCount(), i < 12 ? 2U : server->connectionCount());
        clock.advance(10s + 8ms);
    }
    for (int i = 0; i < 3; ++i) EXPECT_EQ(busy.call(request(30, i)).opaque, i);
    EXPECT_TRUE(silent.closedByServer());
    EXPECT_EQ(server->connectionCount(), 1U);
}

struct CountingListener final : plugin::PeerListener {
    void peerClosed(plugin::Peer& peer) noexcept override {
        EXPECT_FALSE(peer.isOpen());
        count.fetch_add(1);
    }
    std::atomic<int> count{0};
};

TEST_F(ServerTest, ListenersHearOfEveryEndOnce) {
    start();
    serveEcho();
    CountingListener listener;
    server->addPeerListener(listener);
    {
        TestClient a(ports[0]);
        TestClient b(ports[0]);
        EXPECT_EQ(a.call(request(30, 1)).opaque, 1);
        EXPECT_EQ(b.call(request(30, 1)).opaque, 1);
    }
    EXPECT_TRUE(eventually([&] { return listener.count.load() == 2; }));
    server->removePeerListener(listener);
}

TEST_F(ServerTest, TheProxyHeaderNamesThePeer) {
    start();
    serve(30, [](Request r) { std::move(r).respond(ResponseCode::Success, r.peer().remote().toString()); });
    TestClient client(ports[0]);
    client.send("PROXY TCP4 192.0.2.7 127.0.0.1 1234 10911\r\n");
    EXPECT_EQ(client.call(request(30, 1)).remark, "192.0.2.7:1234");
}

TEST_F(ServerTest, AProxyHeaderMakesAPeerAStrangerAndNeverALocal) {
    start();
    serve(30, [](Request r) { std::move(r).respond(ResponseCode::Success, r.peer().isLocal() ? "local" : "stranger"); });
    const auto seen = [&](const std::string& header) {
        TestClient client(ports[0]);
        client.send(header);
        return client.call(request(30, 1)).remark;
    };
    EXPECT_EQ(seen(""), "local");
    EXPECT_EQ(seen("PROXY TCP4 127.0.0.1 127.0.0.1 1 1\r\n"), "local");
    EXPECT_EQ(seen("PROXY TCP4 192.0.2.7 127.0.0.1 1234 10911\r\n"), "stranger");

    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()), 0);
    ASSERT_EQ(::fcntl(pair[0], F_SETFL, 0), 0);
    server->accept(pair[1], 0, *SocketAddress::parse("192.0.2.7:1234"), *SocketAddress::parse("198.51.100.1:10911"));
    auto afar = TestClient::over(pair[0]);
    afar.send("PROXY TCP4 127.0.0.1 127.0.0.1 1 1\r\n");
    EXPECT_EQ(afar.call(request(30, 1)).remark, "stranger");
}

TEST_F(ServerTest, AServerCanCallItsClientAndLosesPatience) {
    start();
    std::promise<Ref<plugin::Peer>> known;
    serve(34, [&](Request r) {
        known.set_value(r.sharePeer());
        std::move(r).respond(ResponseCode::Success);
    });
    TestClient client(ports[0]);
    EXPECT_EQ(client.call(request(34, 1)).code, 0);
    const auto peer = known.get_future().get();
    EXPECT_TRUE(peer->push(request(40, 0)));
    EXPECT_TRUE(client.receive()->isOneway());

    std::vector<std::string> ends;
    const auto note = [&](Result<RemotingCommand> result) { ends.push_back(result ? result->body : result.error().toString()); };
    peer->invoke(request(307, 0), 1s, note);
    auto asked = client.receive();
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->code, 307);
    auto answer = RemotingCommand::response(ResponseCode::Success, asked->opaque);
    answer.body = "state";
    client.send(answer);
    ASSERT_TRUE(eventually([&] { return timers.runOne(); }));
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(ends[0], "state");

    peer->invoke(request(307, 0), 1s, note);
    ASSERT_TRUE(client.receive());
    clock.advance(2s);
    client.send(request(34'000, 9));  // wakes the loop
    ASSERT_TRUE(eventually([&] { return timers.runOne(); }));
    EXPECT_EQ(ends.at(1).substr(0, 16), "DeadlineExceeded");
}

TEST_F(ServerTest, AClientThatDoesNotReadIsNotAskedMoreAndMore) {
    limits.outboundHigh = 1U << 20;
    start();
    std::promise<Ref<plugin::Peer>> known;
    serve(34, [&](Request r) {
        known.set_value(r.sharePeer());
        std::move(r).respond(ResponseCode::Success);
    });
    TestClient client(ports[0], 64 << 10);
    EXPECT_EQ(client.call(request(34, 1)).code, 0);
    const auto peer = known.get_future().get();
    ASSERT_TRUE(eventually([&] { return !peer->push(request(40, 0, std::string(64 << 10, 'x'))); }));
    std::optional<StatusCode> end;
    peer->invoke(request(307, 0), 60s, [&](const Result<RemotingCommand>& result) { end = result ? StatusCode::Ok : result.error().code(); });
    ASSERT_TRUE(eventually([&] { timers.runOne(); return end.has_value(); }));
    EXPECT_EQ(end, StatusCode::Busy);
}

TEST_F(ServerTest, AnOpenCallKeepsThePluginThatMadeItUntilItsCallbackIsGone) {
    start();
    const auto generation = Ref<Generation>::adopt(new Generation("caller", 1));
    bool ran = false;
    FunctionProcessor processor([&](Request r) {
        r.peer().invoke(request(307, 0), 5s, [&ran](Result<RemotingCommand>) { ran = true; });
        std::move(r).respond(ResponseCode::Success);
    });
    {
        Registrations mine(generation, server->executors(), server->listenerNames(), {});
        const RequestCode codes[] = {RequestCode{30}};
        ASSERT_TRUE(mine.bind(codes, processor, {.listener = "broker", .loopSafe = true, .executor = {}}));
        const Registrations* all[] = {&mine};
        server->publish(RouteTable::build(2, all));
        TestClient client(ports[0]);
        client.send(request(30, 1));
        std::optional<RemotingCommand> asked;
        for (int i = 0; i < 2; ++i) {
            auto frame = client.receive();
            ASSERT_TRUE(frame);
            if (!frame->isResponse()) asked = std::move(frame);
        }
        ASSERT_TRUE(asked);
        server->publish(RouteTable::build(2, {}));
        EXPECT_EQ(client.call(request(30, 2)).code, 3);  // in a later turn than the last call into the plugin
    }
    // The connection is closed by now, or soon: the call ends with it.
    EXPECT_FALSE(generation->idle());
    ASSERT_TRUE(eventually([&] { return timers.runOne(); }));
    EXPECT_TRUE(ran);
    EXPECT_TRUE(generation->idle());
}

TEST_F(ServerTest, ACalledServerIsToldThingsAndThatNobodyAnswersWhatItAsks) {
    start();
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&at), size), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size), 0);
    std::optional<Result<RemotingCommand>> end;
    const auto address = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    server->remoting().invoke(address, request(103, 0), 5s, [&](Result<RemotingCommand> result) { end = std::move(result); });
    auto called = TestClient::acceptedFrom(listener);
    ::close(listener);
    const auto asked = called.receive();
    ASSERT_TRUE(asked);
    EXPECT_FALSE(asked->isOneway());
    auto told = request(905, 0);
    told.flag = protocol::kFlagOneway;
    bool gone = false;
    server->remoting().invoke(address, std::move(told), 5s, [&](Result<RemotingCommand> result) { gone = result.has_value(); });
    const auto heard = called.receive();
    ASSERT_TRUE(heard);
    EXPECT_TRUE(heard->isOneway());
    ASSERT_TRUE(eventually([&] { timers.runOne(); return gone; }));
    EXPECT_FALSE(end) << "that was the other call";
    auto oneway = request(905, 76);
    oneway.flag = protocol::kFlagOneway;
    called.send(oneway);
    const auto answer = called.call(request(905, 77));
    EXPECT_EQ(answer.code, 3);
    EXPECT_EQ(answer.opaque, 77);
    EXPECT_EQ(answer.remark, " request type 905 not supported");
    called.send(RemotingCommand::response(ResponseCode::Success, asked->opaque));
    ASSERT_TRUE(eventually([&] { timers.runOne(); return end.has_value(); }));
    EXPECT_TRUE(*end);
}

TEST_F(ServerTest, CallsToOtherServersAreAnsweredOrFailWithAReason) {
    start();
    serveEcho();
    std::vector<Result<RemotingCommand>> ends;
    const auto note = [&](Result<RemotingCommand> result) { ends.push_back(std::move(result)); };
    const auto address = "127.0.0.1:" + std::to_string(ports[1]);
    for (int i = 0; i < 3; ++i) server->remoting().invoke(address, request(30, 0, std::to_string(i)), 3s, note);
    ASSERT_TRUE(eventually([&] { timers.runOne(); return ends.size() == 3; }));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ends[static_cast<std::size_t>(i)]->body, std::to_string(i));
    EXPECT_EQ(server->connectionCount(), 1U);
    server->remoting().invoke("127.0.0.1:1", request(30, 0), 3s, note);
    ASSERT_TRUE(eventually([&] { timers.runOne(); return ends.size() == 4; }));
    EXPECT_EQ(ends[3].error().code(), StatusCode::Unavailable);
    server->remoting().invoke("localhost:" + std::to_string(ports[1]), request(30, 0, "named"), 3s, note);
    ASSERT_TRUE(eventually([&] { timers.runOne(); return ends.size() == 5; }));
    EXPECT_EQ(ends[4]->body, "named");
}

TEST_F(ServerTest, StopAnswersWhatIsInWorkAndSendsItBeforeClosing) {
    start();
    std::mutex mutex;
    std::vector<Request> held;
    serve(30, [&](Request r) {
        const std::lock_guard lock(mutex);
        held.push_back(std::move(r));
    });
    TestClient client(ports[0]);
    client.send(request(30, 1));
    ASSERT_TRUE(eventually([&] {
        const std::lock_guard lock(mutex);
        return held.size() == 1;
    }));
    server->closeListeners();
    server->refuse();
    EXPECT_EQ(client.call(request(30, 2)).code, 1500);
    EXPECT_FALSE(server->flush(0ms));
    Response large;
    large.setBody(std::string(5U << 20, 'z'));
    std::move(held[0]).respond(std::move(large));
    auto flushed = std::async(std::launch::async, [&] { return server->flush(10s); });
    EXPECT_EQ(client.receive()->body.size(), 5U << 20);
    EXPECT_TRUE(flushed.get());
    server->closeConnections();
    EXPECT_TRUE(client.closedByServer());
    EXPECT_EQ(server->connectionCount(), 0U);
    server->stop();
}

/// Lets no descriptor from `from` on be opened while it lives.
class FewDescriptors {
public:
    explicit FewDescriptors(int from) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit few = before_;
        few.rlim_cur = static_cast<rlim_t>(from);
        ::setrlimit(RLIMIT_NOFILE, &few);
    }
    ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;
private:
    rlimit before_{};
};

TEST_F(ServerTest, AConnectionWaitsForADescriptorOrTheLogSaysThatItIsDropped) {
    start();
    serveEcho();
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(ports[0]);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    {
        const FewDescriptors none(3);
        ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    }
    auto waited = TestClient::over(fd);
    EXPECT_EQ(waited.call(request(30, 1, "at last")).body, "at last");

    // Poco's thread has one in use while it looks at the socket; the connection gets that one, and there is none for the copy of it.
    const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::vector<int> taken;
    {
        const FewDescriptors some(512);
        for (int more = ::dup(0); more >= 0; more = ::dup(0)) taken.push_back(more);
        ASSERT_EQ(::connect(other, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
        EXPECT_TRUE(eventually([&] { return log.contains("a connection is dropped: no descriptor can be had for it"); }));
    }
    for (const int one : taken) ::close(one);
    ::close(other);
}

TEST_F(ServerTest, AnAddressThatIsTakenIsAnErrorWithItsName) {
    start();
    const auto again = server->bind({"third", "127.0.0.1", ports[0]});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), StatusCode::Io);
    EXPECT_NE(again.error().message().find(std::to_string(ports[0])), std::string::npos);
}

}  // namespace
}  // namespace patchbay::kernel
