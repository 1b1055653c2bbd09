// JsonHeaderReader: reads a JSON header into a CommandView.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/protocol/CommandView.h"

#include <cstdint>

namespace patchbay::protocol {

/// A scanner for the one object that a header is, as lenient as Apache's server (fastjson) and no more: member names in
/// any case, unquoted keys, single quotes, numbers as strings, field values of any type. One pass, no allocation.
/// Lives for one call of CommandView::decode, on its stack.
class JsonHeaderReader {
public:
    /// The header is [begin, end). Bytes up to `readable`, the end of the frame, may be looked at but mean nothing.
    JsonHeaderReader(char* begin, char* end, const char* readable, CommandView& out) noexcept
        : begin_(begin), at_(begin), end_(end), readable_(readable), out_(out) {}

    Status read();

private:
    using Range = CommandView::Range;
    enum class Member : std::uint8_t { Code, ExtFields, Flag, Language, Opaque, Remark, Version, Unknown };
    enum class Number : std::uint8_t { Value, Null, Bad };

    static Member memberOf(std::string_view key) noexcept;
    bool fail(const char* problem) noexcept;
    template <typename OnMember>
    bool readObject(OnMember onMember);
    bool readMember(Range key);
    bool readFields();
    bool readPlainFields();
    bool readLanguage();
    bool readInt(std::int32_t& out, bool& present);
    Number readNumber(std::int64_t& out);
    bool readKey(Range& out);
    /// Any value as text: a string's content, otherwise the JSON text; null becomes kNull.
    bool readText(Range& out);
    bool readString(Range& out);
    bool unescapeFrom(char* start, char* backslash, char quote, Range& out);
    bool unescapeOne(const char*& from, char*& to);
    bool unescapeUnicode(const char*& from, char*& to);
    bool skipNested();
    bool skipString();
    bool takeWord(std::string_view word) noexcept;
    char* findSpecial(char* from, char quote) const noexcept;
    char* findQuote(char* from) const noexcept {
        // Strings of one character (a send's keys, small numbers) are so common that a look pays before the wide scan.
        if (end_ - from > 1 && from[1] == '"' && from[0] != '"' && from[0] != '\\') return from + 1;
        return findSpecial(from, '"');
    }
    void skipSpace() noexcept {
        while (at_ < end_ && static_cast<unsigned char>(*at_) <= ' ' && isSpace(*at_))
            ++at_;
    }
    static bool isSpace(char c) noexcept {
        return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\b';
    }

    [[nodiscard]] Range range(const char* from, const char* to) const noexcept {
        return {static_cast<std::uint32_t>(from - begin_), static_cast<std::uint32_t>(to - from)};
    }
    [[nodiscard]] std::string_view text(Range r) const noexcept { return {begin_ + r.offset, r.size}; }

    char* const begin_;
    char* at_;
    char* const end_;
    const char* const readable_;
    CommandView& out_;
    const char* problem_ = nullptr;
};

}  // namespace patchbay::protocol
