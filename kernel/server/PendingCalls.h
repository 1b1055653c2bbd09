// PendingCalls: requests of ours that wait for the other side's answer.
#pragma once

#include "patchbay/net/EventLoop.h"
#include "patchbay/plugin/Peer.h"
#include "patchbay/plugin/Runtime.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <unordered_map>

namespace patchbay::kernel {

/// Runs a function soon on the control executor (plugin::Timers::post). Used from loops; must not block.
using PostTask = std::function<void(plugin::Task)>;

/// One for a connection, on its loop's thread. Each call ends once: by its answer, at its time, or with the connection. What was
/// asked for at the end runs on the control executor.
class PendingCalls {
public:
    PendingCalls(net::EventLoop& loop, const PostTask& post) noexcept : loop_(loop), post_(post) {}
    void add(std::int32_t opaque, std::chrono::milliseconds timeout, plugin::InvokeDone done);
    /// Answers nobody waits for (any more) are ignored.
    void answered(const protocol::CommandView& answer);
    void fail(std::int32_t opaque, Status why);
    void failAll(const Status& why);
    [[nodiscard]] bool empty() const noexcept { return calls_.empty(); }
    [[nodiscard]] bool waitsFor(std::int32_t opaque) const noexcept { return calls_.contains(opaque); }

    /// Ends a call that never became one.
    static void refuse(const PostTask& post, plugin::InvokeDone done, Status why);

private:
    struct Call {
        plugin::InvokeDone done;
        net::TimerWheel::Id timer;
    };
    void finish(std::int32_t opaque, Result<protocol::RemotingCommand> result);

    net::EventLoop& loop_;
    const PostTask& post_;
    std::unordered_map<std::int32_t, Call> calls_;
};

}  // namespace patchbay::kernel
