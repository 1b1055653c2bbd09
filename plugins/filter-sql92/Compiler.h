// Compiler: SQL92 selectors to programs, by RocketMQ's grammar.
#pragma once

#include "Lexer.h"
#include "Program.h"

#include "patchbay/base/Result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace patchbay::plugins::filter {

struct Compiled {
    Ref<Program> program;
    std::string_view ignored;   ///< what follows the expression; RocketMQ's parser stops before it
};

/// One pass over the text: every rule of the grammar writes its steps when it ends. Lives for one compile().
class Compiler {
public:
    /// How deep brackets and signs may be nested.
    static constexpr std::size_t kNestingMax = 200;

    /// InvalidArgument says what is wrong and where.
    static Result<Compiled> compile(std::string_view selector);

private:
    /// What an operand is, as far as the grammar's checks ask.
    enum class Shape { Property, Number, Text, Truth, Null, Condition, Computed };
    struct Operand {
        Shape shape = Shape::Computed;
        std::size_t begin = 0;   ///< its first step
        Value constant = Value::null();
        [[nodiscard]] bool isConstant() const noexcept { return shape != Shape::Property && shape < Shape::Condition; }
    };

    explicit Compiler(std::string_view selector);

    bool whole();
    bool orExpression(Operand& out);
    bool andExpression(Operand& out);
    bool equality(Operand& out);
    bool comparison(Operand& out);
    bool unary(Operand& out);
    bool primary(Operand& out);
    bool literal(Operand& out);
    bool wholeNumber(Operand& out);
    bool fraction(Operand& out);

    bool isTest(Operand& out);
    bool compareWith(Operand& left, Op op);
    bool equalTo(Operand& left, bool negated);
    bool between(Operand& left, bool negated);
    bool inList(Operand& left, bool negated);
    bool search(Operand& left, Op op);
    bool connect(Operand& left, Op skip, Op both, bool (Compiler::*next)(Operand&));

    bool toCondition(Operand& operand);
    bool ordered(const Operand& operand);
    bool takeText(std::string& out);
    bool expect(TokenKind kind, std::string_view name);
    bool accept(TokenKind kind);
    void advance() noexcept;
    bool fail(std::string problem);

    std::size_t emit(Op op, std::uint32_t arg = 0);
    std::uint32_t keep(std::string_view text);
    std::uint32_t slotOf(std::string_view property);
    void emitConstant(Operand& out, Shape shape, Value value);
    void becomeCondition(Operand& operand) noexcept;
    [[nodiscard]] std::size_t stackNeed() const noexcept;

    Lexer lexer_;
    Token token_;
    Ref<Program> program_;
    std::size_t nesting_ = 0;
    std::string problem_;
};

}  // namespace patchbay::plugins::filter
