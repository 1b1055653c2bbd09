#include "patchbay/plugin/Logger.h"

#include <algorithm>
#include <charconv>

namespace patchbay::plugin {

namespace {

// Peers send texts of megabytes; a line is for people.
constexpr std::size_t kTextBytesMax = 1024;

/// Bytes of the UTF-8 character that stands there; 0 for what is none: a broken or overlong sequence, a half of a pair (U+D800 to U+DFFF),
/// or more than U+10FFFF.
std::size_t characterAt(std::string_view text, std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead < 0xC2 || lead > 0xF4 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (length == 0 || text.size() - at < length) return 0;
    const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < least || byte(1) > most) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
    }
    return length;
}

/// What may stand in a line as it is; 0 for ASCII's controls, those that terminals understand beyond it (U+0080 to U+009F), and what is no
/// character.
std::size_t shownAt(std::string_view text, std::size_t at) noexcept {
    const std::size_t length = characterAt(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 1) return byte >= 0x20 && byte != 0x7F ? 1 : 0;
    const bool control = length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0;
    return control ? 0 : length;
}

bool isShown(std::string_view text) noexcept {
    for (std::size_t i = 0; i < text.size();) {
        const auto length = shownAt(text, i);
        if (length == 0) return false;
        i += length;
    }
    return true;
}

bool needsQuotes(std::string_view text) noexcept {
    return text.empty() || text.find_first_of(" \"=") != std::string_view::npos || !isShown(text);
}

// Peers choose parts of these texts: a line break or an escape sequence must not reach a terminal or forge a line, and a line that is no
// UTF-8 is refused by what collects logs.
void appendShown(std::string& out, std::string_view text, bool quoted) {
    static constexpr char kHex[] = "0123456789abcdef";
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        const auto length = shownAt(text, i);
        if (length == 0) {
            const auto byte = static_cast<unsigned char>(c);
            out += "\\x";
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        } else {
            if (quoted && (c == '"' || c == '\\')) out += '\\';
            out.append(text, i, length);
        }
        i += std::max<std::size_t>(length, 1);
    }
}

/// The first bytes, without half a character at the end.
std::string_view begin(std::string_view text, std::size_t most) noexcept {
    if (text.size() <= most) return text;
    std::size_t end = most;
    while (end > 0 && most - end < 3 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, characterAt(text, end) > most - end ? end : most);
}

std::string line(std::string_view message, Logger::Fields fields) {
    std::string text;
    text.reserve(message.size() + fields.size() * 24);
    if (isShown(message)) text += message;
    else appendShown(text, message, false);
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
            const std::string_view shown = begin(text_, kTextBytesMax);
            if (needsQuotes(shown)) {
                out += '"';
                appendShown(out, shown, true);
                out += '"';
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
