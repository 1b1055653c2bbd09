// ByteWriter: a growing byte buffer that is written in place.
#pragma once

#include "patchbay/protocol/util/BigEndian.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace patchbay::protocol {

/// Bytes are appended at the end; integers are big-endian. Move-only; clear() keeps the memory for the next use.
/// Not synchronised. Fails only as `new` does.
class ByteWriter {
public:
    ByteWriter() noexcept = default;
    explicit ByteWriter(std::size_t capacity) { reserve(capacity); }
    ByteWriter(ByteWriter&& other) noexcept
        : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    ByteWriter& operator=(ByteWriter&& other) noexcept {
        data_ = std::move(other.data_);
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, 0);
        return *this;
    }

    /// Makes room for `more` bytes behind the end. Pointers into the buffer become invalid.
    void reserve(std::size_t more) {
        if (capacity_ - size_ < more) [[unlikely]] enlarge(more);
    }
    /// The place for the next bytes; as many are free as reserve() was asked for. They count after commit().
    [[nodiscard]] char* tail() noexcept { return data_.get() + size_; }
    void commit(std::size_t bytes) noexcept { size_ += bytes; }
    /// Appends `bytes` bytes of unspecified content and says where they are.
    [[nodiscard]] char* grow(std::size_t bytes) {
        reserve(bytes);
        return data_.get() + std::exchange(size_, size_ + bytes);
    }

    void append(std::string_view bytes) {
        if (!bytes.empty()) std::memcpy(grow(bytes.size()), bytes.data(), bytes.size());
    }
    void u8(std::uint8_t value) { *grow(1) = static_cast<char>(value); }
    void i16(std::int16_t value) { storeBe(grow(sizeof value), value); }
    void i32(std::int32_t value) { storeBe(grow(sizeof value), value); }
    void i64(std::int64_t value) { storeBe(grow(sizeof value), value); }
    /// Overwrites four bytes at `offset`, which were appended before.
    void i32At(std::size_t offset, std::int32_t value) noexcept { storeBe(data_.get() + offset, value); }

    void clear() noexcept { size_ = 0; }
    /// Drops everything behind the first `size` bytes; at most size().
    void cut(std::size_t size) noexcept { size_ = size; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] char* data() noexcept { return data_.get(); }
    [[nodiscard]] std::string_view view() const noexcept { return {data_.get(), size_}; }

private:
    void enlarge(std::size_t more);

    std::unique_ptr<char[]> data_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace patchbay::protocol
