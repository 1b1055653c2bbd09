// RawClient: one blocking connection that sends and receives frames as a test wants them.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/RemotingCommand.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::test {

/// To 127.0.0.1. All waits end after the time given; one thread.
class RawClient {
public:
    explicit RawClient(std::uint16_t port, std::chrono::milliseconds limit = std::chrono::seconds(10));
    ~RawClient();
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    [[nodiscard]] bool connected() const noexcept { return fd_ >= 0; }
    bool send(std::string_view bytes);
    /// The next frame; DeadlineExceeded, or Unavailable when the peer has closed.
    Result<protocol::RemotingCommand> receive();
    /// Sends a request with the next opaque and gives the answer to it.
    Result<protocol::RemotingCommand> call(protocol::RemotingCommand request);
    /// What comes until the peer closes.
    std::string everything();
    /// True when the peer closes within the limit without sending more.
    bool closedByPeer();

private:
    Status fill(std::size_t bytes);

    int fd_ = -1;
    std::int32_t opaque_ = 0;
    std::string buffer_;
};

}  // namespace patchbay::test
