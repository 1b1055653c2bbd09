// Proved: selectors compile, or do not, and evaluate as by RocketMQ 5.3.3, its oddities included; nothing is allocated for it.
// How: some thousand selectors with properties, whose outcome RecordAnswers.java took from RocketMQ's own classes.
// Left to others: the words of compile errors (Compiler_test), which filter applies to a pull (Filters_test).
#include "../Allocations.h"

#include "Compiler.h"

#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace patchbay::plugins::filter {
namespace {

struct Answer {
    char outcome = '?';
    std::string properties;
    std::string selector;
};

std::string unescape(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            out += text[i];
            continue;
        }
        switch (text[++i]) {
            case 't': out += '\t'; break;
            case 'n': out += '\n'; break;
            case 'r': out += '\r'; break;
            case 'f': out += '\f'; break;
            default: out += text[i]; break;
        }
    }
    return out;
}

std::vector<Answer> answers() {
    std::vector<Answer> all;
    std::ifstream file(PATCHBAY_TEST_DATA "/sql92/answers.txt", std::ios::binary);
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find('\t');
        const std::size_t second = line.find('\t', first + 1);
        Answer answer{line[0], unescape(std::string_view(line).substr(first + 1, second - first - 1)),
                      unescape(std::string_view(line).substr(second + 1))};
        for (char& c : answer.properties) c = c == '=' ? '\1' : c == ';' ? '\2' : c;
        all.push_back(std::move(answer));
    }
    return all;
}

char letterOf(Program::Outcome outcome) {
    switch (outcome) {
        case Program::Outcome::True: return 'T';
        case Program::Outcome::False: return 'F';
        case Program::Outcome::Null: return 'N';
        default: return 'E';
    }
}

TEST(Sql92, SelectorsMeanWhatTheyMeanToRocketMq) {
    const auto all = answers();
    ASSERT_GT(all.size(), 4000U);
    std::size_t wrong = 0;
    for (const Answer& answer : all) {
        const auto program = Compiler::compile(answer.selector);
        char outcome = 'C';
        if (program) {
            const auto before = recorded::allocations.load();
            outcome = letterOf(program->program->evaluate(answer.properties));
            ASSERT_EQ(recorded::allocations.load(), before) << answer.selector;
        }
        if (outcome == answer.outcome) continue;
        ADD_FAILURE() << answer.selector << "\nof " << answer.properties << "\nis " << outcome << ", not " << answer.outcome
                      << (program ? "" : "; " + program.error().message());
        if (++wrong == 20) break;
    }
}

}  // namespace
}  // namespace patchbay::plugins::filter
