// Arguments: a command line, checked against the row of its command.
#pragma once

#include "command/Command.h"

#include "patchbay/base/Result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::patchctl {

/// A value. Options may stand before, between and behind the words; "--" ends them; "--name=value" and "--name value" are the same.
/// Options that may be given several times keep all values.
class Arguments {
public:
    /// The command and its arguments, or InvalidArgument with one sentence for a person.
    static Result<Arguments> parse(const std::vector<std::string>& words);

    [[nodiscard]] const Command& command() const noexcept { return *command_; }
    [[nodiscard]] bool helpAsked() const noexcept { return help_; }

    /// The argument in that place, empty when it is optional and absent.
    [[nodiscard]] const std::string& at(std::size_t index) const noexcept;
    [[nodiscard]] std::size_t count() const noexcept { return positional_.size(); }

    [[nodiscard]] bool has(std::string_view option) const noexcept { return options_.contains(option); }
    /// The value, or what holds without it.
    [[nodiscard]] std::string text(std::string_view option) const;
    [[nodiscard]] std::int64_t number(std::string_view option) const;
    /// All values of an option that was given several times.
    [[nodiscard]] std::vector<std::string> all(std::string_view option) const;
    [[nodiscard]] bool dryRun() const noexcept { return has("dry-run"); }

private:
    [[nodiscard]] const Option* findOption(std::string_view name) const noexcept;
    [[nodiscard]] const Option* findLetter(char letter) const noexcept;
    Status take(const Option& option, std::optional<std::string> value);
    Status takeWord(const std::vector<std::string>& words, std::size_t& at);
    Status choose(std::vector<std::string> plain);

    const Command* command_ = nullptr;
    bool help_ = false;
    std::vector<std::string> positional_;
    std::map<std::string, std::vector<std::string>, std::less<>> options_;
};

/// Commands whose words begin with these; for help and mistakes.
[[nodiscard]] std::vector<const Command*> commandsUnder(std::string_view words);

}  // namespace patchbay::patchctl
