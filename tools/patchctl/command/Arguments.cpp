#include "command/Arguments.h"

#include "patchbay/base/Nearest.h"

#include <algorithm>
#include <charconv>

namespace patchbay::patchctl {

namespace {

Status usage(std::string text) { return {StatusCode::InvalidArgument, std::move(text)}; }

bool isNumber(std::string_view text, std::int64_t& out) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return !text.empty() && read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

bool isChoice(std::string_view choices, std::string_view value) {
    while (!choices.empty()) {
        const auto end = std::min(choices.find(' '), choices.size());
        if (choices.substr(0, end) == value) return true;
        choices.remove_prefix(std::min(end + 1, choices.size()));
    }
    return false;
}

std::size_t wordsOf(std::string_view words) {
    return static_cast<std::size_t>(std::ranges::count(words, ' ')) + 1;
}

/// The options among the words decide where the command's own words are, so the command is looked for first, by its words alone.
const Command* commandOf(const std::vector<std::string>& plain) {
    const Command* found = nullptr;
    for (const auto& command : commands()) {
        const std::size_t count = wordsOf(command.words);
        if (plain.size() < count) continue;
        std::string joined;
        for (std::size_t i = 0; i < count; ++i) joined += (i > 0 ? " " : "") + plain[i];
        if (joined == command.words && (found == nullptr || wordsOf(found->words) < count)) found = &command;
    }
    return found;
}

/// "--name" and "-n", but for numbers below nought.
bool isOption(std::string_view word) noexcept {
    return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

/// Words that can be the command's: those that are neither options nor values of global options.
std::vector<std::string> leadingWords(const std::vector<std::string>& words) {
    std::vector<std::string> plain;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word == "--") break;
        if (!isOption(word)) {
            plain.emplace_back(word);
            continue;
        }
        const bool isLong = word.starts_with("--");
        for (const auto& option : globalOptions()) {
            const bool same = isLong ? word.substr(2) == option.name : option.letter != 0 && word.substr(1) == std::string_view(&option.letter, 1);
            if (same && option.kind != Kind::Flag) ++i;
        }
    }
    return plain;
}

}  // namespace

std::vector<const Command*> commandsUnder(std::string_view words) {
    std::vector<const Command*> found;
    for (const auto& command : commands()) {
        if (words.empty() || command.words == words || (command.words.starts_with(words) && command.words.size() > words.size() &&
                                                        command.words[words.size()] == ' ')) {
            found.push_back(&command);
        }
    }
    return found;
}

const Option* Arguments::findOption(std::string_view name) const noexcept {
    for (const auto& option : command_->options) {
        if (option.name == name) return &option;
    }
    if (command_->destroys && name == dryRunOption().name) return &dryRunOption();
    const auto globals = globalOptions();
    const auto at = std::ranges::find(globals, name, &Option::name);
    return at == globals.end() ? nullptr : &*at;
}

const Option* Arguments::findLetter(char letter) const noexcept {
    for (const auto& option : command_->options) {
        if (option.letter == letter) return &option;
    }
    const auto globals = globalOptions();
    const auto at = std::ranges::find(globals, letter, &Option::letter);
    return at == globals.end() ? nullptr : &*at;
}

Status Arguments::take(const Option& option, std::optional<std::string> value) {
    const std::string name = "--" + std::string(option.name);
    if (option.kind == Kind::Flag) {
        if (value) return usage(name + " takes no value");
        if (option.name == "help") help_ = true;
        options_[std::string(option.name)] = {};
        return Status::ok();
    }
    if (!value) return usage(name + " needs a value: " + std::string(option.value));
    if (option.kind == Kind::Number) {
        std::int64_t number = 0;
        if (!isNumber(*value, number)) return usage(name + ": '" + *value + "' is not a whole number");
        if (number < option.min || number > option.max) {
            return usage(name + ": " + *value + " is outside " + std::to_string(option.min) + " to " + std::to_string(option.max));
        }
    }
    if (option.kind == Kind::Choice && !isChoice(option.choices, *value)) {
        return usage(name + ": '" + *value + "' is none of: " + std::string(option.choices));
    }
    options_[std::string(option.name)].push_back(std::move(*value));
    return Status::ok();
}

