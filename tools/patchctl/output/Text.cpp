#include "output/Text.h"

#include "patchbay/protocol/json/Writer.h"

#include <array>
#include <cstdint>

namespace patchbay::patchctl {

namespace {

void write(json::Writer& out, const json::Value& value) {
    switch (value.type()) {
        case json::Type::Object:
            out.beginObject();
            for (const auto item : value) {
                out.key(item.key);
                write(out, item.value);
            }
            out.endObject();
            return;
        case json::Type::Array:
            out.beginArray();
            for (const auto item : value) write(out, item.value);
            out.endArray();
            return;
        case json::Type::String: out.string(value.string().value_or("")); return;
        case json::Type::Integer: out.integer(value.integer().value_or(0)); return;
        case json::Type::Double: out.number(value.number().value_or(0)); return;
        case json::Type::Bool: out.boolean(value.boolean().value_or(false)); return;
        case json::Type::Null:
        case json::Type::Ref: break;
    }
    out.null();
}

}  // namespace

std::string strictJson(const json::Value& value) {
    std::string text;
    json::Writer out(text, json::Dialect::Strict);
    write(out, value);
    return text;
}

std::string base64(std::string_view bytes) {
    static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::string_view part = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) bits = bits << 8U | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i) text += i <= part.size() ? kDigits[bits >> (18U - 6U * i) & 63U] : '=';
    }
    return text;
}

bool isUtf8(std::string_view text) noexcept {
    static constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    for (std::size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at]);
        const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
        if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || text.size() - at < length) return false;
        char32_t code = length == 1 ? first : first & (0xFFU >> (length + 1));
        for (std::size_t i = 1; i < length; ++i) {
            const auto next = static_cast<unsigned char>(text[at + i]);
            if ((next & 0xC0U) != 0x80U) return false;
            code = code << 6U | (next & 0x3FU);
        }
        if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
        at += length;
    }
    return true;
}

}  // namespace patchbay::patchctl
