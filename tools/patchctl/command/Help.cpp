#include "command/Help.h"

#include "command/Arguments.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace patchbay::patchctl {

namespace {

constexpr std::string_view kIntroduction =
    "patchctl looks into Patchbay and RocketMQ clusters and changes them. Tables are for people, --json is for scripts and stays as it is: "
    "members are only added. Commands that destroy have --dry-run.";

std::string synopsis(const Command& command) {
    std::string text = "patchctl " + std::string(command.words);
    for (const auto& argument : command.arguments) {
        text += argument.optional ? " [" + std::string(argument.name) + "]" : " " + std::string(argument.name);
    }
    return text + (command.options.empty() && !command.destroys ? "" : " [OPTIONS]");
}

std::string spelled(const Option& option) {
    std::string text;
    if (option.letter != 0) text += std::string("-") + option.letter + ", ";
    text += "--" + std::string(option.name);
    if (option.kind != Kind::Flag) text += " " + std::string(option.value);
    return text;
}

std::string meaning(const Option& option) {
    std::string text(option.doc);
    if (!option.choices.empty() && option.value != "yes|no") text += " (one of: " + std::string(option.choices) + ")";
    if (!option.fallback.empty()) text += " (default: " + std::string(option.fallback) + ")";
    return text;
}

std::vector<const Option*> optionsOf(const Command& command) {
    std::vector<const Option*> options;
    for (const auto& option : command.options) options.push_back(&option);
    if (command.destroys) options.push_back(&dryRunOption());
    return options;
}

/// Two columns; the second begins at the same place in all lines.
std::string columns(const std::vector<std::pair<std::string, std::string>>& lines) {
    std::size_t widest = 0;
    for (const auto& line : lines) widest = std::max(widest, line.first.size());
    std::string text;
    for (const auto& [left, right] : lines) text += "  " + left + std::string(widest - left.size() + 3, ' ') + right + "\n";
    return text;
}

std::vector<std::pair<std::string, std::string>> optionLines(const std::vector<const Option*>& options) {
    std::vector<std::pair<std::string, std::string>> lines;
    for (const auto* option : options) lines.emplace_back(spelled(*option), meaning(*option));
    return lines;
}

std::vector<const Option*> globals() {
    std::vector<const Option*> options;
    for (const auto& option : globalOptions()) options.push_back(&option);
    return options;
}

std::string exitLines() {
    std::vector<std::pair<std::string, std::string>> lines;
    for (const auto& exit : exitTexts()) lines.emplace_back(std::to_string(static_cast<int>(exit.code)), exit.meaning);
    return columns(lines);
}

std::string helpOf(const Command& command) {
    std::string text = "usage: " + synopsis(command) + "\n\n" + std::string(command.summary) + ".";
    if (!command.text.empty()) text += " " + std::string(command.text);
    text += "\n";
    std::vector<std::pair<std::string, std::string>> arguments;
    for (const auto& argument : command.arguments) arguments.emplace_back(argument.name, argument.doc);
    if (!arguments.empty()) text += "\n" + columns(arguments);
    if (const auto options = optionsOf(command); !options.empty()) text += "\nOptions:\n" + columns(optionLines(options));
    text += "\nOptions of all commands:\n" + columns(optionLines(globals()));
    return text + "\nExample:\n  " + std::string(command.example) + "\n";
}

std::string helpOf(const std::vector<const Command*>& found) {
    std::string text = "usage: patchctl COMMAND [ARGUMENTS] [OPTIONS]\n\n" + std::string(kIntroduction) + "\n\n";
    std::vector<std::pair<std::string, std::string>> lines;
    for (const auto* command : found) lines.emplace_back(command->words, command->summary);
    text += columns(lines) + "\nOptions of all commands:\n" + columns(optionLines(globals())) + "\nEnds with:\n" + exitLines();
    return text + "\n'patchctl COMMAND --help' tells more and has an example.\n";
}

/// The words that may stand after each beginning, for completion: "" -> topic group …, "topic" -> list show ….
std::vector<std::pair<std::string, std::string>> continuations() {
    std::vector<std::pair<std::string, std::string>> tree;
    const auto add = [&tree](const std::string& before, const std::string& word) {
        auto at = std::ranges::find(tree, before, &std::pair<std::string, std::string>::first);
        if (at == tree.end()) at = tree.insert(tree.end(), {before, ""});
        const std::string padded = " " + at->second + " ";
        if (padded.find(" " + word + " ") == std::string::npos) at->second += (at->second.empty() ? "" : " ") + word;
    };
    for (const auto& command : commands()) {
        const auto blank = command.words.find(' ');
        add("", std::string(command.words.substr(0, blank)));
        if (blank != std::string_view::npos) add(std::string(command.words.substr(0, blank)), std::string(command.words.substr(blank + 1)));
    }
    add("", "help");
    return tree;
}

std::string optionWords(const std::vector<const Option*>& options) {
    std::string text;
    for (const auto* option : options) text += (text.empty() ? "--" : " --") + std::string(option->name);
    return text;
}

std::string bashCases() {
    std::string text;
    for (const auto& [before, words] : continuations()) text += "        \"" + before + "\") words='" + words + "' ;;\n";
    return text;
}

std::string bashOptions() {
    std::string text;
    for (const auto& command : commands()) {
        const auto options = optionsOf(command);
        const std::string words(command.words);
        if (!options.empty()) text += "        '" + words + "' | '" + words + " '*) options='" + optionWords(options) + "' ;;\n";
    }
    return text;
}

/// An option that takes a value, and how a case knows it: "--topic | -t". A letter that commands share counts for the first of them.
struct Valued {
    const Option* option;
    std::string pattern;
};

std::vector<Valued> valuedOptions() {
    std::vector<Valued> all;
    std::string letters;
    const auto take = [&](const Option& option) {
        if (option.kind == Kind::Flag || std::ranges::any_of(all, [&](const Valued& other) { return other.option->name == option.name; })) return;
        all.push_back({&option, "--" + std::string(option.name)});
        if (option.letter == 0 || letters.find(option.letter) != std::string::npos) return;
        letters += option.letter;
        all.back().pattern += std::string(" | -") + option.letter;
    };
    for (const auto* option : globals()) take(*option);
    for (const auto& command : commands()) {
        for (const auto& option : command.options) take(option);
    }
    return all;
}

/// What stands behind an option; empty when that is anything.
std::string proposalsFor(const Option& option) {
    if (!option.choices.empty()) return "words='" + std::string(option.choices) + "'";
    if (option.value == "TOPIC") return "words=$(_patchctl_names topic \"$at\")";
    if (option.value == "GROUP") return "words=$(_patchctl_names group \"$at\")";
    if (option.name == "file" || option.name == "directory") return "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return";
    return {};
}

std::string bashValues() {
    std::string text;
    std::string anything;
    for (const auto& [option, pattern] : valuedOptions()) {
        const std::string proposals = proposalsFor(*option);
        if (proposals.empty()) anything += (anything.empty() ? "" : " | ") + pattern;
        else text += "        " + pattern + ") " + proposals + " ;;\n";
    }
    return text + "        " + anything + ") return ;;\n";
}

std::string bashValued() {
    std::string text;
    for (const auto& valued : valuedOptions()) text += (text.empty() ? "" : " | ") + valued.pattern;
    return text;
}

std::string bashScript() {
    return "# Completion of `patchctl` for bash. Made by `patchctl completion bash`; in a shell: source it.\n"
           "# Topics and groups are asked of the cluster that --namesrv or NAMESRV_ADDR names.\n\n"
           "_patchctl_names() { # topic|group NAMESRV\n"
           "    patchctl \"$1\" list --json ${2:+-n \"$2\"} 2>/dev/null | grep -o \"\\\"$1\\\":\\\"[^\\\"]*\" | cut -d'\"' -f4 | sort -u\n"
           "}\n\n"
           "_patchctl() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} before='' words='' options='' at='' i\n"
           "    COMPREPLY=()\n"
           "    # The shell takes HOST:PORT and --option=value for three words each.\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in --namesrv | -n)\n"
           "            at=${COMP_WORDS[i + 1]}\n"
           "            [ \"${COMP_WORDS[i + 2]}\" != : ] || at+=:${COMP_WORDS[i + 3]} ;;\n"
           "        esac\n"
           "        case ${COMP_WORDS[i]} in\n"
           "            : | =) i=$((i + 1)) ;;\n"
           "            " + bashValued() + ")\n"
           "                [ \"${COMP_WORDS[i + 1]}\" != = ] || i=$((i + 1))\n"
           "                i=$((i + 1)) ;;\n"
           "            -*) ;;\n"
           "            *) before+=\"${before:+ }${COMP_WORDS[i]}\" ;;\n"
           "        esac\n"
           "    done\n"
           "    case $before in\n" +
           bashCases() +
           "        'topic create'* | 'group create'*) ;;\n"
           "        'topic '* | route | 'message send' | 'message get' | 'message tail' | 'bench send') words=$(_patchctl_names topic \"$at\") ;;\n"
           "        'group '* | 'offset '* | 'message replay' | why-stuck) words=$(_patchctl_names group \"$at\") ;;\n"
           "    esac\n"
           "    case $before in\n" +
           bashOptions() +
           "    esac\n"
           "    options+=' " +
           optionWords(globals()) +
           "'\n"
           "    case $word in -*) words=$options ;; esac\n"
           "    case $previous in\n" +
           bashValues() +
           "    esac\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
           "}\n"
           "complete -F _patchctl patchctl\n";
}

std::string zshScript() {
    return "#compdef patchctl\n# Completion of `patchctl` for zsh, by way of bash's. Made by `patchctl completion zsh`.\n"
           "autoload -U +X bashcompinit && bashcompinit\n" +
           bashScript();
}

/// Text for troff: a line that begins with a point or an apostrophe, and backslashes, mean something there.
std::string troff(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') {
            out += "\\e";
            continue;
        }
        if ((text[i] == '.' || text[i] == '\'') && (i == 0 || text[i - 1] == '\n')) out += "\\&";
        if (text[i] == '-') out += '\\';
        out += text[i];
    }
    return out;
}

