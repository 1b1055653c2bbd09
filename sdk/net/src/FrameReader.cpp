#include "patchbay/net/FrameReader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace patchbay::net {

namespace {

constexpr std::size_t kLengthBytes = 4;
// Less free room than this is not worth a system call.
constexpr std::size_t kReadMin = 16U << 10;

std::size_t lengthAt(const char* at) noexcept {
    std::size_t value = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i) value = (value << 8) | static_cast<unsigned char>(at[i]);
    return value;
}

std::size_t inChunkMax(const ReceiveCursor& cursor) noexcept {
    return std::min(FrameReader::kInChunkMax, cursor.chunkBytes() / 2);
}

}  // namespace

std::span<char> FrameReader::place(ReceiveCursor& cursor) {
    if (large_) {
        if (largeSize_ == large_->capacity()) growLarge();
        return {large_->data() + largeSize_, std::min(large_->capacity(), largeTotal_) - largeSize_};
    }
    const char* from = parked_ ? parked_.get() : open_;
    const auto size = parked_ ? parkedSize_ : openSize_;
    auto need = std::min(kReadMin, inChunkMax(cursor));
    // Bounded, because bytes that are no frame at all may stand here until they have been recognised.
    if (size >= kLengthBytes) need = std::max(need, std::min(kLengthBytes + lengthAt(from) - size, inChunkMax(cursor)));
    if (open_ != nullptr || size == 0) {
        const auto room = cursor.room(0);
        if (room.size() >= need) return room;
    }
    if (size == 0) return cursor.room(need);
    // The rest has to stand in front of what is coming: from its parking place, or from a chunk that is full.
    const KeepAlive old = open_ != nullptr ? KeepAlive(Ref<ReceiveChunk>::share(&cursor.chunk())) : KeepAlive();
    const auto room = cursor.room(size + need);
    std::memcpy(room.data(), from, size);
    cursor.use(size);
    open_ = room.data();
    openSize_ = size;
    parked_.reset();
    parkedSize_ = 0;
    return room.subspan(size);
}

void FrameReader::add(ReceiveCursor& cursor, std::size_t bytes) noexcept {
    if (large_) {
        largeSize_ += bytes;
        return;
    }
    if (open_ == nullptr) open_ = cursor.room(0).data();
    cursor.use(bytes);
    openSize_ += bytes;
}

Status FrameReader::handOut(ReceiveCursor& cursor, FrameSink& sink) {
    if (large_) {
        if (largeSize_ < largeTotal_) return Status::ok();
        const auto whole = std::move(large_);
        const auto then = sink.frame({whole->data() + kLengthBytes, largeTotal_ - kLengthBytes}, *whole);
        largeSize_ = largeTotal_ = 0;
        return then != FrameSink::Then::Stop ? Status::ok() : Status(StatusCode::Cancelled, "stopped");
    }
    if (held_) [[unlikely]] bringBack(cursor);
    while (openSize_ >= kLengthBytes) {
        const auto length = lengthAt(open_);
        if (auto status = checkLength(length); !status) return status;
        const auto total = kLengthBytes + length;
        if (openSize_ < total) {
            // A little of it is parked like the rest of a small one: a buffer of its own would be larger than what has come.
            if (total > inChunkMax(cursor) && openSize_ >= inChunkMax(cursor) / 2) beginLarge(total);
            break;
        }
        char* const bytes = open_ + kLengthBytes;
        open_ += total;
        openSize_ -= total;
        const auto then = sink.frame({bytes, length}, cursor.chunk());
        if (then == FrameSink::Then::Next) [[likely]] continue;
        if (then == FrameSink::Then::Stop) return {StatusCode::Cancelled, "stopped"};
        held_ = openSize_ > 0;
        break;
    }
    if (openSize_ == 0) open_ = nullptr;
    return Status::ok();
}

void FrameReader::park() {
    if (openSize_ > 0) {
        parked_ = std::make_unique_for_overwrite<char[]>(openSize_);
        std::memcpy(parked_.get(), open_, openSize_);
        parkedSize_ = openSize_;
    }
    open_ = nullptr;
    openSize_ = 0;
}

void FrameReader::drop() noexcept {
    parked_.reset();
    large_ = {};
    parkedSize_ = largeSize_ = largeTotal_ = 0;
    held_ = false;
}

// Into one chunk again, because frames are handed out in place. It fits: that is where it came from.
void FrameReader::bringBack(ReceiveCursor& cursor) {
    held_ = false;
    if (!parked_) return;
    const auto room = cursor.room(parkedSize_);
    std::memcpy(room.data(), parked_.get(), parkedSize_);
    cursor.use(parkedSize_);
    open_ = room.data();
    openSize_ = std::exchange(parkedSize_, 0);
    parked_.reset();
}

void FrameReader::skip(std::size_t bytes) noexcept {
    open_ += bytes;
    openSize_ -= bytes;
    if (openSize_ == 0) open_ = nullptr;
}

Status FrameReader::checkLength(std::size_t length) const {
    if (length < kLengthBytes) return {StatusCode::Corrupt, "frame length " + std::to_string(length) + " is less than 4"};
    if (kLengthBytes + length > frameBytesMax_) {
        return {StatusCode::Corrupt, "frame of " + std::to_string(kLengthBytes + length) + " bytes, allowed are " +
                                         std::to_string(frameBytesMax_)};
    }
    return Status::ok();
}

void FrameReader::beginLarge(std::size_t frameBytes) {
    largeTotal_ = frameBytes;
    largeSize_ = openSize_;
    large_ = Ref<ReceiveChunk>::adopt(new ReceiveChunk(std::min(frameBytes, 2 * openSize_)));
    std::memcpy(large_->data(), open_, openSize_);
    open_ = nullptr;
    openSize_ = 0;
}

void FrameReader::growLarge() {
    auto larger = Ref<ReceiveChunk>::adopt(new ReceiveChunk(std::min(largeTotal_, 2 * large_->capacity())));
    std::memcpy(larger->data(), large_->data(), largeSize_);
    large_ = std::move(larger);
}

}  // namespace patchbay::net
