// UTF-8 seen as Java sees it: a sequence of UTF-16 code units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::protocol {

/// Takes the next code point off `rest`, which must not be empty. Bytes that are not UTF-8 give U+FFFD once for each
/// longest piece that could have begun a character, as Java's decoder does.
[[nodiscard]] char32_t nextCodePoint(std::string_view& rest) noexcept;

/// Appends the code point as UTF-8. A lone surrogate becomes '?', as in Java's encoder.
void appendUtf8(std::string& out, char32_t codePoint);

/// Number of UTF-16 code units: what String.length() says in Java.
[[nodiscard]] std::size_t utf16Length(std::string_view text) noexcept;

}  // namespace patchbay::protocol
