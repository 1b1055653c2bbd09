// Writes JSON as fastjson does, in the two dialects that RocketMQ peers expect and in the form of its files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::json {

enum class Dialect : std::uint8_t {
    Fastjson,  ///< bodies: bare integer keys, UTF-8 as it is
    Strict,    ///< routes for new clients: quoted keys, \uXXXX beyond ASCII, \/, integers beyond 2^53 as strings
    Pretty,    ///< configuration files: as Fastjson, with line breaks and tabs
};

/// Appends to a string of the caller, which must outlive it. Calls have to nest as JSON does; nothing checks that.
/// Alphabetical order of keys, which fastjson keeps for beans, is up to the caller. One thread.
class Writer {
public:
    explicit Writer(std::string& out, Dialect dialect = Dialect::Fastjson) : out_(out), dialect_(dialect) {}

    void beginObject();
    void endObject();
    void beginArray();
    void endArray();

    void key(std::string_view name);
    /// Bare in Fastjson and Pretty, quoted in Strict.
    void key(std::int64_t number);
    /// A key that is an object itself: its JSON, bare; in Strict as a quoted string.
    void objectKey(std::string_view json);

    void string(std::string_view utf8);
    void integer(std::int64_t value);
    /// As Double.toString() writes it: 0.0, 0.21649707728945658, 1.0E10; null when it is not finite.
    void number(double value);
    void boolean(bool value);
    void null();
    /// A value that is JSON already, in the same dialect.
    void raw(std::string_view json);

    void member(std::string_view name, std::string_view value) {
        key(name);
        string(value);
    }
    void member(std::string_view name, const char* value) {
        key(name);
        string(value);
    }
    void member(std::string_view name, const std::string& value) {
        key(name);
        string(value);
    }
    void member(std::string_view name, bool value) {
        key(name);
        boolean(value);
    }
    void member(std::string_view name, double value) {
        key(name);
        number(value);
    }
    void member(std::string_view name, std::int64_t value) {
        key(name);
        integer(value);
    }
    void member(std::string_view name, std::int32_t value) {
        key(name);
        integer(value);
    }
    void member(std::string_view name, std::uint32_t value) {
        key(name);
        integer(value);
    }

private:
    void beforeValue();
    void quote(std::string_view utf8);
    void escapeAscii(char c);
    void newLine();

    std::string& out_;
    Dialect dialect_;
    bool afterKey_ = false;
    struct Level {
        bool object;
        bool empty;
        bool lines;  // of a Pretty object: whether its end goes on a line of its own
    };
    std::vector<Level> levels_;
};

}  // namespace patchbay::json
