#include "command/Command.h"

#include <vector>

namespace patchbay::patchctl {

namespace {

constexpr Option kGlobals[] = {
    {.name = "namesrv", .kind = Kind::Text, .value = "ADDRESSES", .doc = "name servers, separated by semicolons; $NAMESRV_ADDR when it is set",
     .fallback = "127.0.0.1:9876", .letter = 'n'},
    {.name = "broker", .kind = Kind::Text, .value = "BROKER", .doc = "only this broker, by name or address", .letter = 'b'},
    {.name = "cluster", .kind = Kind::Text, .value = "NAME", .doc = "only brokers of this cluster", .letter = 'c'},
    {.name = "timeout", .kind = Kind::Number, .value = "MS", .doc = "how long one question may take", .fallback = "5000", .min = 1, .max = 600'000},
    {.name = "json", .doc = "prints JSON", .letter = 'j'},
    {.name = "help", .doc = "tells about the command", .letter = 'h'},
};

constexpr Option kDryRun{.name = "dry-run", .doc = "only tells what would happen"};

constexpr ExitText kExits[] = {
    {Exit::Done, "done"},
    {Exit::Failed, "refused, or something went wrong"},
    {Exit::Usage, "the command line is wrong; nothing was done"},
    {Exit::NotFound, "what was named does not exist"},
    {Exit::NoAnswer, "nobody answered in time"},
    {Exit::Partly, "done on some brokers only, or some messages failed"},
    {Exit::Different, "what was compared differs, or damage was found"},
};

}  // namespace

std::span<const Command> commands() {
    static const std::vector<Command> kAll = [] {
        std::vector<Command> all;
        for (const auto part : {topicCommands(), groupCommands(), offsetCommands(), messageCommands(), clusterCommands(), configCommands(),
                                pluginCommands(), whyCommands(), storeCommands(), benchCommands(), selfCommands()}) {
            all.insert(all.end(), part.begin(), part.end());
        }
        return all;
    }();
    return kAll;
}

std::span<const Option> globalOptions() noexcept { return kGlobals; }
const Option& dryRunOption() noexcept { return kDryRun; }
std::span<const ExitText> exitTexts() noexcept { return kExits; }

}  // namespace patchbay::patchctl
