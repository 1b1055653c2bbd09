#include "Lexer.h"

#include <algorithm>
#include <utility>

namespace patchbay::plugins::filter {

namespace {

bool isDigit(char c) noexcept { return c >= '0' && c <= '9'; }
bool isNameStart(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
bool isNamePart(char c) noexcept { return isNameStart(c) || isDigit(c); }

template <typename Predicate>
std::size_t countWhile(std::string_view text, Predicate predicate) noexcept {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, predicate) - text.begin());
}

constexpr std::pair<std::string_view, TokenKind> kWords[] = {
    {"NOT", TokenKind::Not},     {"AND", TokenKind::And},           {"OR", TokenKind::Or},
    {"IN", TokenKind::In},       {"IS", TokenKind::Is},             {"BETWEEN", TokenKind::Between},
    {"TRUE", TokenKind::True},   {"FALSE", TokenKind::False},       {"NULL", TokenKind::Null},
    {"CONTAINS", TokenKind::Contains}, {"STARTSWITH", TokenKind::StartsWith}, {"ENDSWITH", TokenKind::EndsWith},
};

bool isWord(std::string_view text, std::string_view upper) noexcept {
    return std::ranges::equal(text, upper, [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; });
}

TokenKind kindOfName(std::string_view name) noexcept {
    for (const auto& [word, kind] : kWords) {
        if (isWord(name, word)) return kind;
    }
    return TokenKind::Name;
}

/// The length of a text with its quotes; two quotes inside stand for one. One that does not end is as long as it can be when the
/// last two quotes are taken apart; 0 when there are none.
std::size_t textSize(std::string_view text) noexcept {
    std::size_t at = 1;
    std::size_t apart = 0;
    while (at < text.size()) {
        if (text[at] != '\'') {
            ++at;
        } else if (at + 1 < text.size() && text[at + 1] == '\'') {
            apart = at + 1;
            at += 2;
        } else {
            return at + 1;
        }
    }
    return apart;
}

}  // namespace

Token Lexer::next() noexcept {
    skipBlanksAndComments();
    const std::string_view rest = text_.substr(at_);
    if (rest.empty()) return {TokenKind::End, rest, at_};
    Token token;
    if (isNameStart(rest[0])) {
        token = take(TokenKind::Name, countWhile(rest, isNamePart));
        token.kind = kindOfName(token.image);
    } else if (isDigit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && isDigit(rest[1]))) {
        token = number();
    } else if (rest[0] == '\'' && textSize(rest) != 0) {
        token = take(TokenKind::Text, textSize(rest));
    } else {
        token = symbol();
    }
    at_ += token.image.size();
    return token;
}

void Lexer::skipBlanksAndComments() noexcept {
    while (at_ < text_.size()) {
        const std::size_t blanks = countWhile(text_.substr(at_), [](char c) {
            return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
        });
        const std::size_t before = at_;
        at_ += blanks;
        at_ += commentSize();
        if (at_ == before) return;
    }
}

std::size_t Lexer::commentSize() const noexcept {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("--")) {
        // Without a line break it is no comment but two signs.
        const std::size_t end = rest.find_first_of("\r\n");
        return end == std::string_view::npos ? 0 : end + 1;
    }
    if (rest.starts_with("/*")) {
        const std::size_t end = rest.find("*/", 2);
        return end == std::string_view::npos ? 0 : end + 2;
    }
    return 0;
}

Token Lexer::number() const noexcept {
    const std::string_view rest = text_.substr(at_);
    const std::size_t digits = countWhile(rest, isDigit);
    std::size_t size = digits;
    bool fraction = false;
    if (size < rest.size() && rest[size] == '.') {
        fraction = true;
        size += 1 + countWhile(rest.substr(size + 1), isDigit);
    }
    if (size + 1 < rest.size() && (rest[size] | 0x20) == 'e') {
        const std::size_t sign = rest[size + 1] == '+' || rest[size + 1] == '-' ? 1 : 0;
        const std::size_t exponent = countWhile(rest.substr(size + 1 + sign), isDigit);
        if (exponent > 0) {
            fraction = true;
            size += 1 + sign + exponent;
        }
    }
    if (fraction) return take(TokenKind::Fraction, size);
    // A whole number does not begin with a zero, unless it is one.
    size = rest[0] == '0' ? 1 : digits;
    if (size < rest.size() && (rest[size] | 0x20) == 'l') ++size;
    return take(TokenKind::Whole, size);
}

Token Lexer::symbol() const noexcept {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("<>")) return take(TokenKind::NotEqual, 2);
    if (rest.starts_with("<=")) return take(TokenKind::LessEqual, 2);
    if (rest.starts_with(">=")) return take(TokenKind::GreaterEqual, 2);
    switch (rest[0]) {
        case '=': return take(TokenKind::Equal, 1);
        case '<': return take(TokenKind::Less, 1);
        case '>': return take(TokenKind::Greater, 1);
        case '(': return take(TokenKind::Open, 1);
        case ')': return take(TokenKind::Close, 1);
        case ',': return take(TokenKind::Comma, 1);
        case '+': return take(TokenKind::Plus, 1);
        case '-': return take(TokenKind::Minus, 1);
        default: return take(TokenKind::Bad, 1);
    }
}

}  // namespace patchbay::plugins::filter
