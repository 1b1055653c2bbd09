// Java's String.hashCode() over UTF-8 text, and the tags code built from it.
#pragma once

#include <cstdint>
#include <string_view>

namespace patchbay::protocol {

/// String.hashCode() of the text: 31-polynomial over its UTF-16 code units, wrapping at 32 bits. ASCII is quick.
/// With `before`, the hash of a text, it is the hash of that text followed by this one.
[[nodiscard]] std::int32_t javaHashCode(std::string_view utf8, std::int32_t before = 0) noexcept;

/// The code by which a message's TAGS value is indexed; 0 when there is no tag.
[[nodiscard]] inline std::int64_t tagsCode(std::string_view tags) noexcept {
    return tags.empty() ? 0 : javaHashCode(tags);
}

}  // namespace patchbay::protocol
