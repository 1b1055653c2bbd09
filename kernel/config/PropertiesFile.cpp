#include "config/PropertiesFile.h"

#include <optional>

namespace patchbay::kernel {

namespace {

constexpr std::uint64_t kFileBytesMax = 1U << 20;

constexpr bool isBlank(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\f';
}

std::string_view skipBlanks(std::string_view text) {
    while (!text.empty() && isBlank(text.front())) text.remove_prefix(1);
    return text;
}

bool endsInOddBackslashes(std::string_view line) {
    std::size_t count = 0;
    while (count < line.size() && line[line.size() - 1 - count] == '\\') ++count;
    return count % 2 == 1;
}

void appendUtf8(std::string& out, unsigned code) {
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | (code >> 6));
        out += static_cast<char>(0x80 | (code & 0x3F));
    } else {
        out += static_cast<char>(0xE0 | (code >> 12));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (code & 0x3F));
    }
}

std::optional<unsigned> hex4(std::string_view text) {
    if (text.size() < 4) return std::nullopt;
    unsigned value = 0;
    for (const char c : text.substr(0, 4)) {
        unsigned digit = 0;
        if (c >= '0' && c <= '9') {
            digit = static_cast<unsigned>(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            digit = static_cast<unsigned>(c - 'a') + 10;
        } else if (c >= 'A' && c <= 'F') {
            digit = static_cast<unsigned>(c - 'A') + 10;
        } else {
            return std::nullopt;
        }
        value = value * 16 + digit;
    }
    return value;
}

/// Nothing for a \u that is not followed by four hexadecimal digits.
std::optional<std::string> unescape(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] != '\\' || i + 1 == raw.size()) {
            if (raw[i] != '\\') out += raw[i];
            continue;
        }
        const char c = raw[++i];
        switch (c) {
            case 't': out += '\t'; break;
            case 'n': out += '\n'; break;
            case 'r': out += '\r'; break;
            case 'f': out += '\f'; break;
            case 'u': {
                const auto code = hex4(raw.substr(i + 1));
                if (!code) return std::nullopt;
                appendUtf8(out, *code);
                i += 4;
                break;
            }
            default: out += c;
        }
    }
    return out;
}

/// A blank followed by a '#' that no backslash protects.
bool hasTrailingComment(std::string_view raw) {
    for (std::size_t i = 1; i < raw.size(); ++i) {
        if (raw[i] == '#' && isBlank(raw[i - 1])) return true;
    }
    return false;
}

struct LogicalLine {
    std::string text;
    int line = 0;
};

/// Splits into logical lines: continuation joined, comments and empty lines gone.
class LineReader {
public:
    explicit LineReader(std::string_view text) : rest_(text) {
        if (rest_.substr(0, 3) == "\xEF\xBB\xBF") rest_.remove_prefix(3);
    }

    bool next(LogicalLine& out) {
        std::string_view line;
        while (physical(line)) {
            line = skipBlanks(line);
            if (line.empty() || line.front() == '#' || line.front() == '!') continue;
            out.line = number_;
            out.text.clear();
            while (endsInOddBackslashes(line)) {
                out.text += line.substr(0, line.size() - 1);
                if (!physical(line)) return true;
                line = skipBlanks(line);
            }
            out.text += line;
            return true;
        }
        return false;
    }

private:
    bool physical(std::string_view& line) {
        if (rest_.empty()) {
            line = {};
            return false;
        }
        ++number_;
        const auto end = rest_.find_first_of("\r\n");
        line = rest_.substr(0, end);
        if (end == std::string_view::npos) {
            rest_ = {};
        } else {
            rest_.remove_prefix(end + (rest_.substr(end, 2) == "\r\n" ? 2 : 1));
        }
        return true;
    }

    std::string_view rest_;
    int number_ = 0;
};

/// Index of the first character after the key.
std::size_t keyEnd(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\') {
            ++i;
        } else if (line[i] == '=' || line[i] == ':' || isBlank(line[i])) {
            return i;
        }
    }
    return line.size();
}

std::string_view trimEnd(std::string_view raw) {
    while (!raw.empty() && isBlank(raw.back()) && !(raw.size() > 1 && raw[raw.size() - 2] == '\\')) raw.remove_suffix(1);
    return raw;
}

bool hasControl(std::string_view line) {
    for (const char c : line) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && !isBlank(c)) || byte == 0x7F) return true;
    }
    return false;
}

}  // namespace

PropertiesFile PropertiesFile::parse(const std::string& path, std::string_view text, Problems& problems) {
    PropertiesFile file;
    file.path_ = path;
    LineReader lines(text);
    LogicalLine logical;
    while (lines.next(logical)) {
        const std::string_view line = logical.text;
        const std::string where = path + ":" + std::to_string(logical.line);
        if (hasControl(line)) {
            problems.add(ErrorNumber::PropertySyntax, where, "the line holds control characters");
            continue;
        }
        const auto end = keyEnd(line);
        auto rest = skipBlanks(line.substr(end));
        const bool separated = !rest.empty() && (rest.front() == '=' || rest.front() == ':');
        if (separated) rest = skipBlanks(rest.substr(1));
        rest = trimEnd(rest);
        const auto key = unescape(line.substr(0, end));
        const auto value = unescape(rest);
        if (!key || !value) {
            problems.add(ErrorNumber::PropertySyntax, where, "\\u needs four hexadecimal digits: '" + std::string(line) + "'");
        } else if (key->empty() || (!separated && rest.empty())) {
            problems.add(ErrorNumber::PropertySyntax, where, "not of the form key = value: '" + std::string(line) + "'");
        } else {
            file.entries_.push_back({*key, *value, logical.line, hasTrailingComment(rest)});
        }
    }
    return file;
}

PropertiesFile PropertiesFile::read(FileSystem& files, const std::string& path, Problems& problems) {
    const auto text = files.readAll(path, kFileBytesMax);
    if (text) return parse(path, *text, problems);
    problems.add(ErrorNumber::ConfigFileUnreadable, path, text.error().message());
    PropertiesFile file;
    file.path_ = path;
    return file;
}

std::string PropertiesFile::escape(std::string_view text, bool isKey) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        switch (c) {
            case '\t': out += "\\t"; continue;
            case '\n': out += "\\n"; continue;
            case '\r': out += "\\r"; continue;
            case '\f': out += "\\f"; continue;
            default: break;
        }
        const bool edge = i == 0 || i + 1 == text.size();
        const bool separator = c == '=' || c == ':';
        if (c == '\\' || c == '#' || c == '!' || (c == ' ' && (isKey || edge)) || (separator && (isKey || i == 0))) out += '\\';
        out += c;
    }
    return out;
}

}  // namespace patchbay::kernel
