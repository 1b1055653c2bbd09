// ServerConnection: one accepted connection; what plugins know as Peer.
#pragma once

#include "dispatch/ServerRequest.h"
#include "patchbay/net/Connection.h"
#include "server/PendingCalls.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::kernel {

class ConnectionRegistry;

/// Counted: kept by its registry while it is open, by its requests, and by whoever shares the Peer. An idle one costs less than
/// a kilobyte and no buffer. Peer's functions and requestLeft() are for any thread, the others for the loop's.
class ServerConnection final : public RequestOrigin, public net::Connection {
public:
    ServerConnection(ConnectionRegistry& registry, net::EventLoop& loop, ListenerIndex listener, SocketAddress remote,
                     SocketAddress local);

    [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
    [[nodiscard]] const SocketAddress& remote() const noexcept override { return remote_; }
    [[nodiscard]] const SocketAddress& local() const noexcept override { return local_; }
    [[nodiscard]] bool isLocal() const noexcept override { return fromHere_; }
    [[nodiscard]] std::string_view listener() const noexcept override;
    [[nodiscard]] bool isOpen() const noexcept override { return net::Connection::isOpen(); }
    Status push(protocol::RemotingCommand command) noexcept override;
    void invoke(protocol::RemotingCommand command, std::chrono::milliseconds timeout, plugin::InvokeDone done) noexcept override;
    void close(std::string_view reason) noexcept override;

    protocol::ByteWriter* output() noexcept override { return isOpen() ? &writer() : nullptr; }
    void addOutput(std::string_view piece, KeepAlive keep) override { addPiece(piece, std::move(keep)); }
    void outputDone() noexcept override { wrote(); }
    void requestLeft() noexcept override;
    [[nodiscard]] bool isCrowded() const noexcept override { return isOpen() && net::Connection::isCrowded(); }
    void promise(std::size_t bytes) noexcept override { net::Connection::promise(bytes); }
    void arrived(std::size_t bytes) noexcept override { net::Connection::arrived(bytes); }
    void holdBack(ServerRequest& request) noexcept override;
    void releasedLeft() noexcept override;
    void flush() noexcept override;

    std::size_t place = 0;  ///< in the registry's list of this loop

private:
    KeepAlive self() noexcept override;
    bool received(std::span<char> frame, net::ReceiveChunk& chunk) noexcept override;
    std::int64_t preface(std::string_view bytes) noexcept override;
    void undecodable(const Status& why) noexcept override;
    void closed(std::string_view reason) noexcept override;

    Result<std::string> encodeRequest(protocol::RemotingCommand& command, std::int32_t flag);
    [[nodiscard]] Status crowded() const;
    void send(std::string frame);
    void throttle() noexcept;
    void releaseSome() noexcept;

    ConnectionRegistry& registry_;
    const std::uint64_t id_;
    const SocketAddress local_;
    SocketAddress remote_;  // changed by a PROXY header, before anybody else knows the connection
    bool fromHere_;         // may only become false by that header: everybody can send one

    std::atomic<std::uint32_t> inFlight_{0};
    std::atomic<bool> throttled_{false};
    std::atomic<bool> binary_{false};        // the peer's last frame was
    std::atomic<std::int32_t> nextOpaque_{1};

    // Loop thread only.
    static constexpr std::uint32_t kReleasedMax = 8;
    std::unique_ptr<PendingCalls> calls_;
    RequestList heldBack_;
    std::uint32_t released_ = 0;             // of those, gone on and not left
};

}  // namespace patchbay::kernel
