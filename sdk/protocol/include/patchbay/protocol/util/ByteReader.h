// ByteReader: reads big-endian integers and byte ranges without ever leaving its range.
#pragma once

#include "patchbay/protocol/util/BigEndian.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace patchbay::protocol {

/// A cursor over bytes that it does not own. The first read beyond the end makes ok() false for good; that read and all
/// later ones answer zeros and empty ranges. So a decoder reads on and asks once. Lengths are compared, never trusted.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) noexcept : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    [[nodiscard]] bool ok() const noexcept { return ok_; }
    [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
    [[nodiscard]] const char* position() const noexcept { return at_; }

    std::uint8_t u8() noexcept {
        const std::string_view byte = bytes(1);
        return byte.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(byte.front());
    }
    std::int16_t i16() noexcept { return get<std::int16_t>(); }
    std::int32_t i32() noexcept { return get<std::int32_t>(); }
    std::int64_t i64() noexcept { return get<std::int64_t>(); }

    /// The next `size` bytes. A negative size fails like one that is too large.
    std::string_view bytes(std::int64_t size) noexcept {
        if (size < 0 || static_cast<std::uint64_t>(size) > left()) {
            fail();
            return {};
        }
        const std::string_view range(at_, static_cast<std::size_t>(size));
        at_ += size;
        return range;
    }
    void skip(std::int64_t size) noexcept { static_cast<void>(bytes(size)); }

private:
    template <typename T>
    T get() noexcept {
        const std::string_view raw = bytes(sizeof(T));
        return raw.empty() ? T{0} : loadBe<T>(raw.data());
    }
    void fail() noexcept {
        ok_ = false;
        at_ = end_;
    }

    const char* at_;
    const char* end_;
    bool ok_ = true;
};

}  // namespace patchbay::protocol
