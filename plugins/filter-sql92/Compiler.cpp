#include "Compiler.h"

#include "JavaNumbers.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace patchbay::plugins::filter {

using Kind = Value::Kind;

Result<Compiled> Compiler::compile(std::string_view selector) {
    Compiler compiler(selector);
    if (!compiler.whole()) return Status(StatusCode::InvalidArgument, std::move(compiler.problem_));
    return Compiled{std::move(compiler.program_), selector.substr(compiler.token_.at)};
}

Compiler::Compiler(std::string_view selector) : lexer_(selector), program_(Ref<Program>::adopt(new Program())) {
    advance();
}

bool Compiler::whole() {
    Operand result;
    if (!orExpression(result)) return false;
    // RocketMQ looks no further than it has to, so what is left is fine as long as its first word is one.
    if (token_.kind == TokenKind::Bad) return fail("this means nothing");
    if (!toCondition(result)) return false;
    if (stackNeed() > Program::kStackMax) return fail("it is nested too deeply");
    return true;
}

bool Compiler::orExpression(Operand& out) {
    if (!andExpression(out)) return false;
    while (accept(TokenKind::Or)) {
        if (!connect(out, Op::SkipIfTrue, Op::Or, &Compiler::andExpression)) return false;
    }
    return true;
}

bool Compiler::andExpression(Operand& out) {
    if (!equality(out)) return false;
    while (accept(TokenKind::And)) {
        if (!connect(out, Op::SkipIfFalse, Op::And, &Compiler::equality)) return false;
    }
    return true;
}

bool Compiler::connect(Operand& left, Op skip, Op both, bool (Compiler::*next)(Operand&)) {
    // RocketMQ looks at both sides before it checks the left one, so the fault it names first may be on the right. Which of two
    // faults is named is all that differs here.
    if (!toCondition(left)) return false;
    const std::size_t jump = emit(skip);
    Operand right;
    if (!(this->*next)(right) || !toCondition(right)) return false;
    const std::size_t last = emit(both);
    program_->steps_[jump].arg = static_cast<std::uint32_t>(last - jump);
    becomeCondition(left);
    return true;
}

bool Compiler::equality(Operand& out) {
    if (!comparison(out)) return false;
    while (true) {
        if (accept(TokenKind::Equal)) {
            if (!equalTo(out, false)) return false;
        } else if (accept(TokenKind::NotEqual)) {
            if (!equalTo(out, true)) return false;
        } else if (accept(TokenKind::Is)) {
            if (!isTest(out)) return false;
        } else {
            return true;
        }
    }
}

bool Compiler::isTest(Operand& out) {
    const bool negated = accept(TokenKind::Not);
    if (!expect(TokenKind::Null, "NULL")) return false;
    Operand null;
    emitConstant(null, Shape::Null, Value::null());
    emit(Op::Equal);
    if (negated) emit(Op::Not);
    becomeCondition(out);
    return true;
}

bool Compiler::equalTo(Operand& left, bool negated) {
    Operand right;
    if (!comparison(right)) return false;
    if (left.shape == Shape::Null || right.shape == Shape::Null) return fail("NULL cannot be compared; write IS NULL");
    if (left.shape == Shape::Truth && right.isConstant() && right.shape != Shape::Truth) {
        return fail("TRUE and FALSE cannot be compared with that");
    }
    emit(Op::Equal);
    if (negated) emit(Op::Not);
    becomeCondition(left);
    return true;
}

bool Compiler::comparison(Operand& out) {
    if (!unary(out)) return false;
    while (true) {
        bool good = true;
        const bool negated = accept(TokenKind::Not);
        if (!negated && accept(TokenKind::Greater)) {
            good = compareWith(out, Op::Greater);
        } else if (!negated && accept(TokenKind::GreaterEqual)) {
            good = compareWith(out, Op::GreaterEqual);
        } else if (!negated && accept(TokenKind::Less)) {
            good = compareWith(out, Op::Less);
        } else if (!negated && accept(TokenKind::LessEqual)) {
            good = compareWith(out, Op::LessEqual);
        } else if (accept(TokenKind::Contains)) {
            good = search(out, negated ? Op::NotContains : Op::Contains);
        } else if (accept(TokenKind::StartsWith)) {
            good = search(out, negated ? Op::NotStartsWith : Op::StartsWith);
        } else if (accept(TokenKind::EndsWith)) {
            good = search(out, negated ? Op::NotEndsWith : Op::EndsWith);
        } else if (accept(TokenKind::Between)) {
            good = between(out, negated);
        } else if (accept(TokenKind::In)) {
            good = inList(out, negated);
        } else if (negated) {
            return fail("after NOT there must be IN, BETWEEN, CONTAINS, STARTSWITH or ENDSWITH");
        } else {
            return true;
        }
        if (!good) return false;
    }
}

