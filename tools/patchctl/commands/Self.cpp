// The commands about patchctl itself: completion, manual, documentation, version.
#include "command/Help.h"
#include "commands/Session.h"

namespace patchbay::patchctl {

namespace {

constexpr Argument kShell[] = {{"SHELL", "bash or zsh"}};

Exit completion(Session& session, const Arguments& arguments) {
    if (arguments.at(0) != "bash" && arguments.at(0) != "zsh") {
        session.out().error({StatusCode::InvalidArgument, "there is completion for bash and zsh"});
        return Exit::Usage;
    }
    session.out().raw() << completionScript(arguments.at(0));
    return Exit::Done;
}

Exit manual(Session& session, const Arguments&) {
    session.out().raw() << manualPage();
    return Exit::Done;
}

Exit documentation(Session& session, const Arguments&) {
    session.out().raw() << markdown();
    return Exit::Done;
}

Exit version(Session& session, const Arguments&) {
    Record record;
    record.add("version", std::string(PATCHBAY_VERSION));
    session.out().print(record);
    return Exit::Done;
}

constexpr Command kCommands[] = {
    {.words = "completion", .summary = "Prints a completion script", .arguments = kShell, .example = "source <(patchctl completion bash)", .run = completion},
    {.words = "manual", .summary = "Prints the manual page", .example = "patchctl manual | man -l -", .run = manual},
    {.words = "markdown", .summary = "Prints docs/patchctl.md", .example = "patchctl markdown > docs/patchctl.md", .run = documentation},
    {.words = "version", .summary = "Prints the version", .example = "patchctl version", .run = version},
};

}  // namespace

std::span<const Command> selfCommands() noexcept { return kCommands; }

}  // namespace patchbay::patchctl
