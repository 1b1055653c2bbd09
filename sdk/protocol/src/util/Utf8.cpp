#include "patchbay/protocol/util/Utf8.h"

namespace patchbay::protocol {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Lead {
    unsigned tail;  // bytes that must follow
    char32_t bits;
    unsigned char low, high;  // range of the first of them
};

Lead leadOf(unsigned char byte) noexcept {
    if (byte >= 0xC2 && byte <= 0xDF) return {1, byte & 0x1Fu, 0x80, 0xBF};
    if (byte == 0xE0) return {2, 0, 0xA0, 0xBF};
    if (byte == 0xED) return {2, byte & 0x0Fu, 0x80, 0x9F};
    if (byte >= 0xE1 && byte <= 0xEF) return {2, byte & 0x0Fu, 0x80, 0xBF};
    if (byte == 0xF0) return {3, 0, 0x90, 0xBF};
    if (byte >= 0xF1 && byte <= 0xF3) return {3, byte & 0x07u, 0x80, 0xBF};
    if (byte == 0xF4) return {3, 4, 0x80, 0x8F};
    return {0, kReplacement, 0, 0};
}

}  // namespace

char32_t nextCodePoint(std::string_view& rest) noexcept {
    const auto first = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    if (first < 0x80) return first;
    const Lead lead = leadOf(first);
    char32_t value = lead.bits;
    unsigned char low = lead.low;
    unsigned char high = lead.high;
    for (unsigned i = 0; i < lead.tail; ++i) {
        if (rest.empty()) return kReplacement;
        const auto byte = static_cast<unsigned char>(rest.front());
        if (byte < low || byte > high) return kReplacement;
        value = (value << 6) | (byte & 0x3Fu);
        rest.remove_prefix(1);
        low = 0x80;
        high = 0xBF;
    }
    return value;
}

void appendUtf8(std::string& out, char32_t codePoint) {
    const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (codePoint < 0x80) {
        put(codePoint);
    } else if (codePoint < 0x800) {
        put(0xC0 | (codePoint >> 6));
        put(0x80 | (codePoint & 0x3F));
    } else if ((codePoint >= 0xD800 && codePoint <= 0xDFFF) || codePoint > 0x10FFFF) {
        put('?');
    } else if (codePoint < 0x10000) {
        put(0xE0 | (codePoint >> 12));
        put(0x80 | ((codePoint >> 6) & 0x3F));
        put(0x80 | (codePoint & 0x3F));
    } else {
        put(0xF0 | (codePoint >> 18));
        put(0x80 | ((codePoint >> 12) & 0x3F));
        put(0x80 | ((codePoint >> 6) & 0x3F));
        put(0x80 | (codePoint & 0x3F));
    }
}

std::size_t utf16Length(std::string_view text) noexcept {
    std::size_t units = 0;
    while (!text.empty())
        units += nextCodePoint(text) >= 0x10000 ? 2u : 1u;
    return units;
}

}  // namespace patchbay::protocol
