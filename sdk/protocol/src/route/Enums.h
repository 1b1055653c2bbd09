// Enumerators in bodies: by name in any case, or by ordinal.
#pragma once

#include "patchbay/protocol/json/Value.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace patchbay::protocol {

[[nodiscard]] inline bool sameIgnoringCase(std::string_view a, std::string_view b) noexcept {
    const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (upper(a[i]) != upper(b[i])) return false;
    }
    return true;
}

template <typename E, std::size_t N>
[[nodiscard]] std::optional<E> enumOf(std::string_view text, const std::array<std::string_view, N>& names) noexcept {
    for (std::size_t i = 0; i < N; ++i) {
        if (sameIgnoringCase(text, names[i])) return static_cast<E>(i);
    }
    std::size_t ordinal = N;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
    if (error != std::errc() || end != text.data() + text.size() || ordinal >= N) return std::nullopt;
    return static_cast<E>(ordinal);
}

/// Absent for everything that names none.
template <typename E, std::size_t N>
[[nodiscard]] std::optional<E> enumOf(json::Value value, const std::array<std::string_view, N>& names) noexcept {
    if (const auto text = value.string()) return enumOf<E>(*text, names);
    const auto ordinal = value.integer();
    if (!ordinal || *ordinal < 0 || *ordinal >= static_cast<std::int64_t>(N)) return std::nullopt;
    return static_cast<E>(*ordinal);
}

}  // namespace patchbay::protocol
