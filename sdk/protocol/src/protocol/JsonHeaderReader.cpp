#include "JsonHeaderReader.h"

#include "TextScan.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace patchbay::protocol {

namespace {

bool isDigit(char c) noexcept {
    return c >= '0' && c <= '9';
}

bool isKeyCharacter(char c) noexcept {
    const char lower = static_cast<char>(c | 0x20);
    const bool letter = (lower >= 'a' && lower <= 'z') || static_cast<unsigned char>(c) >= 0x80;
    return letter || isDigit(c) || c == '_' || c == '$';
}

bool isNumberCharacter(char c) noexcept {
    return isDigit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// memmove for pieces that are mostly short. Each branch loads everything before it stores anything.
void moveDown(char* to, const char* from, std::size_t size) noexcept {
    const auto ends = [=](auto word) {
        auto last = word;
        std::memcpy(&word, from, sizeof word);
        std::memcpy(&last, from + size - sizeof last, sizeof last);
        std::memcpy(to, &word, sizeof word);
        std::memcpy(to + size - sizeof last, &last, sizeof last);
    };
    if (size > 16) {
        std::memmove(to, from, size);
    } else if (size >= 8) {
        ends(std::uint64_t{});
    } else if (size >= 4) {
        ends(std::uint32_t{});
    } else {
        for (std::size_t i = 0; i < size; ++i)
            to[i] = from[i];
    }
}

}  // namespace

bool JsonHeaderReader::fail(const char* problem) noexcept {
    if (problem_ == nullptr) problem_ = problem;
    return false;
}

Status JsonHeaderReader::read() {
    const bool good = [this] {
        if (!isAscii(begin_, end_) && !isUtf8({begin_, static_cast<std::size_t>(end_ - begin_)})) {
            return fail("it is not UTF-8");
        }
        skipSpace();
        if (at_ == end_ || *at_ != '{') return fail("it is not an object");
        if (!readObject([this](Range key) { return readMember(key); })) return false;
        skipSpace();
        return at_ == end_ || fail("something follows the object");
    }();
    if (good) [[likely]]
        return Status::ok();
    return {StatusCode::Corrupt, "JSON header refused at byte " + std::to_string(at_ - begin_) + ": " + problem_};
}

// Stands on '{'; ends behind '}'.
template <typename OnMember>
bool JsonHeaderReader::readObject(OnMember onMember) {
    ++at_;
    while (true) {
        skipSpace();
        while (at_ < end_ && *at_ == ',') {
            ++at_;
            skipSpace();
        }
        if (at_ == end_) return fail("the object does not end");
        if (*at_ == '}') {
            ++at_;
            return true;
        }
        Range key{};
        if (!readKey(key)) return false;
        skipSpace();
        if (at_ == end_ || *at_ != ':') return fail("a colon is missing");
        ++at_;
        skipSpace();
        if (at_ == end_) return fail("a value is missing");
        if (!onMember(key)) return false;
        skipSpace();
        if (at_ == end_) return fail("the object does not end");
        if (*at_ != ',' && *at_ != '}') return fail("a comma is missing");
    }
}

JsonHeaderReader::Member JsonHeaderReader::memberOf(std::string_view key) noexcept {
    switch (key.size()) {
        case 4:
            if (key == "code") return Member::Code;
            if (key == "flag") return Member::Flag;
            break;
        case 6:
            if (key == "opaque") return Member::Opaque;
            if (key == "remark") return Member::Remark;
            break;
        case 7:
            if (key == "version") return Member::Version;
            break;
        case 8:
            if (key == "language") return Member::Language;
            break;
        case 9:
            if (key == "extFields") return Member::ExtFields;
            break;
        default:
            break;
    }
    // Other spellings: any case, with underscores or hyphens.
    std::array<char, 9> plain{};
    std::size_t size = 0;
    for (const char c : key) {
        if (c == '_' || c == '-') continue;
        if (size == plain.size()) return Member::Unknown;
        plain[size++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    }
    const std::string_view name(plain.data(), size);
    if (name == "code") return Member::Code;
    if (name == "flag") return Member::Flag;
    if (name == "opaque") return Member::Opaque;
    if (name == "remark") return Member::Remark;
    if (name == "version") return Member::Version;
    if (name == "language") return Member::Language;
    if (name == "extfields") return Member::ExtFields;
    return Member::Unknown;
}

bool JsonHeaderReader::readMember(Range key) {
    bool present = false;
    Range ignored{};
    switch (memberOf(text(key))) {
        case Member::Code:
            return readInt(out_.code, present);
        case Member::Flag:
            return readInt(out_.flag, present);
        case Member::Version:
            return readInt(out_.version, present);
        case Member::Opaque:
            return readInt(out_.opaque, out_.hasOpaque);
        case Member::Language:
            return readLanguage();
        case Member::Remark:
            return readText(out_.remark_);
        case Member::ExtFields:
            return readFields();
        case Member::Unknown:
            return readText(ignored);
    }
    return false;
}

bool JsonHeaderReader::readFields() {
    out_.clearFields();
    if (*at_ != '{') return takeWord("null") || fail("extFields is not an object");
    out_.hasFields = true;
    if (readPlainFields()) return true;
    if (problem_ != nullptr) return false;
    return readObject([this](Range key) {
        Range value{};
        if (!readText(value)) return false;
        return out_.addField(key, value) || fail("too many fields");
    });
}

// The form in which Java writes them, {"key":"value","key":"value"}: most of a hot header, so read with everything in
// registers. Stops in front of the first field that looks otherwise, as if the object began there. True when it ended.
bool JsonHeaderReader::readPlainFields() {
    char* at = at_;
    while (end_ - at > 1 && at[1] == '"') {
        char* const key = at + 2;
        char* const keyEnd = findQuote(key);
        if (end_ - keyEnd < 4 || keyEnd[0] != '"' || keyEnd[1] != ':' || keyEnd[2] != '"') break;
        char* const value = keyEnd + 3;
        char* const valueEnd = findQuote(value);
        if (valueEnd == end_) break;
        Range valueRange = range(value, valueEnd);
        char* next = valueEnd + 1;
        if (*valueEnd == '\\') {
            if (!unescapeFrom(value, valueEnd, '"', valueRange)) return false;
            next = at_;
        }
        if (!out_.addField(range(key, keyEnd), valueRange)) return fail("too many fields");
        at_ = next;
        if (at_ < end_ && *at_ != ',' && *at_ != '}') skipSpace();
        if (at_ == end_) return fail("the object does not end");
        if (*at_ == '}') {
            ++at_;
            return true;
        }
        if (*at_ != ',') return fail("a comma is missing");
        at = at_;
    }
    return false;
}

bool JsonHeaderReader::readLanguage() {
    if (*at_ == '"' || *at_ == '\'') {
        Range name{};
        if (!readString(name)) return false;
        out_.language = languageOf(text(name));
        return true;
    }
    std::int64_t number = 0;
    switch (readNumber(number)) {
        case Number::Value:
            out_.language = languageOf(number);
            return true;
        case Number::Null:
            out_.language = Language::Other;
            return true;
        case Number::Bad:
            break;
    }
    return fail("language is neither a name nor a number");
}

bool JsonHeaderReader::readInt(std::int32_t& out, bool& present) {
    std::int64_t number = 0;
    if (*at_ == '"' || *at_ == '\'') {
        Range digits{};
        if (!readString(digits)) return false;
        const std::string_view inside = text(digits);
        if (inside.empty() || inside == "null") return true;
        const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), number);
        if (error != std::errc{} || end != inside.data() + inside.size()) return fail("a number is expected");
    } else {
        switch (readNumber(number)) {
            case Number::Value:
                break;
            case Number::Null:
                return true;
            case Number::Bad:
                return fail("a number is expected");
        }
    }
    if (number < INT32_MIN || number > INT32_MAX) return fail("a number exceeds 32 bits");
    out = static_cast<std::int32_t>(number);
    present = true;
    return true;
}

