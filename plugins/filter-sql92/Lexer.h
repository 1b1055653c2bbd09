// Lexer: an SQL92 selector as tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace patchbay::plugins::filter {

enum class TokenKind : std::uint8_t {
    End, Bad,
    Name, Text, Whole, Fraction,
    Not, And, Or, Between, In, True, False, Null, Is, Contains, StartsWith, EndsWith,
    Equal, NotEqual, Greater, GreaterEqual, Less, LessEqual, Open, Close, Comma, Plus, Minus,
};

/// A view into the selector. Text includes its quotes; Bad is one byte that begins no token.
struct Token {
    TokenKind kind = TokenKind::End;
    std::string_view image;
    std::size_t at = 0;   ///< offset in bytes
};

/// Reads tokens as RocketMQ's grammar does: the longest one counts, key words in any case. One thread.
class Lexer {
public:
    explicit Lexer(std::string_view text) noexcept : text_(text) {}
    Token next() noexcept;

private:
    void skipBlanksAndComments() noexcept;
    [[nodiscard]] std::size_t commentSize() const noexcept;
    [[nodiscard]] Token number() const noexcept;
    [[nodiscard]] Token symbol() const noexcept;
    [[nodiscard]] Token take(TokenKind kind, std::size_t size) const noexcept { return {kind, text_.substr(at_, size), at_}; }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace patchbay::plugins::filter