std::string manualOptions(const std::vector<const Option*>& options) {
    std::string text;
    for (const auto* option : options) text += ".TP\n.B " + troff(spelled(*option)) + "\n" + troff(meaning(*option)) + "\n";
    return text;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out;
}

}  // namespace

std::string helpText(std::string_view words) {
    const auto found = commandsUnder(words);
    if (found.empty()) return {};
    if (found.size() == 1 && found.front()->words == words) return helpOf(*found.front());
    return helpOf(found);
}

std::string completionScript(std::string_view shell) { return shell == "zsh" ? zshScript() : bashScript(); }

std::string manualPage() {
    std::string text = ".TH PATCHCTL 1\n.SH NAME\npatchctl \\- look into Patchbay and RocketMQ clusters, and change them\n.SH SYNOPSIS\n"
                       ".B patchctl\n.I COMMAND\n[\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n" +
                       troff(kIntroduction) + "\n.SH COMMANDS\n";
    for (const auto& command : commands()) {
        text += ".SS " + troff(synopsis(command).substr(9)) + "\n" + troff(command.summary) + ".\n";
        if (!command.text.empty()) text += troff(command.text) + "\n";
        for (const auto& argument : command.arguments) text += ".TP\n.I " + troff(argument.name) + "\n" + troff(argument.doc) + "\n";
        text += manualOptions(optionsOf(command)) + ".PP\n.nf\n" + troff(command.example) + "\n.fi\n";
    }
    text += ".SH OPTIONS OF ALL COMMANDS\n" + manualOptions(globals()) + ".SH EXIT STATUS\n";
    for (const auto& exit : exitTexts()) text += ".TP\n.B " + std::to_string(static_cast<int>(exit.code)) + "\n" + troff(exit.meaning) + "\n";
    return text + ".SH ENVIRONMENT\n.TP\n.B NAMESRV_ADDR\nwhat \\-\\-namesrv is when it is not given\n";
}