JsonHeaderReader::Number JsonHeaderReader::readNumber(std::int64_t& out) {
    if (isDigit(*at_) || *at_ == '-') {
        const auto [end, error] = std::from_chars(at_, end_, out);
        if (error == std::errc{} && (end == end_ || !isNumberCharacter(*end))) {
            at_ += end - at_;
            return Number::Value;
        }
        double real = 0;
        const auto [realEnd, realError] = std::from_chars(at_, end_, real);
        if (realError != std::errc{} || !(std::fabs(real) < 9e18)) return Number::Bad;
        at_ += realEnd - at_;
        out = static_cast<std::int64_t>(real);
        return Number::Value;
    }
    if (takeWord("null")) return Number::Null;
    out = takeWord("true") ? 1 : 0;
    return out == 1 || takeWord("false") ? Number::Value : Number::Bad;
}

bool JsonHeaderReader::readKey(Range& out) {
    if (*at_ == '"' || *at_ == '\'') return readString(out);
    const char* const start = at_;
    while (at_ < end_ && isKeyCharacter(*at_))
        ++at_;
    if (at_ == start) return fail("a key is expected");
    out = range(start, at_);
    return true;
}

bool JsonHeaderReader::readText(Range& out) {
    const char* const start = at_;
    const char first = *at_;
    if (first == '"' || first == '\'') return readString(out);
    if (first == '{' || first == '[') {
        if (!skipNested()) return false;
    } else if (isDigit(first) || first == '-') {
        if (first == '-') ++at_;
        if (at_ == end_ || !isDigit(*at_)) return fail("a number is broken");
        while (at_ < end_ && isNumberCharacter(*at_))
            ++at_;
    } else if (takeWord("null")) {
        out = {CommandView::kNull, 0};
        return true;
    } else if (!takeWord("true") && !takeWord("false")) {
        return fail("a value is expected");
    }
    out = range(start, at_);
    return true;
}

