#include "patchbay/net/OutboundQueue.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace patchbay::net {

namespace {

// What the system takes in one call. Messages of a queue that lie apart in the log are a piece each, and every further call for
// them would wake the peer once more.
constexpr std::size_t kPiecesAtOnce = 1024;

}  // namespace

protocol::ByteWriter OutputBuffers::take() {
    if (idle_.empty()) return protocol::ByteWriter(16U << 10);
    auto buffer = std::move(idle_.back());
    idle_.pop_back();
    return buffer;
}

void OutputBuffers::giveBack(protocol::ByteWriter buffer) {
    if (idle_.size() >= kIdleMax || buffer.capacity() > kCapacityMax) return;
    buffer.clear();
    idle_.push_back(std::move(buffer));
}

protocol::ByteWriter& OutboundQueue::writer(OutputBuffers& buffers) {
    if (!borrowed_) {
        buffer_ = buffers.take();
        borrowed_ = true;
    }
    return buffer_;
}

void OutboundQueue::appended() noexcept {
    queued_ += buffer_.size() - counted_;
    counted_ = buffer_.size();
}

void OutboundQueue::addPiece(OutputBuffers& buffers, std::string_view bytes, KeepAlive keep) {
    auto& buffer = writer(buffers);
    if (!bytes.empty() && bytes.size() < kCopyMax) {
        buffer.append(bytes);
        bytes = {};
    }
    appended();
    if (bytes.empty() && !keep) return;
    queued_ += bytes.size();
    pieces_.push_back({buffer.size(), bytes, std::move(keep)});
}

IoResult OutboundQueue::flush(Transport& transport, OutputBuffers& buffers) {
    appended();
    IoResult result;
    while (queued_ > 0) {
        std::array<iovec, kPiecesAtOnce> pieces;  // written by gather() as far as it goes
        const auto count = gather(pieces);
        std::size_t offered = 0;
        for (std::size_t i = 0; i < count; ++i) offered += pieces[i].iov_len;
        result = transport.send({pieces.data(), count});
        if (result.kind != IoResult::Kind::Done) return result;
        consume(result.bytes);
        // A short write means that the socket is full: the poller will say when it is not.
        if (result.bytes < offered) return {IoResult::Kind::WouldBlock, result.bytes, 0};
    }
    clear(buffers);
    return result;
}

void OutboundQueue::clear(OutputBuffers& buffers) noexcept {
    pieces_.clear();
    if (pieces_.capacity() > 16) pieces_.shrink_to_fit();
    if (borrowed_) buffers.giveBack(std::move(buffer_));
    borrowed_ = false;
    counted_ = bufferSent_ = firstPiece_ = pieceSent_ = queued_ = 0;
}

std::size_t OutboundQueue::gather(std::span<iovec> into) const noexcept {
    std::size_t count = 0;
    const auto put = [&](const char* data, std::size_t size) {
        if (size > 0) into[count++] = {const_cast<char*>(data), size};
    };
    auto position = bufferSent_;
    const char* const base = buffer_.view().data();
    for (auto i = firstPiece_; i < pieces_.size() && count + 2 < into.size(); ++i) {
        const auto& piece = pieces_[i];
        put(base + position, piece.at - position);
        position = piece.at;
        const auto sent = i == firstPiece_ ? pieceSent_ : 0;
        put(piece.bytes.data() + sent, piece.bytes.size() - sent);
        if (i + 1 == pieces_.size()) put(base + position, counted_ - position);
    }
    if (firstPiece_ == pieces_.size()) put(base + position, counted_ - position);
    return count;
}

void OutboundQueue::consume(std::size_t bytes) {
    queued_ -= bytes;
    while (firstPiece_ < pieces_.size()) {
        auto& piece = pieces_[firstPiece_];
        const auto before = std::min(bytes, piece.at - bufferSent_);
        bufferSent_ += before;
        bytes -= before;
        const auto inside = std::min(bytes, piece.bytes.size() - pieceSent_);
        pieceSent_ += inside;
        bytes -= inside;
        if (bufferSent_ < piece.at || pieceSent_ < piece.bytes.size()) break;
        piece.keep.reset();
        pieceSent_ = 0;
        ++firstPiece_;
    }
    if (firstPiece_ == pieces_.size()) bufferSent_ += bytes;
    if (queued_ > 0) compact();
}

// A connection that always has something queued would otherwise keep all that it ever sent.
void OutboundQueue::compact() {
    if (firstPiece_ >= 64) {
        pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(firstPiece_));
        firstPiece_ = 0;
    }
    if (bufferSent_ < (64U << 10) || bufferSent_ < buffer_.size() / 2) return;
    std::memmove(buffer_.data(), buffer_.data() + bufferSent_, buffer_.size() - bufferSent_);
    buffer_.cut(buffer_.size() - bufferSent_);
    for (auto i = firstPiece_; i < pieces_.size(); ++i) pieces_[i].at -= bufferSent_;
    counted_ -= bufferSent_;
    bufferSent_ = 0;
}

}  // namespace patchbay::net