bool Compiler::ordered(const Operand& operand) {
    const bool bad = operand.isConstant() ? operand.shape != Shape::Number : operand.shape == Shape::Condition;
    return !bad || fail("only numbers and properties have an order");
}

bool Compiler::compareWith(Operand& left, Op op) {
    Operand right;
    if (!unary(right) || !ordered(left) || !ordered(right)) return false;
    emit(op);
    becomeCondition(left);
    return true;
}

bool Compiler::between(Operand& left, bool negated) {
    Operand low;
    Operand high;
    if (!unary(low) || !expect(TokenKind::And, "AND") || !unary(high)) return false;
    if (!ordered(left) || !ordered(low) || !ordered(high)) return false;
    if (low.shape == Shape::Number && high.shape == Shape::Number && !negated) {
        const auto real = [](const Value& value) { return value.kind == Kind::Double ? value.real : static_cast<double>(value.number); };
        const bool doubles = low.constant.kind == Kind::Double || high.constant.kind == Kind::Double;
        const bool descending = doubles ? real(high.constant) < real(low.constant) : high.constant.number < low.constant.number;
        if (descending) return fail("the bounds of BETWEEN are the wrong way round");
    }
    // left low high becomes: left low >= (and) left high <=, with the left side twice.
    auto& steps = program_->steps_;
    const auto cut = [&steps](std::size_t from) { return steps.begin() + static_cast<std::ptrdiff_t>(from); };
    const std::vector<Step> again(cut(left.begin), cut(low.begin));
    const std::vector<Step> upper(cut(high.begin), steps.end());
    steps.erase(cut(high.begin), steps.end());
    emit(negated ? Op::Less : Op::GreaterEqual);
    const std::size_t jump = emit(negated ? Op::SkipIfTrue : Op::SkipIfFalse);
    steps.insert(steps.end(), again.begin(), again.end());
    steps.insert(steps.end(), upper.begin(), upper.end());
    emit(negated ? Op::Greater : Op::LessEqual);
    const std::size_t last = emit(negated ? Op::Or : Op::And);
    steps[jump].arg = static_cast<std::uint32_t>(last - jump);
    becomeCondition(left);
    return true;
}

bool Compiler::inList(Operand& left, bool negated) {
    if (!expect(TokenKind::Open, "(")) return false;
    std::vector<std::string_view> list;
    do {
        std::string text;
        if (!takeText(text)) return false;
        list.push_back(program_->texts_[keep(text)]);
    } while (accept(TokenKind::Comma));
    if (!expect(TokenKind::Close, "a comma or )")) return false;
    if (left.shape != Shape::Property) return fail("only a property can be IN a list");
    std::ranges::sort(list);
    emit(Op::In, static_cast<std::uint32_t>(program_->lists_.size()));
    program_->lists_.push_back(std::move(list));
    if (negated) emit(Op::Not);
    becomeCondition(left);
    return true;
}

bool Compiler::search(Operand& left, Op op) {
    std::string text;
    if (!takeText(text)) return false;
    if (text.empty()) {
        // Never true, and what it would be searched in is not even looked at.
        auto& steps = program_->steps_;
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(left.begin), steps.end());
        emitConstant(left, Shape::Truth, Value::boolean(false));
    } else {
        emit(op, keep(text));
    }
    becomeCondition(left);
    return true;
}

bool Compiler::unary(Operand& out) {
    if (nesting_ >= kNestingMax) return fail("it is nested too deeply");
    ++nesting_;
    bool good = true;
    if (accept(TokenKind::Plus)) {
        good = unary(out);
    } else if (accept(TokenKind::Minus)) {
        good = unary(out);
        if (good) emit(Op::Negate);
        out.shape = Shape::Computed;
    } else if (accept(TokenKind::Not)) {
        good = unary(out) && toCondition(out);
        if (good) emit(Op::Not);
        out.shape = Shape::Condition;
    } else {
        good = primary(out);
    }
    --nesting_;
    return good;
}

bool Compiler::primary(Operand& out) {
    if (token_.kind == TokenKind::Name) {
        out = {Shape::Property, program_->steps_.size(), Value::null()};
        emit(Op::Property, slotOf(token_.image));
        advance();
        return true;
    }
    if (accept(TokenKind::Open)) return orExpression(out) && expect(TokenKind::Close, ")");
    return literal(out);
}