std::string markdown() {
    std::string text = "# patchctl\n\n<!-- Made by `patchctl markdown`; change the command table instead. -->\n\n" + std::string(kIntroduction) +
                       "\nEverything but what is called \"Patchbay only\" works with Apache's brokers and name servers, too.\n\n## Options of all commands\n\n"
                       "| option | meaning |\n|---|---|\n";
    for (const auto* option : globals()) text += "| `" + escaped(spelled(*option)) + "` | " + escaped(meaning(*option)) + " |\n";
    text += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
    for (const auto& exit : exitTexts()) text += "| " + std::to_string(static_cast<int>(exit.code)) + " | " + std::string(exit.meaning) + " |\n";
    text += "\nIn JSON an error is `{\"error\":TEXT,\"kind\":WORD}` on standard output.\n";
    for (const auto& command : commands()) {
        text += "\n## " + std::string(command.words) + "\n\n" + std::string(command.summary) + ".";
        if (!command.text.empty()) text += " " + std::string(command.text);
        text += "\n\n```\n" + synopsis(command) + "\n" + std::string(command.example) + "\n```\n";
        const auto options = optionsOf(command);
        if (command.arguments.empty() && options.empty()) continue;
        text += "\n| | |\n|---|---|\n";
        for (const auto& argument : command.arguments) text += "| `" + std::string(argument.name) + "` | " + escaped(argument.doc) + " |\n";
        for (const auto* option : options) text += "| `" + escaped(spelled(*option)) + "` | " + escaped(meaning(*option)) + " |\n";
    }
    return text;
}

}  // namespace patchbay::patchctl
