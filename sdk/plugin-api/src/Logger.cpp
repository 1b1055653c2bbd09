#include "patchbay/plugin/Logger.h"

#include <charconv>

namespace patchbay::plugin {

namespace {

// Peers send texts of megabytes; a line is for people.
constexpr std::size_t kTextBytesMax = 1024;

/// ASCII's controls, and those that terminals understand beyond it (U+0080 to U+009F, of which the second byte is found here).
bool isControl(std::string_view text, std::size_t at) noexcept {
    const auto byte = static_cast<unsigned char>(text[at]);
    return byte < 0x20 || byte == 0x7F || (byte >= 0x80 && byte < 0xA0 && at > 0 && text[at - 1] == '\xC2');
}

bool needsQuotes(std::string_view text) noexcept {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ' ' || text[i] == '"' || text[i] == '=' || isControl(text, i)) return true;
    }
    return text.empty();
}

// Peers choose parts of these texts; a line break or an escape sequence must not reach a terminal or forge a line.
void appendQuoted(std::string& out, std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    out += '"';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (isControl(text, i)) {
            out += "\\x";
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        } else {
            out += c;
        }
    }
    out += '"';
}

std::string line(std::string_view message, Logger::Fields fields) {
    std::string text;
    text.reserve(message.size() + fields.size() * 24);
    text += message;
    for (const auto& field : fields) field.appendTo(text);
    return text;
}

}  // namespace

void LogField::appendTo(std::string& out) const {
    out += ' ';
    out += key_;
    out += '=';
    char digits[32];
    switch (kind_) {
        case Kind::Text: {
            const std::string_view shown = text_.substr(0, kTextBytesMax);
            if (needsQuotes(shown)) {
                appendQuoted(out, shown);
            } else {
                out += shown;
            }
            if (shown.size() < text_.size()) out += "…(" + std::to_string(text_.size()) + " bytes)";
            break;
        }
        case Kind::Integer: out.append(digits, std::to_chars(digits, digits + sizeof digits, integer_).ptr); break;
        case Kind::Real: out.append(digits, std::to_chars(digits, digits + sizeof digits, real_, std::chars_format::general, 6).ptr); break;
    }
}

void Logger::log(LogLevel level, std::string_view message, Fields fields) {
    if (enabled(level)) write(level, line(message, fields));
}

void Logger::limited(LogLevel level, std::string_view message, Fields fields) {
    std::uint64_t hidden = 0;
    if (!enabled(level) || !admit(message, hidden)) return;
    std::string text = line(message, fields);
    if (hidden > 0) LogField("hidden", hidden).appendTo(text);
    write(level, text);
}

}  // namespace patchbay::plugin
