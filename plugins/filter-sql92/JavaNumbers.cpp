#include "JavaNumbers.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace patchbay::plugins::filter {

namespace {

template <typename T>
std::optional<T> javaInteger(std::string_view text) noexcept {
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    T value{};
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || last != end) return std::nullopt;
    return value;
}

bool isDigit(char c) noexcept { return c >= '0' && c <= '9'; }

std::size_t countDigits(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, isDigit) - text.begin());
}

/// The length of an exponent at the beginning of the text; 0 when there is none.
std::size_t exponentSize(std::string_view text, char letter) noexcept {
    if (text.size() < 2 || (text[0] | 0x20) != letter) return 0;
    const std::size_t sign = text[1] == '+' || text[1] == '-' ? 1 : 0;
    const std::size_t digits = countDigits(text.substr(1 + sign));
    return digits == 0 ? 0 : 1 + sign + digits;
}

/// The library knows no result beyond the range; Java rounds there.
double beyondRange(bool large) noexcept { return large ? std::numeric_limits<double>::infinity() : 0.0; }

/// Whether a number that does not fit is too large, not too small: by the place of its first digit that is not zero.
bool isLarge(std::string_view mantissa, std::string_view exponent) noexcept {
    std::int64_t place = 0;
    bool fraction = false;
    bool seen = false;
    for (const char c : mantissa) {
        if (c == '.') {
            fraction = true;
        } else if (seen) {
            place += fraction ? 0 : 1;
        } else if (c != '0') {
            seen = true;
        } else {
            place -= fraction ? 1 : 0;
        }
    }
    if (exponent.size() > 1) {
        const bool negative = exponent[1] == '-';
        const std::string_view digits = exponent.substr(exponent[1] == '+' || negative ? 2 : 1);
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error == std::errc::result_out_of_range) return !negative;
        place += negative ? -value : value;
    }
    return place > 0;
}

std::optional<double> decimal(std::string_view text) noexcept {
    const std::size_t whole = countDigits(text);
    std::size_t size = whole;
    std::size_t fraction = 0;
    if (size < text.size() && text[size] == '.') {
        fraction = countDigits(text.substr(size + 1));
        size += 1 + fraction;
    }
    if (whole + fraction == 0) return std::nullopt;
    const std::string_view mantissa = text.substr(0, size);
    const std::size_t exponent = exponentSize(text.substr(size), 'e');
    size += exponent;
    const std::string_view rest = text.substr(size);
    if (!rest.empty() && (rest.size() > 1 || ((rest[0] | 0x20) != 'f' && (rest[0] | 0x20) != 'd'))) return std::nullopt;

    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + size, value);
    if (error == std::errc::result_out_of_range) return beyondRange(isLarge(mantissa, text.substr(mantissa.size(), exponent)));
    if (error != std::errc() || end != text.data() + size) return std::nullopt;
    return value;
}

std::optional<double> hexadecimal(std::string_view text) noexcept {
    const std::size_t dot = text.find('.');
    const std::size_t mantissa = std::min(text.find_first_of("pP"), text.size());
    const bool digits = dot < mantissa ? mantissa > 1 : mantissa > 0;
    const std::size_t exponent = exponentSize(text.substr(mantissa), 'p');
    const std::string_view rest = text.substr(mantissa + exponent);
    if (!digits || exponent == 0) return std::nullopt;
    if (!rest.empty() && (rest.size() > 1 || ((rest[0] | 0x20) != 'f' && (rest[0] | 0x20) != 'd'))) return std::nullopt;
    double value = 0;
    const char* const last = text.data() + mantissa + exponent;
    const auto [end, error] = std::from_chars(text.data(), last, value, std::chars_format::hex);
    if (error == std::errc::result_out_of_range) return beyondRange(text[mantissa + 1] != '-');
    if (error != std::errc() || end != last) return std::nullopt;
    return value;
}

}  // namespace

std::optional<std::int32_t> javaInt(std::string_view text) noexcept { return javaInteger<std::int32_t>(text); }
std::optional<std::int64_t> javaLong(std::string_view text) noexcept { return javaInteger<std::int64_t>(text); }

std::optional<double> javaDouble(std::string_view text) noexcept {
    const auto isBlank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    while (!text.empty() && isBlank(text.front())) text.remove_prefix(1);
    while (!text.empty() && isBlank(text.back())) text.remove_suffix(1);
    bool negative = false;
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
        negative = text.front() == '-';
        text.remove_prefix(1);
    }
    std::optional<double> value;
    if (text == "NaN") {
        value = std::numeric_limits<double>::quiet_NaN();
    } else if (text == "Infinity") {
        value = std::numeric_limits<double>::infinity();
    } else if (text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        value = hexadecimal(text.substr(2));
    } else {
        value = decimal(text);
    }
    if (value && negative) value = -*value;
    return value;
}

int compareDoubles(double left, double right) noexcept {
    if (left < right) return -1;
    if (left > right) return 1;
    const bool leftNan = std::isnan(left);
    const bool rightNan = std::isnan(right);
    if (leftNan || rightNan) return static_cast<int>(leftNan) - static_cast<int>(rightNan);
    return static_cast<int>(std::signbit(right)) - static_cast<int>(std::signbit(left));
}

}  // namespace patchbay::plugins::filter
