// Arbitrary text as an SQL92 selector over arbitrary properties, divided by the first line break: it compiles or says why not, what it
// leaves unread is its end, and NOT turns its outcome round.
#include "Compiler.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

using Outcome = patchbay::plugins::filter::Program::Outcome;

Outcome opposite(Outcome outcome) {
    if (outcome == Outcome::True) return Outcome::False;
    return outcome == Outcome::False ? Outcome::True : outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using patchbay::plugins::filter::Compiler;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t end = text.find('\n');
    const std::string_view properties = text.substr(0, end);
    const std::string_view selector = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);

    const auto compiled = Compiler::compile(selector);
    if (!compiled) {
        require(!compiled.error().message().empty());
        return 0;
    }
    const Outcome outcome = compiled->program->evaluate(properties);
    require(selector.ends_with(compiled->ignored));
    require(compiled->program->matches(properties) == (outcome == Outcome::True));
    if (!compiled->ignored.empty()) return 0;

    // It may be at the limit of nesting already.
    const auto turned = Compiler::compile("NOT (" + std::string(selector) + ")");
    if (turned) require(turned->program->evaluate(properties) == opposite(outcome));
    return 0;
}
