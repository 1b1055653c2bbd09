#include "patchbay/protocol/json/Value.h"

#include <charconv>
#include <cmath>

namespace patchbay::json {
namespace {

std::optional<std::int64_t> wholeNumber(double value) noexcept {
    // Both bounds are exact as doubles; the upper one is the first that does not fit.
    if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0) || value != std::trunc(value)) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(value);
}

template <typename T>
std::optional<T> parseWhole(std::string_view text) noexcept {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool equalsIgnoringCase(std::string_view text, std::string_view lower) noexcept {
    if (text.size() != lower.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != lower[i]) return false;
    }
    return true;
}

}  // namespace

Value::Value(const Node* node) noexcept : node_(node) {
    // A reference leads to a value that holds none itself, so one step is enough.
    if (node_ != nullptr && node_->type == Type::Ref) node_ = node_->length == 0 ? nullptr : node_ - node_->length;
}

std::optional<std::int64_t> Value::integer() const noexcept {
    switch (type()) {
        case Type::Integer:
            return node_->as.integer;
        case Type::Double:
            return wholeNumber(node_->as.number);
        case Type::String:
            return parseWhole<std::int64_t>({node_->as.text, node_->length});
        default:
            return std::nullopt;
    }
}

std::optional<double> Value::number() const noexcept {
    switch (type()) {
        case Type::Integer:
            return static_cast<double>(node_->as.integer);
        case Type::Double:
            return node_->as.number;
        case Type::String:
            return parseWhole<double>({node_->as.text, node_->length});
        default:
            return std::nullopt;
    }
}

std::optional<bool> Value::boolean() const noexcept {
    if (type() == Type::Bool) return node_->as.integer != 0;
    if (type() == Type::Integer && (node_->as.integer == 0 || node_->as.integer == 1)) return node_->as.integer == 1;
    if (const auto word = string()) {
        if (equalsIgnoringCase(*word, "true") || *word == "1") return true;
        if (equalsIgnoringCase(*word, "false") || *word == "0") return false;
    }
    return std::nullopt;
}

std::optional<std::string_view> Value::string() const noexcept {
    if (type() != Type::String) return std::nullopt;
    return std::string_view(node_->as.text, node_->length);
}

std::optional<std::string> Value::text() const {
    switch (type()) {
        case Type::String:
            return std::string(node_->as.text, node_->length);
        case Type::Bool:
            return node_->as.integer != 0 ? "true" : "false";
        case Type::Integer:
            return std::to_string(node_->as.integer);
        case Type::Double: {
            char buffer[32];
            const auto end = std::to_chars(buffer, buffer + sizeof buffer, node_->as.number).ptr;
            return std::string(buffer, end);
        }
        default:
            return std::nullopt;
    }
}

Value Value::operator[](std::string_view key) const noexcept {
    if (!isObject()) return {};
    const Node* found = nullptr;
    const Node* at = node_ + 1;
    for (std::uint32_t i = 0; i < node_->count; ++i, at += at->span) {
        if (at->key == key) found = at;
    }
    return Value(found);
}

std::size_t Value::size() const noexcept {
    return isObject() || isArray() ? node_->count : 0;
}

Value::Iterator Value::begin() const noexcept {
    return Iterator(isObject() || isArray() ? node_ + 1 : nullptr);
}

Value::Iterator Value::end() const noexcept {
    return Iterator(isObject() || isArray() ? node_ + node_->span : nullptr);
}

}  // namespace patchbay::json
