// Big-endian loads, stores and appends: the byte order of everything RocketMQ writes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

namespace patchbay::protocol {

// No bounds are checked here: the caller has made sure that the bytes are there. Alignment does not matter.

template <typename T>
[[nodiscard]] inline T loadBe(const char* from) noexcept {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
    static_assert(std::endian::native == std::endian::little);
    if constexpr (sizeof(T) == 2) {
        std::uint16_t raw;
        std::memcpy(&raw, from, sizeof raw);
        return static_cast<T>(__builtin_bswap16(raw));
    } else if constexpr (sizeof(T) == 4) {
        std::uint32_t raw;
        std::memcpy(&raw, from, sizeof raw);
        return static_cast<T>(__builtin_bswap32(raw));
    } else {
        std::uint64_t raw;
        std::memcpy(&raw, from, sizeof raw);
        return static_cast<T>(__builtin_bswap64(raw));
    }
}

template <typename T>
inline void storeBe(char* to, T value) noexcept {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
    if constexpr (sizeof(T) == 2) {
        const std::uint16_t raw = __builtin_bswap16(static_cast<std::uint16_t>(value));
        std::memcpy(to, &raw, sizeof raw);
    } else if constexpr (sizeof(T) == 4) {
        const std::uint32_t raw = __builtin_bswap32(static_cast<std::uint32_t>(value));
        std::memcpy(to, &raw, sizeof raw);
    } else {
        const std::uint64_t raw = __builtin_bswap64(static_cast<std::uint64_t>(value));
        std::memcpy(to, &raw, sizeof raw);
    }
}

[[nodiscard]] inline std::int16_t loadI16(const char* from) noexcept {
    return loadBe<std::int16_t>(from);
}
[[nodiscard]] inline std::int32_t loadI32(const char* from) noexcept {
    return loadBe<std::int32_t>(from);
}
[[nodiscard]] inline std::int64_t loadI64(const char* from) noexcept {
    return loadBe<std::int64_t>(from);
}
inline void storeI16(char* to, std::int16_t value) noexcept {
    storeBe(to, value);
}
inline void storeI32(char* to, std::int32_t value) noexcept {
    storeBe(to, value);
}
inline void storeI64(char* to, std::int64_t value) noexcept {
    storeBe(to, value);
}

template <typename T>
inline void appendBe(std::string& out, T value) {
    char raw[sizeof(T)];
    storeBe(raw, value);
    out.append(raw, sizeof raw);
}

}  // namespace patchbay::protocol
