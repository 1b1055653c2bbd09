// patchctl: one command line, one command.
#include "command/Help.h"
#include "commands/Session.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <unistd.h>

namespace {

using namespace patchbay;
using namespace patchbay::patchctl;

Exit runCommand(std::vector<std::string> words) {
    if (words.empty() || (words.size() == 1 && (words[0] == "--help" || words[0] == "-h"))) words = {"help"};
    if (words[0] == "--version") words[0] = "version";
    if (words[0] == "help") {
        std::string under;
        for (std::size_t i = 1; i < words.size(); ++i) under += (i > 1 ? " " : "") + words[i];
        const std::string text = helpText(under);
        if (text.empty()) std::cerr << "patchctl: there is no command '" << under << "'; 'patchctl help' lists them\n";
        std::cout << text;
        return text.empty() ? Exit::Usage : Exit::Done;
    }
    if (const char* address = std::getenv("NAMESRV_ADDR"); address != nullptr && *address != '\0') {
        // In front, so that an option on the command line wins.
        words.insert(words.begin(), {"--namesrv", address});
    }
    auto arguments = Arguments::parse(words);
    if (!arguments) {
        // What was asked for is not known, but how a script wants to be told.
        const bool json = std::any_of(words.begin(), words.end(), [](const std::string& word) { return word == "--json" || word == "-j"; });
        Output(std::cout, std::cerr, json, false).error(arguments.error());
        return Exit::Usage;
    }
    if (arguments->helpAsked()) {
        std::cout << helpText(arguments->command().words);
        return Exit::Done;
    }
    Output output(std::cout, std::cerr, arguments->has("json"), isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 1);
    const auto& run = arguments->command().run;
    Session session(*arguments, output, systemFiles(), systemClock());
    const Exit exit = run(session, *arguments);
    output.endProgress();
    std::cout.flush();
    return exit;
}

}  // namespace

int main(int count, char** words) {
    try {
        return static_cast<int>(runCommand({words + 1, words + count}));
    } catch (const std::exception& error) {
        std::cerr << "patchctl: " << error.what() << '\n';
        return static_cast<int>(Exit::Failed);
    }
}
