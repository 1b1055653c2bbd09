#include "patchbay/protocol/route/ConfigText.h"

#include "patchbay/protocol/util/Utf8.h"

#include <charconv>

namespace patchbay::protocol {
namespace {

bool isBlank(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\f';
}
bool isLineEnd(char c) noexcept {
    return c == '\n' || c == '\r';
}

std::string_view skipBlanks(std::string_view text) noexcept {
    while (!text.empty() && isBlank(text.front()))
        text.remove_prefix(1);
    return text;
}

/// Takes one line off `text`, with its continuations joined and its escapes still in place. Empty for comments.
std::string takeLine(std::string_view& text) {
    std::string line;
    text = skipBlanks(text);
    const bool comment = !text.empty() && (text.front() == '#' || text.front() == '!');
    while (!text.empty()) {
        const char c = text.front();
        text.remove_prefix(1);
        if (isLineEnd(c)) break;
        if (comment) continue;
        line.push_back(c);
        if (c != '\\' || text.empty()) continue;
        const char escaped = text.front();
        text.remove_prefix(1);
        if (!isLineEnd(escaped)) {
            line.push_back(escaped);
            continue;
        }
        if (escaped == '\r' && !text.empty() && text.front() == '\n') text.remove_prefix(1);
        line.pop_back();
        text = skipBlanks(text);
    }
    return line;
}

/// Takes a \uXXXX, whose \u is gone already; a pair of surrogates is one character.
bool takeUnicode(std::string_view& text, char32_t& out) noexcept {
    std::uint32_t code = 0;
    const std::string_view digits = text.substr(0, 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4) return false;
    text.remove_prefix(4);
    out = code;
    return true;
}

bool unescape(std::string_view text, std::string& out) {
    while (!text.empty()) {
        const char c = text.front();
        text.remove_prefix(1);
        if (c != '\\') {
            out.push_back(c);
            continue;
        }
        if (text.empty()) return true;
        const char escaped = text.front();
        text.remove_prefix(1);
        char32_t code = 0;
        switch (escaped) {
            case 't':
                out.push_back('\t');
                break;
            case 'n':
                out.push_back('\n');
                break;
            case 'r':
                out.push_back('\r');
                break;
            case 'f':
                out.push_back('\f');
                break;
            case 'u': {
                if (!takeUnicode(text, code)) return false;
                char32_t low = 0;
                std::string_view behind = text.substr(text.starts_with("\\u") ? 2 : 0);
                if (code >= 0xD800 && code < 0xDC00 && text.starts_with("\\u") && takeUnicode(behind, low) &&
                    low >= 0xDC00 && low < 0xE000) {
                    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                    text = behind;
                }
                appendUtf8(out, code);
                break;
            }
            default:
                out.push_back(escaped);
        }
    }
    return true;
}

/// Where the key of a line ends: at the first =, : or blank that is not escaped.
std::size_t keyEnd(std::string_view line) noexcept {
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\') {
            ++i;
        } else if (line[i] == '=' || line[i] == ':' || isBlank(line[i])) {
            return i;
        }
    }
    return line.size();
}

}  // namespace

Result<ConfigTable> parseConfigText(std::string_view text) {
    ConfigTable table;
    while (!text.empty()) {
        const std::string line = takeLine(text);
        if (line.empty()) continue;
        const std::size_t end = keyEnd(line);
        std::string_view rest = skipBlanks(std::string_view(line).substr(end));
        if (!rest.empty() && (rest.front() == '=' || rest.front() == ':')) rest = skipBlanks(rest.substr(1));
        std::string key;
        std::string value;
        if (!unescape(std::string_view(line).substr(0, end), key) || !unescape(rest, value)) {
            return Status(StatusCode::InvalidArgument, "configuration text: a broken \\u escape");
        }
        table.insert_or_assign(std::move(key), std::move(value));
    }
    return table;
}

std::string configText(const ConfigTable& table) {
    std::string text;
    for (const auto& [key, value] : table)
        text.append(key).append("=").append(value).append("\n");
    return text;
}

}  // namespace patchbay::protocol
