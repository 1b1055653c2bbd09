#include "patchbay/protocol/util/Hash.h"

#include "patchbay/protocol/util/Utf8.h"

namespace patchbay::protocol {
namespace {

std::uint32_t hashWide(std::uint32_t hash, std::string_view rest) noexcept {
    while (!rest.empty()) {
        const char32_t code = nextCodePoint(rest);
        if (code < 0x10000) {
            hash = hash * 31 + code;
        } else {
            hash = hash * 31 + (0xD7C0u + (code >> 10));
            hash = hash * 31 + (0xDC00u | (code & 0x3FFu));
        }
    }
    return hash;
}

}  // namespace

std::int32_t javaHashCode(std::string_view utf8, std::int32_t before) noexcept {
    auto hash = static_cast<std::uint32_t>(before);
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const auto byte = static_cast<unsigned char>(utf8[i]);
        if (byte >= 0x80) return static_cast<std::int32_t>(hashWide(hash, utf8.substr(i)));
        hash = hash * 31 + byte;
    }
    return static_cast<std::int32_t>(hash);
}

}  // namespace patchbay::protocol
