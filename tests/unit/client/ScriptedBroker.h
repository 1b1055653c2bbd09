// ScriptedBroker: name server and broker in one, with a topic "T" (in any namespace) of one queue and one message.
#pragma once

#include "ScriptedServer.h"

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace patchbay::test {

/// Answers what producers and consumers ask as a broker does that has one client; a test may answer first.
class ScriptedBroker {
public:
    using Command = protocol::RemotingCommand;
    /// Nothing: the broker answers as it would. Else that answer; an empty one inside means none at all. On the server's threads.
    using First = std::function<std::optional<std::optional<Command>>(const Command&)>;

    explicit ScriptedBroker(First first = {}) : first_(std::move(first)) {}

    [[nodiscard]] ScriptedServer& server() noexcept { return server_; }
    /// The first request with that code; waits for it up to 10 s.
    [[nodiscard]] Command first(protocol::RequestCode code) const;
    /// Waits up to 10 s until there have been that many.
    [[nodiscard]] bool asked(protocol::RequestCode code, std::size_t count) const;

private:
    std::optional<Command> script(const Command& asked);
    static std::optional<Command> pulled(const Command& asked);

    const First first_;
    std::mutex mutex_;
    std::string clientId_;  // of the last heartbeat
    ScriptedServer server_{[this](const auto& asked) { return script(asked); }};
};

}  // namespace patchbay::test
