// Peer: the other end of one accepted connection.
#pragma once

#include "patchbay/base/Slice.h"
#include "patchbay/base/SocketAddress.h"
#include "patchbay/base/Status.h"
#include "patchbay/protocol/RemotingCommand.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace patchbay::plugin {

/// Called once with the peer's answer or with why there is none (DeadlineExceeded, Cancelled when it closed).
/// Runs on an executor thread of the kernel.
using InvokeDone = std::function<void(Result<protocol::RemotingCommand>)>;

/// One connection, shared by the requests that came over it and by whoever wants to reach that client later.
/// All functions may be called by any thread and do not block. Holding a Ref keeps the object, not the connection.
class Peer : public RefCounted {
public:
    [[nodiscard]] virtual std::uint64_t id() const noexcept = 0;  ///< never reused within a process
    /// Where the client is: what a proxy in front of us says of it, if one does, else the other end of the socket.
    [[nodiscard]] virtual const SocketAddress& remote() const noexcept = 0;
    [[nodiscard]] virtual const SocketAddress& local() const noexcept = 0;
    /// The client runs on this machine: the other end of the socket does, and no proxy says that it speaks for somebody elsewhere.
    [[nodiscard]] virtual bool isLocal() const noexcept = 0;
    [[nodiscard]] virtual std::string_view listener() const noexcept = 0;  ///< "broker", "namesrv"
    [[nodiscard]] virtual bool isOpen() const noexcept = 0;
    /// Sends a one-way request to the client. Unavailable when it is gone, Busy when its send buffer is over the limit.
    virtual Status push(protocol::RemotingCommand command) noexcept = 0;
    /// Sends a request to the client and waits (without a thread) for its answer. Called from process(), it keeps the plugin's
    /// generation until `done` has run and is destroyed; called from elsewhere, `done` must own whatever it uses, a request of the
    /// plugin for example, or the plugin's stop() must wait for it.
    virtual void invoke(protocol::RemotingCommand command, std::chrono::milliseconds timeout, InvokeDone done) noexcept = 0;
    /// Closes after what is queued was sent; the reason goes to the log.
    virtual void close(std::string_view reason) noexcept = 0;
};

/// Told of every connection that ends, once, after its last request was handed out. Runs on a loop thread: be quick.
class PeerListener {
public:
    virtual ~PeerListener();
    virtual void peerClosed(Peer& peer) noexcept = 0;
};

}  // namespace patchbay::plugin
