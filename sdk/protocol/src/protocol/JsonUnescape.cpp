// The escapes of JSON strings, and those that fastjson understands besides.
#include "JsonHeaderReader.h"

#include <array>
#include <cstdint>

namespace patchbay::protocol {

namespace {

constexpr std::array<std::int8_t, 256> kHexDigits = [] {
    std::array<std::int8_t, 256> digits{};
    digits.fill(-1);
    for (int i = 0; i < 10; ++i)
        digits[static_cast<std::size_t>('0' + i)] = static_cast<std::int8_t>(i);
    for (int i = 0; i < 6; ++i) {
        digits[static_cast<std::size_t>('a' + i)] = static_cast<std::int8_t>(10 + i);
        digits[static_cast<std::size_t>('A' + i)] = static_cast<std::int8_t>(10 + i);
    }
    return digits;
}();

// The number in N hexadecimal digits at `from`, or a negative one.
template <int N>
std::int32_t hexNumber(const char* from, const char* end) noexcept {
    if (end - from < N) return -1;
    std::int32_t number = 0;
    std::int32_t wrong = 0;
    for (int i = 0; i < N; ++i) {
        const std::int32_t digit = kHexDigits[static_cast<unsigned char>(from[i])];
        wrong |= digit;
        number = number * 16 + digit;
    }
    return wrong < 0 ? -1 : number;
}

bool isHighSurrogate(std::int32_t unit) noexcept {
    return unit >= 0xD800 && unit < 0xDC00;
}

bool isLowSurrogate(std::int32_t unit) noexcept {
    return unit >= 0xDC00 && unit < 0xE000;
}

void putUtf8(char*& to, std::int32_t point) noexcept {
    const auto put = [&to](std::int32_t byte) { *to++ = static_cast<char>(static_cast<unsigned char>(byte)); };
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0 | point >> 6);
        put(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        put(0xE0 | point >> 12);
        put(0x80 | (point >> 6 & 0x3F));
        put(0x80 | (point & 0x3F));
    } else {
        put(0xF0 | point >> 18);
        put(0x80 | (point >> 12 & 0x3F));
        put(0x80 | (point >> 6 & 0x3F));
        put(0x80 | (point & 0x3F));
    }
}

}  // namespace

// `from` stands behind the backslash; both move on.
bool JsonHeaderReader::unescapeOne(const char*& from, char*& to) {
    if (from == end_) return false;
    const char c = *from++;
    switch (c) {
        case 'u':
            return unescapeUnicode(from, to);
        case '"':
        case '\'':
        case '\\':
        case '/':
            *to++ = c;
            return true;
        case 'n':
            *to++ = '\n';
            return true;
        case 't':
            *to++ = '\t';
            return true;
        case 'r':
            *to++ = '\r';
            return true;
        case 'b':
            *to++ = '\b';
            return true;
        case 'f':
        case 'F':
            *to++ = '\f';
            return true;
        case 'v':
            *to++ = '\v';
            return true;
        case 'x': {
            const std::int32_t unit = hexNumber<2>(from, end_);
            if (unit < 0) return false;
            from += 2;
            putUtf8(to, unit);
            return true;
        }
        default:
            break;
    }
    if (c < '0' || c > '7') return false;
    *to++ = static_cast<char>(c - '0');
    return true;
}

// A lone surrogate cannot be written in UTF-8; Java's encoder makes a question mark of it, too.
bool JsonHeaderReader::unescapeUnicode(const char*& from, char*& to) {
    const std::int32_t unit = hexNumber<4>(from, end_);
    if (unit < 0) return false;
    from += 4;
    if (isHighSurrogate(unit) && end_ - from >= 6 && from[0] == '\\' && from[1] == 'u') {
        const std::int32_t low = hexNumber<4>(from + 2, end_);
        if (isLowSurrogate(low)) {
            from += 6;
            putUtf8(to, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
            return true;
        }
    }
    putUtf8(to, isHighSurrogate(unit) || isLowSurrogate(unit) ? '?' : unit);
    return true;
}

}  // namespace patchbay::protocol
