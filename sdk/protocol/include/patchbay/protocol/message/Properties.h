// The properties text of a message: name 0x01 value 0x02, repeated.
#pragma once

#include "patchbay/protocol/message/PropertyNames.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::protocol {

inline constexpr char kPropertyNameEnd = '\x01';
inline constexpr char kPropertyEnd = '\x02';

/// Walks over properties in the order of the text, without allocating. Reads exactly what Java reads: the last
/// 0x02 may be missing, an entry without a name or without a value does not exist, a value may contain 0x01.
/// The text must outlive the reader and what it hands out. One thread.
class PropertyReader {
public:
    explicit PropertyReader(std::string_view text) noexcept : rest_(text) {}
    /// False at the end; then the outputs are unchanged.
    bool next(std::string_view& name, std::string_view& value) noexcept;

private:
    std::string_view rest_;
};

/// The value, or an empty view: values are never empty. Of several with that name the last counts, as in Java's map.
[[nodiscard]] std::string_view findProperty(std::string_view text, std::string_view name) noexcept;

/// Whether a 0x02 has to be written before more properties are appended.
[[nodiscard]] inline bool needsPropertySeparator(std::string_view text) noexcept {
    return !text.empty() && text.back() != kPropertyEnd;
}

/// Appends one property, with a separator before it when the text lacks one. Name and value must not be empty and not
/// contain 0x01 or 0x02; nothing checks that, as nothing does in Java.
void appendProperty(std::string& text, std::string_view name, std::string_view value);

/// The bytes that appendProperty adds to a text that ends as it should.
[[nodiscard]] constexpr std::size_t propertyBytes(std::string_view name, std::string_view value) noexcept {
    return name.size() + value.size() + 2;
}

/// The text without any property of that name; other entries stay as they are, byte for byte.
[[nodiscard]] std::string withoutProperty(std::string_view text, std::string_view name);

/// Properties to be looked at and changed several times; keeps the order of first appearance. A value type that owns
/// its text; for paths that are not hot (delay, retry, transactions). One thread.
class Properties {
public:
    Properties() = default;
    explicit Properties(std::string_view text);

    /// Empty when there is none.
    [[nodiscard]] std::string_view get(std::string_view name) const noexcept;
    [[nodiscard]] bool has(std::string_view name) const noexcept { return !get(name).empty(); }
    /// An empty value removes the property.
    void set(std::string_view name, std::string_view value);
    void remove(std::string_view name);
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& entries() const noexcept { return entries_; }
    /// Every entry ends with 0x02.
    [[nodiscard]] std::string encode() const;

private:
    std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace patchbay::protocol
