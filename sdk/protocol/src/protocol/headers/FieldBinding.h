// FieldParser and FieldEmitter: a header structure names its fields once, for reading and for writing.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::protocol {

/// What Java's parseInt and parseLong accept: an optional sign and decimal digits, nothing else, in range.
template <typename T>
[[nodiscard]] bool parseNumber(std::string_view text, T& out) noexcept {
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, out);
    return error == std::errc{} && last == end;
}

/// Java's parseBoolean: "true" in any case, everything else is false.
[[nodiscard]] bool parseBool(std::string_view text) noexcept;

[[nodiscard]] Status missingField(std::string_view key);
[[nodiscard]] Status badNumber(std::string_view key, std::string_view value);

/// Reads named fields of a command; keeps the first problem. Lives for one parse().
class FieldParser {
public:
    explicit FieldParser(const CommandView& command) noexcept : command_(command) {}

    void required(std::string_view key, std::string_view& out) {
        if (const auto value = need(key)) out = *value;
    }
    void required(std::string_view key, bool& out) {
        if (const auto value = need(key)) out = parseBool(*value);
    }
    template <typename T>
    void required(std::string_view key, T& out) {
        if (const auto value = need(key)) number(key, *value, out);
    }

    void optional(std::string_view key, std::string_view& out) {
        if (const auto value = command_.find(key)) out = *value;
    }
    void optional(std::string_view key, bool& out) {
        if (const auto value = command_.find(key)) out = parseBool(*value);
    }
    void optional(std::string_view key, std::optional<bool>& out) {
        if (const auto value = command_.find(key)) out = parseBool(*value);
    }
    /// An empty text counts as absent.
    template <typename T>
    void optional(std::string_view key, T& out) {
        const auto value = command_.find(key);
        if (value && !value->empty()) number(key, *value, out);
    }
    template <typename T>
    void optional(std::string_view key, std::optional<T>& out) {
        const auto value = command_.find(key);
        if (value && !value->empty()) number(key, *value, out.emplace());
    }

    Status take() noexcept { return std::move(problem_); }

private:
    std::optional<std::string_view> need(std::string_view key) {
        std::optional<std::string_view> value = command_.find(key);
        if (!value && problem_.isOk()) problem_ = missingField(key);
        return value;
    }
    template <typename T>
    void number(std::string_view key, std::string_view text, T& out) {
        if (!parseNumber(text, out) && problem_.isOk()) problem_ = badNumber(key, text);
    }

    const CommandView& command_;
    Status problem_;
};

/// The other direction: absent texts and empty optionals are left out, everything else is written.
class FieldEmitter {
public:
    explicit FieldEmitter(FieldList& fields) noexcept : fields_(fields) { fields_.markPresent(); }

    void required(std::string_view key, const auto& value) { optional(key, value); }
    void optional(std::string_view key, std::string_view value) {
        if (value.data() != nullptr) fields_.add(key, value);
    }
    void optional(std::string_view key, bool value) { fields_.add(key, value); }
    void optional(std::string_view key, std::int32_t value) { fields_.add(key, value); }
    void optional(std::string_view key, std::int64_t value) { fields_.add(key, value); }
    template <typename T>
    void optional(std::string_view key, const std::optional<T>& value) {
        if (value) fields_.add(key, *value);
    }

private:
    FieldList& fields_;
};

/// `binding` is a generic lambda that calls required() or optional() for each field of the structure.
template <typename Header, typename Binding>
Status parseInto(const CommandView& command, Header& out, const Binding& binding) {
    out = Header{};
    FieldParser parser(command);
    binding(parser, out);
    return parser.take();
}

template <typename Header, typename Binding>
Result<Header> parseHeader(const CommandView& command, const Binding& binding) {
    Header header;
    if (Status parsed = parseInto(command, header, binding); !parsed) return parsed;
    return header;
}

template <typename Header, typename Binding>
void writeHeader(const Header& header, FieldList& fields, const Binding& binding) {
    FieldEmitter emitter(fields);
    binding(emitter, header);
}

}  // namespace patchbay::protocol
