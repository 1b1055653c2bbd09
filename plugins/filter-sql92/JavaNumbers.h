// Numbers in texts as Java's Integer, Long and Double read them, and as Double compares.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::plugins::filter {

/// Integer.valueOf and Long.valueOf: a sign and decimal digits, nothing around them. Nothing for anything else.
[[nodiscard]] std::optional<std::int32_t> javaInt(std::string_view text) noexcept;
[[nodiscard]] std::optional<std::int64_t> javaLong(std::string_view text) noexcept;
/// Double.valueOf: blanks around it, NaN, Infinity, hexadecimal numbers with an exponent, and a last f or d are allowed.
/// Allocates nothing.
[[nodiscard]] std::optional<double> javaDouble(std::string_view text) noexcept;

/// Double.compareTo: -0.0 is below 0.0, NaN equals itself and is above all others.
[[nodiscard]] int compareDoubles(double left, double right) noexcept;

}  // namespace patchbay::plugins::filter
