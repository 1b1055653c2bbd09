#include "TextScan.h"

namespace patchbay::protocol {

namespace {

// Bytes of the well-formed character that starts at text[at], or 0.
std::size_t characterSize(std::string_view text, std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0);
    const unsigned second = byte(1);
    if (first < 0x80) return 1;
    if (first < 0xC2) return 0;
    if (first < 0xE0) return continues(1) ? 2 : 0;
    if (first < 0xF0) {
        const bool overlong = first == 0xE0 && second < 0xA0;
        const bool surrogate = first == 0xED && second >= 0xA0;
        return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
    }
    const bool outside = first > 0xF4 || (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
    return continues(1) && continues(2) && continues(3) && !outside ? 4 : 0;
}

}  // namespace

bool isUtf8(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        if (text.size() - at >= 16 && isAscii(text.data() + at, text.data() + at + 16)) {
            at += 16;
            continue;
        }
        const std::size_t size = characterSize(text, at);
        if (size == 0) return false;
        at += size;
    }
    return true;
}

}  // namespace patchbay::protocol
