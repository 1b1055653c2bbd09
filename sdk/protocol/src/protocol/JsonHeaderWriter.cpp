#include "JsonHeaderWriter.h"

#include "TextScan.h"

#include <charconv>

namespace patchbay::protocol {

namespace {

// A character of text becomes \u00XX in the worst case.
constexpr std::size_t kEscapeBytes = 6;
// Names, punctuation and numbers of the fixed members; of a field: quotes, colon, comma.
constexpr std::size_t kFixedBytes = 256;
constexpr std::size_t kFieldBytes = 6;

template <std::size_t N>
char* putLiteral(char* to, const char (&text)[N]) noexcept {
    std::memcpy(to, text, N - 1);
    return to + N - 1;
}

char* putText(char* to, std::string_view text) noexcept {
    std::memcpy(to, text.data(), text.size());
    return to + text.size();
}

char* putNumber(char* to, std::int32_t number) noexcept {
    return std::to_chars(to, to + 11, number).ptr;
}

char* putUnicodeEscape(char* to, unsigned unit) noexcept {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    to = putLiteral(to, "\\u");
    for (int shift = 12; shift >= 0; shift -= 4)
        *to++ = kDigits[unit >> shift & 0xFU];
    return to;
}

char* putControl(char* to, unsigned char c) noexcept {
    switch (c) {
        case '"':
            return putLiteral(to, "\\\"");
        case '\\':
            return putLiteral(to, "\\\\");
        case '\b':
            return putLiteral(to, "\\b");
        case '\t':
            return putLiteral(to, "\\t");
        case '\n':
            return putLiteral(to, "\\n");
        case '\f':
            return putLiteral(to, "\\f");
        case '\r':
            return putLiteral(to, "\\r");
        default:
            return putUnicodeEscape(to, c);
    }
}

// fastjson escapes the controls U+0080 to U+009F and the line separators U+2028 and U+2029; other characters stay.
char* putNonAscii(char* to, const char*& at, const char* end) noexcept {
    const auto byte = [at](int i) { return static_cast<unsigned char>(at[i]); };
    if (byte(0) == 0xC2 && end - at >= 2 && byte(1) >= 0x80 && byte(1) < 0xA0) {
        to = putUnicodeEscape(to, byte(1));
        at += 2;
    } else if (byte(0) == 0xE2 && end - at >= 3 && byte(1) == 0x80 && (byte(2) & 0xFEU) == 0xA8) {
        to = putUnicodeEscape(to, 0x2000U + (byte(2) & 0x3FU));
        at += 3;
    } else {
        *to++ = *at++;
    }
    return to;
}

char* putEscaped(char* to, std::string_view text) noexcept {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        const char* const special = findEscapable(at, end);
        if (special != at) {
            std::memcpy(to, at, static_cast<std::size_t>(special - at));
            to += special - at;
            at = special;
        }
        if (at == end) break;
        if (static_cast<unsigned char>(*at) < 0x80) {
            to = putControl(to, static_cast<unsigned char>(*at++));
        } else {
            to = putNonAscii(to, at, end);
        }
    }
    return to;
}

char* putQuoted(char* to, std::string_view text) noexcept {
    *to++ = '"';
    to = copyUnlessEscapable(to, text) ? to + text.size() : putEscaped(to, text);
    *to++ = '"';
    return to;
}

char* putFields(char* to, const FieldList& fields) noexcept {
    to = putLiteral(to, ",\"extFields\":{");
    char* const first = to;
    fields.forEach([&](std::string_view key, std::string_view value) {
        if (to != first) *to++ = ',';
        to = putQuoted(to, key);
        *to++ = ':';
        to = putQuoted(to, value);
    });
    *to++ = '}';
    return to;
}

}  // namespace

void writeJsonHeader(ByteWriter& out, const CommandHead& head, const FieldList& fields) {
    const std::size_t textBytes = fields.textBytes() + head.remark.size();
    out.reserve(kFixedBytes + fields.count() * kFieldBytes + textBytes * kEscapeBytes);
    char* const start = out.tail();
    char* to = putLiteral(start, "{\"code\":");
    to = putNumber(to, head.code);
    if (fields.present()) to = putFields(to, fields);
    to = putLiteral(to, ",\"flag\":");
    to = putNumber(to, head.flag);
    to = putLiteral(to, ",\"language\":\"");
    to = putText(to, toString(head.language));
    to = putLiteral(to, "\",\"opaque\":");
    to = putNumber(to, head.opaque);
    if (head.remark.data() != nullptr) {
        to = putLiteral(to, ",\"remark\":");
        to = putQuoted(to, head.remark);
    }
    to = putLiteral(to, ",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":");
    to = putNumber(to, head.version);
    *to++ = '}';
    out.commit(static_cast<std::size_t>(to - start));
}

}  // namespace patchbay::protocol
