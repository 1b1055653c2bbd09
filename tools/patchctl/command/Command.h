// Command: one row of the table that drives parsing, help, completion, manual and docs/patchctl.md.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace patchbay::patchctl {

class Arguments;
class Session;

/// What a command's process ends with. Scripts rely on these numbers.
enum class Exit : std::uint8_t {
    Done = 0,
    Failed = 1,       ///< refused, or something went wrong
    Usage = 2,        ///< the command line is wrong; nothing was done
    NotFound = 3,     ///< what was named does not exist
    NoAnswer = 4,     ///< nobody answered in time
    Partly = 5,       ///< done on some brokers only
    Different = 6,    ///< what was compared differs, or damage was found
};

enum class Kind : std::uint8_t { Flag, Text, Number, Choice };

struct Option {
    std::string_view name;              ///< without "--"
    Kind kind = Kind::Flag;
    std::string_view value = {};        ///< how help calls its value
    std::string_view doc = {};
    std::string_view fallback = {};     ///< what holds without it
    char letter = 0;
    std::string_view choices = {};      ///< for Choice, separated by blanks
    std::int64_t min = std::numeric_limits<std::int64_t>::min();
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

struct Argument {
    std::string_view name;              ///< as help shows it, in capitals
    std::string_view doc = {};
    bool optional = false;
};

using Handler = Exit (*)(Session& session, const Arguments& arguments);

/// All text is static. `destroys` gives the command --dry-run; `unlimited` takes --broker and --cluster from it.
struct Command {
    std::string_view words;             ///< "topic list"
    std::string_view summary;           ///< one line, no full stop
    std::string_view text = {};         ///< more, for help and manual
    std::span<const Argument> arguments = {};
    std::span<const Option> options = {};
    std::string_view example = {};      ///< one line that works
    bool destroys = false;
    bool unlimited = false;             ///< asks the whole cluster whatever --broker says, and so refuses it
    Handler run = nullptr;
};

/// Every command, in the order of help.
[[nodiscard]] std::span<const Command> commands();
/// Understood by all commands.
[[nodiscard]] std::span<const Option> globalOptions() noexcept;
/// Given to commands that destroy.
[[nodiscard]] const Option& dryRunOption() noexcept;

/// Exit codes in words, for help and manual.
struct ExitText {
    Exit code;
    std::string_view meaning;
};
[[nodiscard]] std::span<const ExitText> exitTexts() noexcept;

// One table for each noun, beside the code that it names.
[[nodiscard]] std::span<const Command> topicCommands() noexcept;
[[nodiscard]] std::span<const Command> groupCommands() noexcept;
[[nodiscard]] std::span<const Command> offsetCommands() noexcept;
[[nodiscard]] std::span<const Command> messageCommands() noexcept;
[[nodiscard]] std::span<const Command> clusterCommands() noexcept;
[[nodiscard]] std::span<const Command> configCommands() noexcept;
[[nodiscard]] std::span<const Command> pluginCommands() noexcept;
[[nodiscard]] std::span<const Command> benchCommands() noexcept;
[[nodiscard]] std::span<const Command> whyCommands() noexcept;
[[nodiscard]] std::span<const Command> storeCommands() noexcept;
[[nodiscard]] std::span<const Command> selfCommands() noexcept;

}  // namespace patchbay::patchctl
