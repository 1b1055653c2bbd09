// FakePeer: a connection without a socket.
#pragma once

#include "patchbay/plugin/Peer.h"

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::testkit {

/// Records what a plugin sends to the client. Made by FakeContext::peer(), closed by FakeContext::disconnect() or by the
/// plugin. Thread-safe.
class FakePeer final : public plugin::Peer {
public:
    struct Invocation {
        protocol::RemotingCommand command;
        std::chrono::milliseconds timeout{};
    };

    FakePeer(std::uint64_t id, SocketAddress remote, std::string listener);

    [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
    [[nodiscard]] const SocketAddress& remote() const noexcept override { return remote_; }
    [[nodiscard]] const SocketAddress& local() const noexcept override { return local_; }
    [[nodiscard]] bool isLocal() const noexcept override { return remote_.isLoopback(); }
    [[nodiscard]] std::string_view listener() const noexcept override { return listener_; }
    [[nodiscard]] bool isOpen() const noexcept override;
    Status push(protocol::RemotingCommand command) noexcept override;
    void invoke(protocol::RemotingCommand command, std::chrono::milliseconds timeout, plugin::InvokeDone done) noexcept override;
    void close(std::string_view reason) noexcept override;

    /// One-way requests that were pushed, in order.
    [[nodiscard]] std::vector<protocol::RemotingCommand> pushed() const;
    /// Requests that wait, or waited, for the client's answer, in order.
    [[nodiscard]] std::vector<Invocation> invocations() const;
    /// The client answers (or fails) invocation number `index`; runs its InvokeDone on this thread.
    void answer(std::size_t index, Result<protocol::RemotingCommand> with);
    /// Makes push() answer this from now on, e.g. Busy; Ok ends it.
    void refusePushes(Status with);
    /// Why the plugin closed it; empty when it did not.
    [[nodiscard]] std::string closeReason() const;

private:
    friend class FakeContext;
    /// Ends the connection: waiting invocations are Cancelled. True the first time.
    bool end();

    const std::uint64_t id_;
    const SocketAddress remote_;
    const SocketAddress local_;
    const std::string listener_;

    mutable std::mutex mutex_;
    bool open_ = true;
    bool told_ = false;
    Status refusal_;
    std::string closeReason_;
    std::vector<protocol::RemotingCommand> pushed_;
    std::vector<Invocation> invocations_;
    std::vector<plugin::InvokeDone> waiting_;
};

}  // namespace patchbay::testkit
