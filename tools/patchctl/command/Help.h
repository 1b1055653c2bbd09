// Help, completion, manual and documentation, all made from the command table.
#pragma once

#include "command/Command.h"

#include <string>
#include <string_view>

namespace patchbay::patchctl {

/// All commands under these words with a line each; of a single command everything. Empty when there is none.
[[nodiscard]] std::string helpText(std::string_view words);
/// For `source` or the completion folders; "bash" or "zsh".
[[nodiscard]] std::string completionScript(std::string_view shell);
/// patchctl(1) as troff.
[[nodiscard]] std::string manualPage();
/// docs/patchctl.md.
[[nodiscard]] std::string markdown();

}  // namespace patchbay::patchctl
