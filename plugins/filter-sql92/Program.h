// Program: a compiled selector, and what it makes of a message's properties.
#pragma once

#include "patchbay/service/MessageFilter.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::filter {

/// What an expression can be while it is evaluated: Java's Boolean, Integer, Long, Double, String and null. Left without a value
/// on purpose, because a stack of them is made for each evaluation.
struct Value {
    enum class Kind : std::uint8_t { Null, Boolean, Int, Long, Double, Text };
    Kind kind;
    std::uint32_t size;       ///< of a text
    union {
        std::int64_t number;  ///< Int, Long; Boolean as 0 and 1
        double real;
        const char* text;
    };

    static Value null() noexcept { return {Kind::Null, 0, {0}}; }
    static Value boolean(bool is) noexcept { return {Kind::Boolean, 0, {is ? 1 : 0}}; }
    static Value integer(Kind kind, std::int64_t number) noexcept { return {kind, 0, {number}}; }
    static Value ofDouble(double real) noexcept;
    static Value ofText(std::string_view text) noexcept;

    [[nodiscard]] bool isNull() const noexcept { return kind == Kind::Null; }
    [[nodiscard]] bool isTrue() const noexcept { return kind == Kind::Boolean && number != 0; }
    [[nodiscard]] bool isFalse() const noexcept { return kind == Kind::Boolean && number == 0; }
    [[nodiscard]] std::string_view view() const noexcept { return {text, size}; }
};

enum class Op : std::uint8_t {
    Property,    ///< push the value of names[arg], or null
    Constant,    ///< push constants[arg]
    Negate, Not,
    AsBoolean,   ///< a bare property where a condition is needed: never true
    Equal, Less, LessEqual, Greater, GreaterEqual,
    In,          ///< one of lists[arg]
    Contains, StartsWith, EndsWith,            ///< texts[arg]
    NotContains, NotStartsWith, NotEndsWith,   ///< these are no negations: all of them are false of an absent property
    SkipIfFalse, SkipIfTrue,                   ///< leave it as the result and go on `arg` steps further
    And, Or,
};

struct Step {
    Op op;
    std::uint32_t arg = 0;
};

/// Steps on a stack of values. Made by the Compiler, constant afterwards, shared by all that filter with it.
class Program final : public service::PropertyFilter {
public:
    /// How many values lie on the stack at most; it is on the thread's stack.
    static constexpr std::size_t kStackMax = 256;

    enum class Outcome : std::uint8_t { False, True, Null, Error };

    [[nodiscard]] bool matches(std::string_view properties) const noexcept override {
        return evaluate(properties) == Outcome::True;
    }
    [[nodiscard]] Outcome evaluate(std::string_view properties) const noexcept;

private:
    friend class Compiler;
    Program() = default;
    ~Program() override = default;
    static std::string_view lookUp(std::string_view properties, std::string_view name) noexcept;
    void lookUpAll(std::string_view properties, std::string_view* found) const noexcept;

    /// So many properties are looked for in one pass over the text, the rest one by one when they are needed.
    static constexpr std::size_t kInOnePass = 16;

    std::vector<std::string> names_;                     // each once
    std::vector<Step> steps_;
    std::vector<Value> constants_;                       // texts point into texts_
    std::deque<std::string> texts_;
    std::vector<std::vector<std::string_view>> lists_;   // sorted; views into texts_
};

}  // namespace patchbay::plugins::filter
