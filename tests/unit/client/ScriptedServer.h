// ScriptedServer: a name server or broker on 127.0.0.1 that answers as a test wants it to.
#pragma once

#include "patchbay/protocol/RemotingCommand.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::test {

/// A thread accepts, one thread reads each connection and calls the script. Nothing: the question stays without an answer. Ended by the destructor.
class ScriptedServer {
public:
    using Command = protocol::RemotingCommand;
    using Script = std::function<std::optional<Command>(const Command&)>;

    explicit ScriptedServer(Script script, std::uint16_t port = 0);
    ~ScriptedServer();
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// All requests so far, in order.
    [[nodiscard]] std::vector<Command> requests() const;
    [[nodiscard]] std::vector<Command> requests(protocol::RequestCode code) const;
    [[nodiscard]] int connections() const noexcept { return accepted_; }
    /// Closes all connections, without a word.
    void dropAll();
    /// Sends a frame to all connections.
    void push(const Command& command);

private:
    void accept();
    void serve(int fd);

    const Script script_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<int> accepted_{0};
    mutable std::mutex mutex_;
    std::vector<Command> requests_;
    std::vector<int> open_;
    std::vector<std::thread> threads_;
    std::thread acceptor_;
};

/// An answer to that question.
[[nodiscard]] protocol::RemotingCommand answerTo(const protocol::RemotingCommand& question, protocol::ResponseCode code = protocol::ResponseCode::Success);
/// The body of a route: each broker with that many queues.
[[nodiscard]] std::string routeBody(const std::vector<std::pair<std::string, std::string>>& brokers, std::int32_t queues);

}  // namespace patchbay::test
