// Proves: every command of the table is complete and appears in help, completion, manual and documentation; examples parse.
// How: the table itself is walked. Left to others: that docs/patchctl.md is what the table makes (e2e).
#include "command/Arguments.h"
#include "command/Help.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

namespace patchbay::patchctl {
namespace {

/// The words of an example; quotes are those of a shell.
std::vector<std::string> shellWords(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool quoted = false;
    bool any = false;
    for (const char c : line) {
        if (c == '\'') {
            quoted = !quoted;
            any = true;
        } else if (c == ' ' && !quoted) {
            if (any) words.push_back(std::move(word));
            word.clear();
            any = false;
        } else {
            word += c;
            any = true;
        }
    }
    if (any) words.push_back(std::move(word));
    return words;
}

TEST(CommandTable, EveryRowIsComplete) {
    std::set<std::string_view> words;
    for (const auto& command : commands()) {
        EXPECT_TRUE(words.insert(command.words).second) << command.words << " twice";
        EXPECT_NE(command.run, nullptr) << command.words;
        EXPECT_FALSE(command.summary.empty() || command.summary.ends_with('.')) << command.words;
        for (const auto& option : command.options) {
            EXPECT_FALSE(option.doc.empty()) << command.words << " --" << option.name;
            EXPECT_EQ(option.kind == Kind::Flag, option.value.empty()) << command.words << " --" << option.name;
            EXPECT_EQ(option.kind == Kind::Choice, !option.choices.empty()) << command.words << " --" << option.name;
            for (const auto& global : globalOptions()) {
                EXPECT_NE(option.name, global.name) << command.words;
                EXPECT_FALSE(option.letter != 0 && option.letter == global.letter) << command.words << " -" << option.letter;
            }
        }
    }
}

TEST(CommandTable, LettersOfACommandDiffer) {
    for (const auto& command : commands()) {
        std::set<char> letters;
        for (const auto& option : command.options) {
            EXPECT_TRUE(option.letter == 0 || letters.insert(option.letter).second) << command.words << " -" << option.letter;
        }
    }
}

TEST(CommandTable, EveryExampleIsALineThatParses) {
    for (const auto& command : commands()) {
        std::string example(command.example);
        if (const auto inner = example.find("<("); inner != std::string::npos) example = example.substr(inner + 2, example.rfind(')') - inner - 2);
        example = example.substr(0, example.find(" | "));
        example = example.substr(0, example.find(" > "));
        auto words = shellWords(example);
        ASSERT_FALSE(words.empty()) << command.words;
        EXPECT_EQ(words.front(), "patchctl");
        words.erase(words.begin());
        const auto parsed = Arguments::parse(words);
        ASSERT_TRUE(parsed) << command.example << ": " << parsed.error().message();
        EXPECT_EQ(parsed->command().words, command.words);
    }
}

TEST(Help, NamesEveryCommandAndEveryOption) {
    const std::string all = helpText("");
    const std::string manual = manualPage();
    const std::string document = markdown();
    for (const auto& command : commands()) {
        EXPECT_NE(all.find("  " + std::string(command.words) + " "), std::string::npos) << command.words;
        const std::string one = helpText(command.words);
        EXPECT_NE(one.find("usage: patchctl " + std::string(command.words)), std::string::npos) << one;
        EXPECT_NE(one.find("Example:\n  " + std::string(command.example)), std::string::npos) << one;
        EXPECT_NE(document.find("\n## " + std::string(command.words) + "\n"), std::string::npos) << command.words;
        for (const auto& option : command.options) {
            EXPECT_NE(one.find("--" + std::string(option.name)), std::string::npos) << option.name;
            EXPECT_NE(document.find("--" + std::string(option.name)), std::string::npos) << option.name;
        }
    }
    EXPECT_NE(helpText("topic").find("topic create"), std::string::npos);
    EXPECT_EQ(helpText("topic").find("group create"), std::string::npos);
    EXPECT_EQ(helpText("nonsense"), "");
    EXPECT_NE(manual.find(".SH EXIT STATUS"), std::string::npos);
}

TEST(Help, TheManualHasNoLineThatTroffWouldMistake) {
    std::istringstream lines(manualPage());
    for (std::string line; std::getline(lines, line);) {
        static const std::set<std::string> kMacros{".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi"};
        EXPECT_TRUE(!line.starts_with('.') || kMacros.contains(line.substr(0, line.find(' ')))) << line;
        EXPECT_FALSE(line.starts_with('\'')) << line;
    }
}

TEST(Completion, KnowsEveryWordAndOption) {
    for (const char* shell : {"bash", "zsh"}) {
        const std::string script = completionScript(shell);
        for (const auto& command : commands()) {
            const auto blank = command.words.rfind(' ');
            const std::string word(command.words.substr(blank == std::string_view::npos ? 0 : blank + 1));
            EXPECT_NE(script.find(word), std::string::npos) << word;
            for (const auto& option : command.options) EXPECT_NE(script.find("--" + std::string(option.name)), std::string::npos) << option.name;
        }
    }
}

}  // namespace
}  // namespace patchbay::patchctl