bool JsonHeaderReader::readString(Range& out) {
    const char quote = *at_;
    char* const start = at_ + 1;
    char* const special = findSpecial(start, quote);
    if (special == end_) return fail("a string does not end");
    if (*special == '\\') [[unlikely]]
        return unescapeFrom(start, special, quote, out);
    at_ = special + 1;
    out = range(start, special);
    return true;
}

// Moves the rest of the string down over the escapes; what an escape stands for is never longer than the escape.
bool JsonHeaderReader::unescapeFrom(char* start, char* backslash, char quote, Range& out) {
    char* to = backslash;
    const char* from = backslash;
    while (true) {
        if (from == end_) return fail("a string does not end");
        if (*from == quote) break;
        if (*from == '\\') {
            ++from;
            if (!unescapeOne(from, to)) {
                at_ = start;
                return fail("an escape is broken");
            }
            continue;
        }
        const char* const special = findEither(from, end_, readable_, quote, '\\');
        moveDown(to, from, static_cast<std::size_t>(special - from));
        to += special - from;
        from = special;
    }
    at_ += from + 1 - at_;
    out = range(start, to);
    return true;
}

bool JsonHeaderReader::takeWord(std::string_view word) noexcept {
    if (static_cast<std::size_t>(end_ - at_) < word.size()) return false;
    if (std::memcmp(at_, word.data(), word.size()) != 0) return false;
    if (at_ + word.size() < end_ && isKeyCharacter(at_[word.size()])) return false;
    at_ += word.size();
    return true;
}

char* JsonHeaderReader::findSpecial(char* from, char quote) const noexcept {
    return from + (findEither(from, end_, readable_, quote, '\\') - from);
}

bool JsonHeaderReader::skipString() {
    const char quote = *at_++;
    while (true) {
        at_ = findSpecial(at_, quote);
        if (at_ == end_) return fail("a string does not end");
        if (*at_++ == quote) return true;
        if (at_ == end_) return fail("a string does not end");
        ++at_;
    }
}

// Walks over an array or object without recursion; nobody needs more than 64 levels here.
bool JsonHeaderReader::skipNested() {
    std::uint64_t objects = 0;
    unsigned depth = 0;
    while (at_ < end_) {
        const char c = *at_;
        if (c == '"' || c == '\'') {
            if (!skipString()) return false;
            continue;
        }
        ++at_;
        if (c == '{' || c == '[') {
            if (++depth > 64) return fail("a value is nested too deeply");
            objects = objects << 1 | (c == '{' ? 1U : 0U);
        } else if (c == '}' || c == ']') {
            if ((objects & 1U) != (c == '}' ? 1U : 0U)) return fail("brackets do not match");
            objects >>= 1;
            if (--depth == 0) return true;
        }
    }
    return fail("a value does not end");
}

}  // namespace patchbay::protocol
