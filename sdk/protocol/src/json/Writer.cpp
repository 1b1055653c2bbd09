#include "patchbay/protocol/json/Writer.h"

#include "patchbay/protocol/util/Utf8.h"

#include <charconv>
#include <cmath>

namespace patchbay::json {
namespace {

constexpr std::int64_t kExactInDouble = (std::int64_t{1} << 53) - 1;

void appendUnit(std::string& out, std::uint32_t unit) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    const char text[] = {
        '\\', 'u', kDigits[unit >> 12 & 0xF], kDigits[unit >> 8 & 0xF], kDigits[unit >> 4 & 0xF], kDigits[unit & 0xF]};
    out.append(text, sizeof text);
}

void appendUnits(std::string& out, char32_t code) {
    if (code >= 0x10000) {
        appendUnit(out, static_cast<std::uint32_t>(0xD7C0 + (code >> 10)));
        appendUnit(out, static_cast<std::uint32_t>(0xDC00 | (code & 0x3FF)));
    } else {
        appendUnit(out, static_cast<std::uint32_t>(code));
    }
}

/// Characters beyond ASCII that fastjson escapes in every dialect.
bool isEscapedWide(char32_t code) noexcept {
    return code <= 0x9F || code == 0x2028 || code == 0x2029;
}

void appendInteger(std::string& out, std::int64_t value) {
    char buffer[24];
    out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

/// The shortest digits that give the same number, in the shape of Double.toString().
void appendDouble(std::string& out, double value) {
    char buffer[40];
    const double magnitude = std::fabs(value);
    const bool plain = magnitude == 0 || (magnitude >= 1e-3 && magnitude < 1e7);
    const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
    const char* end = std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr;
    std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
    const std::size_t e = text.find('e');
    const std::string_view digits = text.substr(0, e);
    out.append(digits);
    if (digits.find('.') == std::string_view::npos) out.append(".0");
    if (e == std::string_view::npos) return;
    out.push_back('E');
    std::string_view exponent = text.substr(e + 1);
    if (exponent.front() == '-') out.push_back('-');
    exponent.remove_prefix(1);
    while (exponent.size() > 1 && exponent.front() == '0')
        exponent.remove_prefix(1);
    out.append(exponent);
}

}  // namespace

void Writer::newLine() {
    out_.push_back('\n');
    out_.append(levels_.size(), '\t');
}

void Writer::beforeValue() {
    if (afterKey_) {
        afterKey_ = false;
        return;
    }
    if (levels_.empty()) return;
    if (!levels_.back().empty) out_.push_back(',');
    levels_.back().empty = false;
}

void Writer::beginObject() {
    beforeValue();
    out_.push_back('{');
    levels_.push_back({true, true, false});
}

void Writer::endObject() {
    const Level level = levels_.back();
    levels_.pop_back();
    if (level.lines) newLine();
    out_.push_back('}');
}

void Writer::beginArray() {
    beforeValue();
    out_.push_back('[');
    levels_.push_back({false, true, false});
}

void Writer::endArray() {
    levels_.pop_back();
    out_.push_back(']');
}

void Writer::key(std::string_view name) {
    beforeValue();
    if (dialect_ == Dialect::Pretty) {
        levels_.back().lines = true;
        newLine();
    }
    quote(name);
    out_.push_back(':');
    afterKey_ = true;
}

void Writer::key(std::int64_t number) {
    beforeValue();
    // Java's files have no line break before a bare key, but one behind the last entry.
    levels_.back().lines = dialect_ == Dialect::Pretty;
    if (dialect_ == Dialect::Strict) out_.push_back('"');
    appendInteger(out_, number);
    if (dialect_ == Dialect::Strict) out_.push_back('"');
    out_.push_back(':');
    afterKey_ = true;
}

void Writer::objectKey(std::string_view json) {
    beforeValue();
    if (dialect_ == Dialect::Strict) {
        quote(json);
    } else {
        out_.append(json);
    }
    out_.push_back(':');
    afterKey_ = true;
}

void Writer::string(std::string_view utf8) {
    beforeValue();
    quote(utf8);
}

void Writer::integer(std::int64_t value) {
    beforeValue();
    const bool quoted = dialect_ == Dialect::Strict && (value > kExactInDouble || value < -kExactInDouble);
    if (quoted) out_.push_back('"');
    appendInteger(out_, value);
    if (quoted) out_.push_back('"');
}

void Writer::number(double value) {
    if (!std::isfinite(value)) return null();
    beforeValue();
    appendDouble(out_, value);
}

void Writer::boolean(bool value) {
    beforeValue();
    out_.append(value ? "true" : "false");
}

void Writer::null() {
    beforeValue();
    out_.append("null");
}

void Writer::raw(std::string_view json) {
    beforeValue();
    out_.append(json);
}

void Writer::escapeAscii(char c) {
    switch (c) {
        case '"':
            out_.append("\\\"");
            return;
        case '\\':
            out_.append("\\\\");
            return;
        case '/':
            out_.append(dialect_ == Dialect::Strict ? "\\/" : "/");
            return;
        case '\b':
            out_.append("\\b");
            return;
        case '\f':
            out_.append("\\f");
            return;
        case '\n':
            out_.append("\\n");
            return;
        case '\r':
            out_.append("\\r");
            return;
        case '\t':
            out_.append("\\t");
            return;
        default:
            appendUnit(out_, static_cast<unsigned char>(c));
    }
}

void Writer::quote(std::string_view utf8) {
    out_.push_back('"');
    const auto isPlain = [this](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7F && c != '"' && c != '\\' &&
               (c != '/' || dialect_ != Dialect::Strict);
    };
    std::size_t plain = 0;
    while (!utf8.empty()) {
        if (plain < utf8.size() && isPlain(utf8[plain])) {
            ++plain;
            continue;
        }
        out_.append(utf8.substr(0, plain));
        utf8.remove_prefix(plain);
        plain = 0;
        if (utf8.empty()) break;
        if (static_cast<unsigned char>(utf8.front()) < 0x80) {
            escapeAscii(utf8.front());
            utf8.remove_prefix(1);
            continue;
        }
        const char32_t code = protocol::nextCodePoint(utf8);
        if (dialect_ == Dialect::Strict || isEscapedWide(code)) {
            appendUnits(out_, code);
        } else {
            protocol::appendUtf8(out_, code);
        }
    }
    out_.push_back('"');
}

}  // namespace patchbay::json
