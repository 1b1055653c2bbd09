// Proved: what a connection to another server sends once it is there.
// How: a loop that the test turns, and a socket that listens on the loopback.
// Left to others: answers, names and failures (server_test.cpp).
#include "integration/server/ServerFixture.h"
#include "server/OutboundConnections.h"

namespace patchbay::kernel {
namespace {

using namespace std::chrono_literals;

class OutboundTest : public ::testing::Test {
protected:
    OutboundTest() : listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        EXPECT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&at), size), 0);
        EXPECT_EQ(::listen(listener, 1), 0);
        EXPECT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size), 0);
        address = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    }
    ~OutboundTest() override {
        loop.post([this] { outbound.closeAll(); });
        loop.turn(0);
        while (timers.runOne()) {}
        ::close(listener);
    }
    void call(std::int32_t code, std::chrono::milliseconds timeout, bool oneway = false) {
        RemotingCommand command;
        command.code = code;
        if (oneway) command.flag = protocol::kFlagOneway;
        outbound.invoke(address, std::move(command), timeout, [this](const Result<RemotingCommand>& result) {
            if (!result) failures.push_back(result.error().code());
        });
    }

    testkit::ManualClock clock;
    testkit::FakeLogger log;
    testkit::FakeMetrics metrics;
    testkit::FakeTimers timers{clock};
    net::EventLoop loop{0, clock, {}, net::makeEpollPoller()};
    ServerLimits limits;
    ServerContext context{clock, log, metrics, [this](plugin::Task task) { timers.post(std::move(task)); }};
    OutboundConnections outbound{loop, limits, context};
    const int listener;
    std::string address;
    std::vector<StatusCode> failures;
};

TEST_F(OutboundTest, ACallWhoseTimeIsOverIsNotSentAnyMore) {
    call(901, 100ms);
    call(902, 10s);
    call(903, 100ms, true);
    loop.turn(0);        // they wait for the connection, which is asked for in the next turn
    clock.advance(1s);
    loop.turn(0);
    while (timers.runOne()) {}
    ASSERT_EQ(failures, std::vector<StatusCode>{StatusCode::DeadlineExceeded});
    auto server = TestClient::acceptedFrom(listener);
    loop.turn(10'000);
    const auto first = server.receive();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->code, 902);
    const auto second = server.receive();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->code, 903) << "nobody waits for an answer to it";
}

}  // namespace
}  // namespace patchbay::kernel
