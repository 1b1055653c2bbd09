// Transport: moving bytes over one connected descriptor; a seam for TLS and for simulated peers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <sys/uio.h>

namespace patchbay::net {

struct IoResult {
    enum class Kind : std::uint8_t { Done, WouldBlock, End, Failed };
    Kind kind = Kind::Done;
    std::size_t bytes = 0;  ///< > 0 when Done
    int error = 0;          ///< errno when Failed
};

/// Owns a non-blocking descriptor. Loop thread only. Closed by the destructor.
class Transport {
public:
    virtual ~Transport() = default;
    [[nodiscard]] virtual int fd() const noexcept = 0;
    virtual IoResult receive(std::span<char> into) noexcept = 0;
    /// May take only a part.
    virtual IoResult send(std::span<const iovec> pieces) noexcept = 0;
    /// True when bytes are waiting that the poller cannot see (decrypted ones).
    [[nodiscard]] virtual bool buffered() const noexcept { return false; }
    /// After a send() that would block: true when the peer has to say something first (a handshake), so that waiting for room would be waiting for nothing.
    [[nodiscard]] virtual bool sendWaitsToReceive() const noexcept { return false; }
    /// False while both sides still agree on how to talk (a handshake), which takes send() or receive() to go on.
    [[nodiscard]] virtual bool established() const noexcept { return true; }
    /// After a failure: what happened, when there is more to say than errno has.
    [[nodiscard]] virtual std::string lastFailure() const { return {}; }
    /// Tells the peer that nothing more will be sent.
    virtual void endSending() noexcept = 0;
};

/// recv and sendmsg on the descriptor, which must be non-blocking; takes it over.
[[nodiscard]] std::unique_ptr<Transport> makePlainTransport(int fd);

}  // namespace patchbay::net
