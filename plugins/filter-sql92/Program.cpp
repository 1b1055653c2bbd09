#include "Program.h"

#include "JavaNumbers.h"

#include "patchbay/protocol/message/Properties.h"

#include <algorithm>
#include <optional>

namespace patchbay::plugins::filter {

namespace {

using Kind = Value::Kind;

bool isNumber(Kind kind) noexcept { return kind == Kind::Int || kind == Kind::Long || kind == Kind::Double; }

bool isTrueText(std::string_view text) noexcept {
    constexpr std::string_view kTrue = "true";
    return std::ranges::equal(text, kTrue, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

/// As a property's text is read to be compared with a value of that kind. False when it cannot be.
bool convert(Value& value, Kind to) noexcept {
    const std::string_view text = value.view();
    switch (to) {
        case Kind::Boolean: value = Value::boolean(isTrueText(text)); return true;
        case Kind::Int:
            if (const auto number = javaInt(text)) return value = Value::integer(Kind::Int, *number), true;
            return false;
        case Kind::Long:
            if (const auto number = javaLong(text)) return value = Value::integer(Kind::Long, *number), true;
            return false;
        default:
            if (const auto number = javaDouble(text)) return value = Value::ofDouble(*number), true;
            return false;
    }
}

double toDouble(const Value& value) noexcept { return value.kind == Kind::Double ? value.real : static_cast<double>(value.number); }

int compareNumbers(const Value& left, const Value& right) noexcept {
    if (left.kind == Kind::Double || right.kind == Kind::Double) return compareDoubles(toDouble(left), toDouble(right));
    return left.number < right.number ? -1 : static_cast<int>(left.number > right.number);
}

/// Values of kinds that have nothing in common: Java calls the left one smaller. Nothing: they cannot be compared at all.
std::optional<int> compare(Value left, Value right) noexcept {
    if (left.kind == Kind::Boolean && right.kind == Kind::Text) return std::nullopt;
    if (left.kind != right.kind) {
        if (left.kind == Kind::Text) {
            if (!convert(left, right.kind)) return std::nullopt;
        } else if (right.kind == Kind::Text) {
            if (!convert(right, left.kind)) return std::nullopt;
        } else if (!isNumber(left.kind) || !isNumber(right.kind)) {
            return -1;
        }
    }
    return compareNumbers(left, right);
}

std::optional<Value> equal(const Value& left, const Value& right) noexcept {
    if (left.isNull()) return right.isNull() ? Value::boolean(true) : Value::null();
    if (right.isNull()) return Value::boolean(false);
    if (left.kind == Kind::Text && right.kind == Kind::Text) return Value::boolean(left.view() == right.view());
    const auto order = compare(left, right);
    if (!order) return std::nullopt;
    return Value::boolean(*order == 0);
}

bool holds(Op op, int order) noexcept {
    switch (op) {
        case Op::Less: return order < 0;
        case Op::LessEqual: return order <= 0;
        case Op::Greater: return order > 0;
        default: return order >= 0;
    }
}

std::optional<Value> order(Op op, Value left, Value right) noexcept {
    if (left.isNull() || right.isNull()) return Value::null();
    if (left.kind == Kind::Text && right.kind == Kind::Text) {
        if (!convert(left, Kind::Double) || !convert(right, Kind::Double)) return std::nullopt;
    }
    const auto found = compare(left, right);
    if (!found) return std::nullopt;
    return Value::boolean(holds(op, *found));
}

Value negate(const Value& value) noexcept {
    switch (value.kind) {
        case Kind::Int: return Value::integer(Kind::Int, -value.number);    // literals have no sign, so there is a counterpart
        case Kind::Long: return Value::integer(Kind::Long, -value.number);
        case Kind::Double: return Value::ofDouble(-value.real);
        default: return Value::null();
    }
}

Value search(Op op, const Value& value, std::string_view part) noexcept {
    if (value.kind != Kind::Text) return Value::boolean(false);
    const std::string_view text = value.view();
    switch (op) {
        case Op::Contains: return Value::boolean(text.find(part) != std::string_view::npos);
        case Op::NotContains: return Value::boolean(text.find(part) == std::string_view::npos);
        case Op::StartsWith: return Value::boolean(text.starts_with(part));
        case Op::NotStartsWith: return Value::boolean(!text.starts_with(part));
        case Op::EndsWith: return Value::boolean(text.ends_with(part));
        default: return Value::boolean(!text.ends_with(part));
    }
}

/// The value of an entry (without its end) if it has that name, or nothing.
std::string_view valueOf(std::string_view entry, std::string_view name) noexcept {
    if (entry.size() < name.size() + 2 || entry[name.size()] != protocol::kPropertyNameEnd || !entry.starts_with(name)) return {};
    return entry.substr(name.size() + 1);
}

/// Calls `each` with all entries of a property text, as protocol::PropertyReader sees them but for those without a value.
template <typename Each>
void forEntries(std::string_view properties, Each&& each) noexcept {
    while (!properties.empty()) {
        const std::size_t end = std::min(properties.find(protocol::kPropertyEnd), properties.size());
        each(properties.substr(0, end));
        properties.remove_prefix(std::min(end + 1, properties.size()));
    }
}

}  // namespace

Value Value::ofDouble(double real) noexcept {
    Value value{Kind::Double, 0, {0}};
    value.real = real;
    return value;
}

Value Value::ofText(std::string_view text) noexcept {
    Value value{Kind::Text, static_cast<std::uint32_t>(text.size()), {0}};
    value.text = text.data();
    return value;
}

std::string_view Program::lookUp(std::string_view properties, std::string_view name) noexcept {
    std::string_view found;
    forEntries(properties, [&](std::string_view entry) {
        if (const auto value = valueOf(entry, name); !value.empty()) found = value;
    });
    return found;
}

void Program::lookUpAll(std::string_view properties, std::string_view* found) const noexcept {
    const std::size_t count = std::min(names_.size(), kInOnePass);
    std::fill_n(found, count, std::string_view());
    forEntries(properties, [&](std::string_view entry) {
        for (std::size_t i = 0; i < count; ++i) {
            if (const auto value = valueOf(entry, names_[i]); !value.empty()) {
                found[i] = value;
                return;
            }
        }
    });
}

Program::Outcome Program::evaluate(std::string_view properties) const noexcept {
    std::string_view found[kInOnePass];
    lookUpAll(properties, found);
    Value stack[kStackMax];
    Value* top = stack;   // behind the last one
    for (std::size_t at = 0; at < steps_.size(); ++at) {
        const Step step = steps_[at];
        std::optional<Value> result;
        switch (step.op) {
            case Op::Property: {
                const std::string_view value = step.arg < kInOnePass ? found[step.arg] : lookUp(properties, names_[step.arg]);
                *top++ = value.empty() ? Value::null() : Value::ofText(value);
                continue;
            }
            case Op::Constant: *top++ = constants_[step.arg]; continue;
            case Op::Negate: top[-1] = negate(top[-1]); continue;
            case Op::Not:
                if (!top[-1].isNull()) top[-1] = Value::boolean(!top[-1].isTrue());
                continue;
            case Op::AsBoolean:
                if (!top[-1].isNull()) top[-1] = Value::boolean(top[-1].isTrue());
                continue;
            case Op::In:
                if (!top[-1].isNull()) top[-1] = Value::boolean(std::ranges::binary_search(lists_[step.arg], top[-1].view()));
                continue;
            case Op::SkipIfFalse:
                if (top[-1].isFalse()) at += step.arg;
                continue;
            case Op::SkipIfTrue:
                if (top[-1].isTrue()) at += step.arg;
                continue;
            case Op::And:
                --top;
                if (top->isFalse() || top[-1].isTrue()) top[-1] = *top;
                continue;
            case Op::Or:
                --top;
                if (top->isTrue() || top[-1].isFalse()) top[-1] = *top;
                continue;
            case Op::Equal: result = equal(top[-2], top[-1]); break;
            case Op::Less:
            case Op::LessEqual:
            case Op::Greater:
            case Op::GreaterEqual: result = order(step.op, top[-2], top[-1]); break;
            default: top[-1] = search(step.op, top[-1], texts_[step.arg]); continue;
        }
        if (!result) return Outcome::Error;
        --top;
        top[-1] = *result;
    }
    if (stack[0].isNull()) return Outcome::Null;
    return stack[0].isTrue() ? Outcome::True : Outcome::False;
}

}  // namespace patchbay::plugins::filter