Status Arguments::takeWord(const std::vector<std::string>& words, std::size_t& at) {
    const std::string& word = words[at];
    const bool isLong = word.starts_with("--");
    const auto equals = isLong ? word.find('=') : std::string::npos;
    const std::string name = isLong ? word.substr(2, equals == std::string::npos ? equals : equals - 2) : word.substr(1, 1);
    const Option* option = isLong ? findOption(name) : findLetter(name[0]);
    if (option == nullptr) return usage("'" + std::string(command_->words) + "' has no option " + word.substr(0, equals) + "; --help lists them");
    std::optional<std::string> value;
    if (equals != std::string::npos) {
        value = word.substr(equals + 1);
    } else if (!isLong && word.size() > 2) {
        value = word.substr(2);
    } else if (option->kind != Kind::Flag && at + 1 < words.size()) {
        value = words[++at];
    }
    return take(*option, std::move(value));
}

Status Arguments::choose(std::vector<std::string> plain) {
    const std::size_t skip = wordsOf(command_->words);
    positional_.assign(plain.begin() + static_cast<std::ptrdiff_t>(skip), plain.end());
    if (help_) return Status::ok();
    for (const char* limit : {"broker", "cluster"}) {
        if (command_->unlimited && has(limit)) return usage("'" + std::string(command_->words) + "' cannot be limited by --" + limit);
    }
    const auto& wanted = command_->arguments;
    if (positional_.size() > wanted.size()) {
        return usage("'" + std::string(command_->words) + "' takes " + (wanted.empty() ? "no arguments" : "fewer arguments") + ", what is '" +
                     positional_[wanted.size()] + "'?");
    }
    for (std::size_t i = positional_.size(); i < wanted.size(); ++i) {
        if (!wanted[i].optional) return usage(std::string(wanted[i].name) + " is missing: " + std::string(wanted[i].doc));
    }
    return Status::ok();
}

namespace {

/// What is wrong with words that no command begins with.
Status noCommand(const std::vector<std::string>& words) {
    const std::string& first = words.front();
    const bool isGroup = !commandsUnder(first).empty();
    const std::string lists = "'patchctl help" + (isGroup ? " " + first : std::string()) + "' lists them";
    if (isGroup && words.size() == 1) return usage("'" + first + "' needs one more word; " + lists);
    std::vector<std::string> known;
    for (const auto& command : commands()) {
        const auto blank = std::min(command.words.find(' '), command.words.size());
        const auto group = command.words.substr(0, blank);
        if (!isGroup) known.emplace_back(group);
        else if (group == first) known.emplace_back(command.words.substr(std::min(blank + 1, command.words.size())));
    }
    const std::string near = didYouMean(isGroup ? words[1] : first, known);
    return usage("there is no command '" + first + (isGroup ? " " + words[1] : std::string()) + "'" + near + (near.empty() ? "; " : " ") + lists);
}

}  // namespace

Result<Arguments> Arguments::parse(const std::vector<std::string>& words) {
    Arguments arguments;
    const auto leading = leadingWords(words);
    arguments.command_ = commandOf(leading);
    if (arguments.command_ == nullptr) {
        if (leading.empty()) return usage("no command; 'patchctl help' lists them");
        return noCommand(leading);
    }
    std::vector<std::string> plain;
    bool options = true;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (options && words[i] == "--") {
            options = false;
        } else if (options && isOption(words[i])) {
            if (auto taken = arguments.takeWord(words, i); !taken) return taken;
        } else {
            plain.push_back(words[i]);
        }
    }
    if (auto chosen = arguments.choose(std::move(plain)); !chosen) return chosen;
    return arguments;
}

const std::string& Arguments::at(std::size_t index) const noexcept {
    static const std::string kEmpty;
    return index < positional_.size() ? positional_[index] : kEmpty;
}

std::string Arguments::text(std::string_view option) const {
    const auto at = options_.find(option);
    if (at != options_.end() && !at->second.empty()) return at->second.back();
    const Option* known = findOption(option);
    return known == nullptr ? std::string() : std::string(known->fallback);
}

std::int64_t Arguments::number(std::string_view option) const {
    std::int64_t value = 0;
    (void)isNumber(text(option), value);
    return value;
}

std::vector<std::string> Arguments::all(std::string_view option) const {
    const auto at = options_.find(option);
    return at == options_.end() ? std::vector<std::string>{} : at->second;
}

}  // namespace patchbay::patchctl
