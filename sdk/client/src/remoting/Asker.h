// Asker: questions with whole commands, for all that is not a hot path.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/RemotingCommand.h"
#include "remoting/Channels.h"
#include "remoting/FrameBuilder.h"

#include <functional>
#include <string>

namespace patchbay::client {

/// Called on the loop, once, with whatever the server answered: a code that is not Success is an answer like another.
using AnswerDone = std::function<void(Result<protocol::RemotingCommand>)>;

/// Loop thread only. A server that asks to reconnect is asked once more over a new connection.
class Asker {
public:
    Asker(Runtime& runtime, FrameBuilder& frames, Channels& channels) noexcept
        : runtime_(runtime), frames_(frames), channels_(channels) {}

    void ask(const std::string& address, protocol::RemotingCommand command, MonotonicTime deadline, AnswerDone done);
    void tell(const std::string& address, const protocol::RemotingCommand& command);
    [[nodiscard]] MonotonicTime deadlineIn(std::chrono::milliseconds timeout) const { return runtime_.clock().now() + timeout; }
    [[nodiscard]] Runtime& runtime() noexcept { return runtime_; }

private:
    void attempt(const std::string& address, protocol::RemotingCommand command, MonotonicTime deadline, AnswerDone done, bool again);

    Runtime& runtime_;
    FrameBuilder& frames_;
    Channels& channels_;
};

/// What an answer with another code than Success means, with the server's own words and what to do. `what` names the request.
[[nodiscard]] Status statusOf(std::int32_t code, std::string_view remark, std::string_view what);
[[nodiscard]] Status statusOf(const protocol::RemotingCommand& answer, std::string_view what);

}  // namespace patchbay::client