bool Compiler::literal(Operand& out) {
    switch (token_.kind) {
        case TokenKind::Whole: return wholeNumber(out);
        case TokenKind::Fraction: return fraction(out);
        case TokenKind::True: emitConstant(out, Shape::Truth, Value::boolean(true)); break;
        case TokenKind::False: emitConstant(out, Shape::Truth, Value::boolean(false)); break;
        case TokenKind::Null: emitConstant(out, Shape::Null, Value::null()); break;
        case TokenKind::Text: {
            std::string text;
            if (!takeText(text)) return false;
            emitConstant(out, Shape::Text, Value::ofText(program_->texts_[keep(text)]));
            return true;
        }
        default: return fail("a property or a value is missing");
    }
    advance();
    return true;
}

bool Compiler::wholeNumber(Operand& out) {
    std::string_view digits = token_.image;
    if ((digits.back() | 0x20) == 'l') digits.remove_suffix(1);
    const auto number = javaLong(digits);
    if (!number) return fail("the number is too large");
    const bool isInt = *number <= std::numeric_limits<std::int32_t>::max();
    emitConstant(out, Shape::Number, Value::integer(isInt ? Kind::Int : Kind::Long, *number));
    advance();
    return true;
}

bool Compiler::fraction(Operand& out) {
    const auto number = javaDouble(token_.image);
    if (!number || *number > std::numeric_limits<double>::max()) return fail("the number is too large");
    // RocketMQ compares with its smallest positive number here, so that 0.0 cannot be written; clients meet the same everywhere.
    if (*number < std::numeric_limits<double>::denorm_min()) return fail("the number is too small; write 0 instead of 0.0");
    emitConstant(out, Shape::Number, Value::ofDouble(*number));
    advance();
    return true;
}

bool Compiler::toCondition(Operand& operand) {
    switch (operand.shape) {
        case Shape::Condition:
        case Shape::Truth:
        case Shape::Null: return true;
        case Shape::Property: emit(Op::AsBoolean); break;
        default: return fail("what stands before this is no condition");
    }
    operand.shape = Shape::Condition;
    return true;
}

bool Compiler::takeText(std::string& out) {
    if (token_.kind != TokenKind::Text) return fail("a text in single quotes is missing");
    const std::string_view inner = token_.image.substr(1, token_.image.size() - 2);
    for (std::size_t i = 0; i < inner.size(); ++i) {
        out += inner[i];
        if (inner[i] == '\'') ++i;
    }
    advance();
    return true;
}

bool Compiler::accept(TokenKind kind) {
    if (token_.kind != kind) return false;
    advance();
    return true;
}

bool Compiler::expect(TokenKind kind, std::string_view name) {
    return accept(kind) || fail(std::string(name) + " is missing");
}

void Compiler::advance() noexcept { token_ = lexer_.next(); }

bool Compiler::fail(std::string problem) {
    if (!problem_.empty()) return false;
    problem_ = std::move(problem);
    if (token_.kind == TokenKind::End) {
        problem_ += ", at the end";
        return false;
    }
    problem_ += ", at byte " + std::to_string(token_.at + 1);
    // Texts may be long, and stray bytes may be no characters at all.
    if (token_.kind != TokenKind::Text && token_.kind != TokenKind::Bad) problem_ += ": " + std::string(token_.image.substr(0, 40));
    return false;
}

std::size_t Compiler::emit(Op op, std::uint32_t arg) {
    program_->steps_.push_back({op, arg});
    return program_->steps_.size() - 1;
}

std::uint32_t Compiler::keep(std::string_view text) {
    program_->texts_.emplace_back(text);
    return static_cast<std::uint32_t>(program_->texts_.size() - 1);
}

std::uint32_t Compiler::slotOf(std::string_view property) {
    auto& names = program_->names_;
    const auto at = std::ranges::find(names, property);
    const auto slot = static_cast<std::uint32_t>(at - names.begin());
    if (at == names.end()) names.emplace_back(property);
    return slot;
}

void Compiler::emitConstant(Operand& out, Shape shape, Value value) {
    out = {shape, program_->steps_.size(), value};
    emit(Op::Constant, static_cast<std::uint32_t>(program_->constants_.size()));
    program_->constants_.push_back(value);
}

void Compiler::becomeCondition(Operand& operand) noexcept { operand.shape = Shape::Condition; }

std::size_t Compiler::stackNeed() const noexcept {
    // Skips leave the stack as the steps that they pass over would, so walking straight on counts right.
    std::size_t depth = 0;
    std::size_t most = 0;
    for (const Step& step : program_->steps_) {
        switch (step.op) {
            case Op::Property:
            case Op::Constant: most = std::max(most, ++depth); break;
            case Op::Equal:
            case Op::Less:
            case Op::LessEqual:
            case Op::Greater:
            case Op::GreaterEqual:
            case Op::And:
            case Op::Or: --depth; break;
            default: break;
        }
    }
    return most;
}

}  // namespace patchbay::plugins::filter
