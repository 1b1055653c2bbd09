// A server on the loopback with processors made of functions, and plain blocking clients.
#pragma once

#include "dispatch/Registrations.h"
#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/ManualClock.h"
#include "server/Server.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <cstring>
#include <functional>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace patchbay::kernel {

using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;

/// A blocking socket; every wait ends after ten seconds.
class TestClient {
public:
    explicit TestClient(std::uint16_t port, int receiveBuffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const timeval limit{10, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (receiveBuffer > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, sizeof receiveBuffer);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    }
    /// The other direction: takes a connection from a listening socket.
    static TestClient acceptedFrom(int listener) { return TestClient(Accepted{::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)}); }
    /// Over a connected socket, which it closes.
    static TestClient over(int fd) { return TestClient(Accepted{fd}); }
    ~TestClient() { ::close(fd_); }
    TestClient(const TestClient&) = delete;
    TestClient& operator=(const TestClient&) = delete;

    void send(std::string_view bytes) const {
        while (!bytes.empty()) {
            const auto put = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (put <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(put));
        }
    }
    void send(const RemotingCommand& command) const { send(command.encode(protocol::SerializeType::Json).value()); }
    /// How much goes out without waiting.
    [[nodiscard]] std::size_t sendSome(std::string_view bytes) const {
        const auto put = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        return put > 0 ? static_cast<std::size_t>(put) : 0;
    }
    /// The next frame; nothing when the server closed.
    [[nodiscard]] std::optional<RemotingCommand> receive() {
        while (true) {
            if (in_.size() >= 4) {
                std::uint32_t length = 0;
                std::memcpy(&length, in_.data(), 4);
                const std::size_t total = 4 + ntohl(length);
                if (in_.size() >= total) {
                    auto command = RemotingCommand::decode(std::string_view(in_).substr(0, total));
                    in_.erase(0, total);
                    return command.value();
                }
            }
            char buffer[65536];
            const auto got = ::recv(fd_, buffer, sizeof buffer, 0);
            if (got <= 0) {
                timedOut = got < 0 && (errno == EAGAIN);
                return std::nullopt;
            }
            in_.append(buffer, static_cast<std::size_t>(got));
        }
    }
    [[nodiscard]] RemotingCommand call(const RemotingCommand& command) {
        send(command);
        auto answer = receive();
        EXPECT_TRUE(answer);
        return answer.value_or(RemotingCommand());
    }
    /// True when the server ends the connection without sending anything more.
    [[nodiscard]] bool closedByServer() { return !receive() && !timedOut; }

    bool timedOut = false;

private:
    struct Accepted { int fd; };
    explicit TestClient(Accepted accepted) : fd_(accepted.fd) {
        const timeval limit{10, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    const int fd_;
    std::string in_;
};

class FunctionProcessor final : public plugin::Processor {
public:
    explicit FunctionProcessor(std::function<void(plugin::Request)> process) : process_(std::move(process)) {}
    void process(plugin::Request request) override { process_(std::move(request)); }

private:
    std::function<void(plugin::Request)> process_;
};

class ServerFixture : public ::testing::Test {
protected:
    ~ServerFixture() override {
        server.reset();
        while (timers.runOne()) {}
    }
    void start() {
        server = std::make_unique<Server>(limits, ServerContext{clock, log, metrics, [this](plugin::Task task) { timers.post(std::move(task)); }});
        for (const char* name : {"broker", "namesrv"}) {
            auto port = server->bind({name, "127.0.0.1", 0});
            ASSERT_TRUE(port);
            ports.push_back(*port);
        }
        registrations = std::make_unique<Registrations>(Ref<Generation>::adopt(new Generation("test", 1)), server->executors(),
                                                        server->listenerNames(), std::vector<const Registrations*>{});
        server->start();
        ASSERT_TRUE(server->listen());
    }
    void serve(std::int32_t code, std::function<void(plugin::Request)> process,
               std::vector<std::string_view> listeners = {"broker", "namesrv"}, const plugin::ExecutorSpec& executor = {}) {
        processors.push_back(std::make_unique<FunctionProcessor>(std::move(process)));
        const RequestCode codes[] = {RequestCode{code}};
        for (const auto name : listeners) {
            ASSERT_TRUE(registrations->bind(codes, *processors.back(), {.listener = name, .loopSafe = executor.name.empty(), .executor = executor}));
        }
        const Registrations* all[] = {registrations.get()};
        server->publish(RouteTable::build(2, all));
    }
    static RemotingCommand request(std::int32_t code, std::int32_t opaque, std::string body = {}) {
        RemotingCommand command;
        command.code = code;
        command.opaque = opaque;
        command.body = std::move(body);
        return command;
    }

    testkit::ManualClock clock;
    testkit::FakeLogger log;
    testkit::FakeMetrics metrics;
    testkit::FakeTimers timers{clock};
    ServerLimits limits;
    std::vector<std::uint16_t> ports;
    std::vector<std::unique_ptr<FunctionProcessor>> processors;
    std::unique_ptr<Registrations> registrations;
    std::unique_ptr<Server> server;
};

}  // namespace patchbay::kernel
