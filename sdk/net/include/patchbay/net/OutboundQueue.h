// OutboundQueue: what a connection has yet to send, ready for one gathered write.
#pragma once

#include "patchbay/base/Slice.h"
#include "patchbay/net/Transport.h"
#include "patchbay/protocol/util/ByteWriter.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace patchbay::net {

/// Empty output buffers of one loop, the last used first because it is warm. Loop thread only.
class OutputBuffers {
public:
    [[nodiscard]] protocol::ByteWriter take();
    void giveBack(protocol::ByteWriter buffer);

private:
    static constexpr std::size_t kIdleMax = 32;
    static constexpr std::size_t kCapacityMax = 256U << 10;  // larger ones are freed
    std::vector<protocol::ByteWriter> idle_;
};

/// Small bytes are collected in one buffer borrowed from the loop; large pieces stay where they are and are kept alive until
/// the socket has taken them. An empty queue owns no buffer. Loop thread only.
class OutboundQueue {
public:
    /// Pieces below this are copied: an entry of a gathered write and its keep-alive cost more than the copy.
    static constexpr std::size_t kCopyMax = 512;

    /// The buffer to append encoded bytes to; follow with appended().
    [[nodiscard]] protocol::ByteWriter& writer(OutputBuffers& buffers);
    /// Counts what was written to writer() since.
    void appended() noexcept;
    /// A piece that must stay valid until sent; `keep` is released then. `keep` may be empty when a later call keeps it.
    void addPiece(OutputBuffers& buffers, std::string_view bytes, KeepAlive keep);

    [[nodiscard]] bool empty() const noexcept { return queued_ == 0; }
    [[nodiscard]] std::size_t bytes() const noexcept { return queued_; }
    /// One gathered write; more only when there are more pieces than one call takes. Done, WouldBlock or Failed.
    IoResult flush(Transport& transport, OutputBuffers& buffers);
    /// Forgets everything.
    void clear(OutputBuffers& buffers) noexcept;

private:
    struct Piece {
        std::size_t at;           // offset in buffer_ before which it is sent
        std::string_view bytes;
        KeepAlive keep;
    };
    std::size_t gather(std::span<iovec> into) const noexcept;
    void consume(std::size_t bytes);
    void compact();

    protocol::ByteWriter buffer_;
    bool borrowed_ = false;
    std::size_t counted_ = 0;     // of buffer_, in queued_
    std::size_t bufferSent_ = 0;
    std::vector<Piece> pieces_;
    std::size_t firstPiece_ = 0;
    std::size_t pieceSent_ = 0;
    std::size_t queued_ = 0;
};

}  // namespace patchbay::net
