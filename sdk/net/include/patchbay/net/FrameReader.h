// FrameReader: cuts a stream of bytes into frames where they were received.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/net/ReceiveBuffer.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace patchbay::net {

/// Takes what a FrameReader finds.
class FrameSink {
public:
    enum class Then : std::uint8_t {
        Next,
        Pause,  ///< no more for now; what was received stays with the reader
        Stop    ///< never any more, the connection is done for
    };
    /// The bytes after the length word, inside `chunk`, which may be kept.
    virtual Then frame(std::span<char> bytes, ReceiveChunk& chunk) noexcept = 0;

protected:
    ~FrameSink() = default;
};

/// Per connection; between turns it holds nothing but the bytes of an unfinished frame, and after a pause what was received
/// behind it, which is less than a chunk. Bytes are received into the loop's
/// chunk and frames handed out in place; a frame larger than kInChunkMax gets, once half as much of it has come, a buffer of its
/// own that grows with what has arrived, never by what the length word claims. Loop thread only. After a failure the stream cannot be read any further.
class FrameReader {
public:
    /// Frames up to this size are completed inside a chunk (or half a chunk, if that is less).
    static constexpr std::size_t kInChunkMax = 64U << 10;

    explicit FrameReader(std::size_t frameBytesMax) noexcept : frameBytesMax_(frameBytesMax) {}

    /// Where the next bytes have to be put; not while held(). Followed by add() before the cursor is used for anything else.
    std::span<char> place(ReceiveCursor& cursor);
    /// `bytes` bytes were put there.
    void add(ReceiveCursor& cursor, std::size_t bytes) noexcept;
    /// Hands out all whole frames, or up to a pause; afterwards held() tells. Corrupt when a length word is impossible; Cancelled when the sink said stop.
    Status handOut(ReceiveCursor& cursor, FrameSink& sink);
    /// Moves the unfinished rest out of the shared chunk. Call when done reading for this turn.
    void park();
    /// Bytes of memory that it keeps between turns.
    [[nodiscard]] std::size_t kept() const noexcept { return parkedSize_ + (large_ ? large_->capacity() : 0); }
    /// Frees them; nothing can be read any more.
    void drop() noexcept;
    /// True after a pause that left bytes behind: handOut() goes on with them.
    [[nodiscard]] bool held() const noexcept { return held_; }

    /// What was received and not handed out, before park(). Valid until the next call.
    [[nodiscard]] std::string_view pending() const noexcept { return {open_, openSize_}; }
    /// Drops the first bytes of pending().
    void skip(std::size_t bytes) noexcept;

private:
    [[nodiscard]] Status checkLength(std::size_t length) const;
    void bringBack(ReceiveCursor& cursor);
    void beginLarge(std::size_t frameBytes);
    void growLarge();

    const std::size_t frameBytesMax_;
    // The unfinished rest is at one of three places: in the chunk, just before the cursor's free part (open_), in a copy of
    // exactly its size (parked_), or in a growing buffer (large_).
    char* open_ = nullptr;
    std::size_t openSize_ = 0;
    std::unique_ptr<char[]> parked_;
    std::size_t parkedSize_ = 0;
    Ref<ReceiveChunk> large_;
    std::size_t largeSize_ = 0;
    std::size_t largeTotal_ = 0;
    bool held_ = false;
};

}  // namespace patchbay::net
